"""git's locks on its index and packed refs, taken for the time of a command, as git itself takes them.

A lock is noted in the ledger by its inode, so that the lock of a killed daemon is removed, and no other. Blocking.
"""

import contextlib
import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from supervisor.work.sandbox.leftovers import LeftoverLedger, entry_in

WAIT_S = 5.0  # for another git; most of its commands take a moment
LOOK_S = 0.05


class HeldLock(Struct):
    """A lock that we hold."""

    folder: int
    name: str
    lock: str
    file: int

    def replace_by(self, new: Path) -> None:
        """Replace the file's content by another file's, which ends the lock."""
        mode = stat.S_IMODE(new.stat().st_mode) & 0o666
        with contextlib.suppress(FileNotFoundError):
            mode = stat.S_IMODE(os.stat(self.name, dir_fd=self.folder, follow_symlinks=False).st_mode)
        with new.open("rb") as source, os.fdopen(os.dup(self.file), "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        os.fchmod(self.file, mode)
        found = new.stat()
        os.utime(self.file, ns=(found.st_atime_ns, found.st_mtime_ns))  # git compares an index's time with its files'
        os.rename(self.lock, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)


@contextlib.contextmanager
def hold_lock(folder: int, name: str, where: Path, ledger: LeftoverLedger) -> Iterator[HeldLock]:
    """Hold `NAME.lock`. Raises OSError if another git holds it for too long."""
    lock, own = f"{name}.lock", f"greenroom-{os.urandom(4).hex()}.lock"
    own_entry = entry_in(folder, own)
    ledger.note(own_entry)
    file = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=folder)
    lock_entry = entry_in(folder, lock, os.fstat(file).st_ino)
    try:
        ledger.note(lock_entry)
        try:
            _take_lock(folder, own, lock, where)
        finally:
            os.unlink(own, dir_fd=folder)
            ledger.note_removed(own_entry)
        yield HeldLock(folder, name, lock, file)
    finally:
        with contextlib.suppress(FileNotFoundError):  # the lock became the file itself
            if os.stat(lock, dir_fd=folder, follow_symlinks=False).st_ino == os.fstat(file).st_ino:
                os.unlink(lock, dir_fd=folder)
        ledger.note_removed(lock_entry)
        os.close(file)


def _take_lock(folder: int, own: str, lock: str, where: Path) -> None:
    until = time.monotonic() + WAIT_S
    while True:
        try:
            os.link(own, lock, src_dir_fd=folder, dst_dir_fd=folder)
        except FileExistsError:
            if time.monotonic() > until:
                reason = f"another git is at work ({where / lock} exists); if none runs, remove that file"
                raise OSError(errno.EBUSY, reason) from None
            time.sleep(LOOK_S)
        else:
            return
