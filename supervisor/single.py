"""One daemon per home: the lock that says so, and the files that say where it is."""

import contextlib
import fcntl
import os
from pathlib import Path

from actors.errors import GreenroomError


class AlreadyRunning(GreenroomError):
    """Another daemon of this home holds the lock: whoever wanted one has one."""

    code = "already_running"


class DaemonLock:
    """Held as long as the process lives: the kernel gives it back however it ends."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told = os.read(self._handle, 4096).decode(errors="replace").strip()
            os.close(self._handle)
            raise AlreadyRunning(f"a daemon is running already ({told or 'still starting'})") from None

    def tell(self, text: str) -> None:
        """Who holds it and where it listens, for those who find it taken."""
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, text.encode(), 0)

    def release(self) -> None:
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
        os.close(self._handle)


def write_pid(path: Path) -> None:
    path.write_text(f"{os.getpid()}\n", encoding="ascii")


def remove_pid(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
