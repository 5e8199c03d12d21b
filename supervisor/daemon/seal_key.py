"""The key that seals the data which clients keep for this daemon or the next. From any thread.

The key file lies in the state directory, which no command can see, with mode 0600. It is made when the first client
needs it. A file that is too short, or open to others, is replaced; data sealed with the old key is then refused.
"""

import contextlib
import os
import stat
from pathlib import Path

import structlog

log = structlog.get_logger()

KEY_BYTES = 32


def seal_key(path: Path) -> bytes:
    """Read the key, or make one. If the disk refuses, the key is good for this process alone."""
    with contextlib.suppress(OSError):
        known = _read(path)
        if known is not None:
            return known
    fresh = os.urandom(KEY_BYTES)
    try:
        _write(path, fresh)
    except OSError as error:
        log.warning("seal_key.not_kept", path=str(path), reason=error.strerror or str(error))
    return fresh


def _read(path: Path) -> bytes | None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        private = stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077 and found.st_uid == os.getuid()
        key = os.read(handle, KEY_BYTES + 1) if private else b""
    finally:
        os.close(handle)
    return key if len(key) == KEY_BYTES else None


def _write(path: Path, key: bytes) -> None:
    """Write the key whole or not at all."""
    beside = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, key)
        os.fsync(handle)
    finally:
        os.close(handle)
    beside.replace(path)
