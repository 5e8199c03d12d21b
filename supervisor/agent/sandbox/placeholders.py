"""Keeps names from being created: something empty stands there for as long as a command runs, to mount on.

A mount needs something to cover. git doesn't take an empty `.git` for a repository, and goes on looking above it; an
empty file of configuration says nothing. Any thread.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from supervisor.agent.folders import FOLDER, PASS
from supervisor.agent.repositories import GIT


@dataclass(slots=True)
class _Held:
    commands: int
    folder: int  # a descriptor of our own: the name may be taken away from the folder meanwhile


class Placeholders:
    def __init__(self) -> None:
        self._held: dict[tuple[int, int, str], _Held] = {}  # commands beside each other may hold the same one
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def held(self, folder: int, name: str, *, file: bool = False) -> Iterator[int | None]:
        """A descriptor of what stands there now. None where we may not create it: then the command may not either."""
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
        try:
            if file:
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=folder))
            else:
                os.mkdir(name, 0o700, dir_fd=folder)  # it may be taken over as a directory of ours
        except FileExistsError:
            if name != GIT:  # left by a daemon that was killed, it goes with the next command
                return False
        except OSError:
            return False
        self._held[place] = _Held(1, os.dup(folder))
        return True

    def _give_back(self, place: tuple[int, int, str], *, file: bool) -> None:
        held = self._held[place]
        held.commands -= 1
        if held.commands:
            return
        del self._held[place]
        with contextlib.suppress(OSError):  # somebody outside has made something of it meanwhile
            if not file:
                os.rmdir(place[2], dir_fd=held.folder)
            elif os.stat(place[2], dir_fd=held.folder, follow_symlinks=False).st_size == 0:
                os.unlink(place[2], dir_fd=held.folder)
        os.close(held.folder)
