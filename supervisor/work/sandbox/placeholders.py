"""Empty files and folders that keep names from being created while a command runs: mounts cover them.

git doesn't take an empty `.git` for a repository and goes on looking above it, and an empty configuration file sets
nothing. Any thread. Each placeholder is locked, because its mount ends when it is deleted: another daemon must not
delete it at the end of its command while ours still needs it. It has a time stamp of its own, by which every daemon
recognises it, and is noted in the ledger, so that none is left.
"""

import contextlib
import fcntl
import os
import stat
import threading
from collections.abc import Iterator

import structlog
from msgspec import Struct

from supervisor.disk.folders import FOLDER, PASS, STAMP_NS
from supervisor.disk.work_tree import GIT
from supervisor.work.sandbox.leftovers import LeftoverEntry, LeftoverLedger, entry_in

log = structlog.get_logger()
LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
TRIES = 20  # each can fail only if a command ends at the same moment


class _Placeholder(Struct):
    commands: int
    folder: int  # our own descriptor: the folder may be moved meanwhile
    lock: int
    entry: LeftoverEntry


class Placeholders:
    def __init__(self, ledger: LeftoverLedger | None = None) -> None:
        self._ledger = ledger or LeftoverLedger()
        self._held: dict[tuple[int, int, str], _Placeholder] = {}  # concurrent commands may hold the same
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def hold(self, folder: int, name: str, *, file: bool = False) -> Iterator[int | None]:
        """Hold a placeholder by that name, and yield its descriptor; None if we, and so a command, can't make it."""
        found = os.fstat(folder)
        place = (found.st_dev, found.st_ino, name)
        with self._lock:
            ours = self._put(place, folder, name, file=file)
        try:
            with contextlib.ExitStack() as stack:
                try:
                    descriptor = os.open(name, PASS if file else FOLDER, dir_fd=folder)
                except OSError:
                    yield None
                else:
                    stack.callback(os.close, descriptor)
                    yield descriptor
        finally:
            if ours:
                with self._lock:
                    self._give_back(place, file=file)

    def _put(self, place: tuple[int, int, str], folder: int, name: str, *, file: bool) -> bool:
        if place in self._held:
            self._held[place].commands += 1
            return True
        entry = entry_in(folder, name)
        try:
            self._ledger.note(entry)
        except OSError as error:  # without a note it could stay for ever
            log.warning("sandbox.ledger_failed", error=str(error))
            return False
        for _ in range(TRIES):
            try:
                _make(folder, name, file=file)
            except FileExistsError:
                if not is_placeholder(folder, name):
                    break
            except OSError:
                break
            if (lock := _lock_placeholder(folder, name)) is not None:
                self._held[place] = _Placeholder(1, os.dup(folder), lock, entry)
                return True
        self._ledger.note_removed(entry)
        return False

    def _give_back(self, place: tuple[int, int, str], *, file: bool) -> None:
        held = self._held[place]
        held.commands -= 1
        if held.commands:
            return
        del self._held[place]
        with contextlib.suppress(OSError):  # an outside program uses it by now
            fcntl.flock(held.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not file:
                os.rmdir(place[2], dir_fd=held.folder)
            elif os.stat(place[2], dir_fd=held.folder, follow_symlinks=False).st_size == 0:
                os.unlink(place[2], dir_fd=held.folder)
        self._ledger.note_removed(held.entry)
        os.close(held.folder)
        os.close(held.lock)


def is_placeholder(folder: int, name: str) -> bool:
    """Tell whether an entry is a placeholder of any daemon, an empty `.git`, or gone, as another daemon's may be."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return True
    if name == GIT and stat.S_ISDIR(found.st_mode):
        return _is_empty(folder, name)
    return found.st_mtime_ns == STAMP_NS and (stat.S_ISDIR(found.st_mode) or not found.st_size)


def _is_empty(folder: int, name: str) -> bool:
    try:
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:  # another user's
        return False
    except FileNotFoundError:
        return True
    try:
        return not os.listdir(below)  # noqa: PTH208 - of a descriptor
    finally:
        os.close(below)


def _make(folder: int, name: str, *, file: bool) -> None:
    if file:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=folder))
    else:
        os.mkdir(name, 0o700, dir_fd=folder)  # a program of the user's may go on to use it as its own directory
    os.utime(name, ns=(STAMP_NS, STAMP_NS), dir_fd=folder, follow_symlinks=False)


def _lock_placeholder(folder: int, name: str) -> int | None:
    """Lock a placeholder, unless a command has locked it; return its descriptor, or None if it is gone."""
    try:
        lock = os.open(name, LOOK, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if os.path.samestat(found, os.fstat(lock)):
            return lock
    except FileNotFoundError:
        pass
    os.close(lock)
    return None
