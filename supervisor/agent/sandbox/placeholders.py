"""Empty files and folders that keep names from being created while a command runs: they are mounted over.

git doesn't take an empty `.git` for a repository and goes on looking above it, and an empty configuration file sets
nothing. Any thread. Each placeholder is locked, because its mount ends when it is deleted: another daemon must not
delete it at the end of its command while one of ours still needs it.
"""

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator

from msgspec import Struct

from supervisor.agent.folders import FOLDER, PASS
from supervisor.agent.repositories import GIT

LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
TRIES = 20  # each is lost only to a command that ends in this very moment


class _Placeholder(Struct):
    commands: int
    folder: int  # a descriptor of our own: the name may leave the folder meanwhile
    lock: int


class Placeholders:
    def __init__(self) -> None:
        self._held: dict[tuple[int, int, str], _Placeholder] = {}  # concurrent commands may hold the same
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def held(self, folder: int, name: str, *, file: bool = False) -> Iterator[int | None]:
        """Yield a descriptor of the entry by that name. None if we may not create it: a command may not either."""
        found = os.fstat(folder)
        place = (found.st_dev, found.st_ino, name)
        with self._lock:
            ours = self._put(place, folder, name, file=file)
        try:
            with contextlib.ExitStack() as stack:
                try:
                    standing = os.open(name, PASS if file else FOLDER, dir_fd=folder)
                except OSError:
                    yield None
                else:
                    stack.callback(os.close, standing)
                    yield standing
        finally:
            if ours:
                with self._lock:
                    self._give_back(place, file=file)

    def _put(self, place: tuple[int, int, str], folder: int, name: str, *, file: bool) -> bool:
        if place in self._held:
            self._held[place].commands += 1
            return True
        for _ in range(TRIES):
            try:
                _make(folder, name, file=file)
            except FileExistsError:
                if name != GIT:  # left by a killed daemon; it goes with the next command
                    return False
            except OSError:
                return False
            if (lock := _locked(folder, name)) is not None:
                self._held[place] = _Placeholder(1, os.dup(folder), lock)
                return True
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
        os.close(held.folder)
        os.close(held.lock)


def _make(folder: int, name: str, *, file: bool) -> None:
    if file:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=folder))
    else:
        os.mkdir(name, 0o700, dir_fd=folder)  # it may be taken over as a directory of ours


def _locked(folder: int, name: str) -> int | None:
    """Lock a placeholder, unless a command has; return its descriptor, or None if the placeholder is gone."""
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
