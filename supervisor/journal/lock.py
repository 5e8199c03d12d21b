"""The lock file beside the journal, which also tells whether the last owner closed the journal in order.

The file holds one word: CLOSED, SUSPECT, or the boot id of an owner that is running or ended without closing.
"""

import fcntl
import os
from pathlib import Path

from actors.vocabulary.errors import JournalLocked
from supervisor.journal.journal_errors import map_errors

CLOSED = b"closed"
SUSPECT = b"suspect"
UNKNOWN_BOOT = b"unknown"
WIDTH = 64  # always written whole and in place, which works on a full disk too
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def this_boot() -> bytes:
    """The id of this boot, which tells a power cut from the end of a process. Without it the two look alike."""
    try:
        return BOOT_ID.read_bytes().strip()
    except OSError:
        return UNKNOWN_BOOT


class Lock:
    """A lock of the kernel, taken at creation. It ends with the process, however that ends."""

    def __init__(self, path: Path) -> None:
        with map_errors(path):
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._take(path)
            with map_errors(path):
                self._look()
        except BaseException:
            os.close(self._fd)
            raise

    def suspect_damage(self) -> None:
        """Let the next opening check everything. From any thread."""
        self.suspect = True
        self._write(SUSPECT)

    def open_and_sound(self) -> None:
        self.suspect = False
        self._write(this_boot())

    def release(self) -> None:
        os.close(self._fd)

    def release_in_order(self) -> None:
        if not self.suspect:
            self._write(CLOSED)
        self.release()

    def _take(self, path: Path) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalLocked(f"{path} is held by another process") from None

    def _look(self) -> None:
        word, boot = os.pread(self._fd, WIDTH, 0).strip(), this_boot()
        self.suspect = word == SUSPECT
        self.power_cut = word not in {b"", CLOSED, boot} or word == UNKNOWN_BOOT

    def _write(self, word: bytes) -> None:
        os.pwrite(self._fd, word.ljust(WIDTH), 0)
