"""Errors of SQLite and the system, mapped to errors of the journal. Only this module knows their numbers."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actors.vocabulary.errors import JournalError, StorageFailed, StorageFull, StorageReadOnly

FULL = {errno.ENOSPC, errno.EDQUOT}
READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
# The shared memory beside the WAL fails to grow only if the disk is full.
FULL_CODES = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}
PRIMARY = 0xFF  # the low byte of an extended result code


def is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY in DAMAGE


def journal_error(error: sqlite3.Error | OSError, path: Path) -> JournalError:
    if isinstance(error, OSError):
        return _kind(error.errno in FULL, error.errno in READ_ONLY)(f"{path}: {error.strerror}")
    code = getattr(error, "sqlite_errorcode", 0)
    full = code in FULL_CODES
    read_only = code & PRIMARY == sqlite3.SQLITE_READONLY or (
        # A write fails with a plain I/O error on a file system that was remounted read-only.
        code & PRIMARY in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN} and _mounted_read_only(path)
    )
    return _kind(full, read_only)(f"{path}: {error}")


@contextmanager
def map_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise journal_error(error, path) from error


def _kind(full: bool, read_only: bool) -> type[JournalError]:
    if full:
        return StorageFull
    return StorageReadOnly if read_only else StorageFailed


def _mounted_read_only(path: Path) -> bool:
    try:
        return bool(os.statvfs(path.parent).f_flag & os.ST_RDONLY)
    except OSError:
        return False
