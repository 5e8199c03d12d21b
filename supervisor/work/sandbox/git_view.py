"""A view of a repository's folder for a command: it can write history and nothing else, and nothing else comes back.

The command sees a scratch folder in place of `.git`. In it the stores of history (objects, refs, logs) are the real
ones, files that name programs (config, hooks, all others) are read-only, and the files of git's state (HEAD, index,
MERGE_HEAD) are copies, which are written back afterwards as git does it: by a lock and a rename. So a command can't
create a name in `.git` that git or a tool would look for, not even for a moment. Blocking; for a worker thread.
"""

import contextlib
import filecmp
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import structlog
from msgspec import Struct, field

from supervisor.disk.folders import FOLDER, PASS, open_folder
from supervisor.disk.work_tree import HEAD
from supervisor.work.reach.git_settings import hash_bytes
from supervisor.work.reach.gitlinks import INDEX, SHARED
from supervisor.work.reach.safe_git import with_settings
from supervisor.work.sandbox.git_locks import HeldLock, hold_lock
from supervisor.work.sandbox.git_state import PACKED, STATE, new_gitlink_reason, unfit_reason
from supervisor.work.sandbox.history_repository import Repository
from supervisor.work.sandbox.leftovers import LeftoverLedger

log = structlog.get_logger()
WRITABLE_FOLDERS = ("objects", "refs", "logs", "reftable", "lfs")  # the real folders, writable
SHUT_IN = {"objects": ("info",)}  # alternates there would name further stores
ENTRIES = 2_000  # of a repository's folder; git makes some twenty
MOST_LISTED = 10  # names of dropped files that are listed; the others are counted
PASSING = re.compile(r".*\.lock|index\.stash\..*|.*\.tmp|gc\..*")
NO_MAINTENANCE: Mapping[str, str] = {
    "gc.auto": "0",
    "maintenance.auto": "false",
}  # it would be killed with the command


class Mount(Struct, frozen=True):
    """A real file or folder that is mounted over the scratch folder, or the scratch folder itself."""

    path: Path  # where the command sees it
    source: Path
    descriptor: int
    writable: bool


class GitView(Struct):
    """The view of a command: its mounts, in order, and its findings after the command."""

    mounts: list[Mount] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


@contextlib.contextmanager
def view_of(repository: Repository, scratch: Path, ledger: LeftoverLedger) -> Iterator[GitView]:
    """Make the view, and write the new state back at the end. Raises OSError if another git is at work there."""
    view = GitView()
    with contextlib.ExitStack() as stack:
        hashes, alone = hash_bytes((repository.shared,)), repository.own == repository.shared
        folders = [_Folder(repository.shared, hashes, shared=True, own=alone)]
        if not alone:
            folders.append(_Folder(repository.own, hashes, shared=False, own=True))
        for number, folder in enumerate(folders):
            folder.open(scratch / str(number), ledger, stack)
            view.mounts += folder.mounts
        try:
            yield view
        finally:
            for folder in folders:
                view.findings += folder.bring_back()


class _Folder:
    """A folder of the repository, and its copy."""

    def __init__(self, real: Path, hashes: int, *, shared: bool, own: bool) -> None:
        self._real = real
        self._hashes = hashes  # bytes of a hash
        self._locks: dict[str, HeldLock] = {}
        self._locking = (*((INDEX,) if own else ()), *((PACKED,) if shared else ()))
        self._own = own
        self._before: dict[str, bytes] = {}  # the state as it was copied
        self._rights: dict[int, int] = {}
        self.mounts: list[Mount] = []

    def open(self, copy: Path, ledger: LeftoverLedger, stack: contextlib.ExitStack) -> None:
        copy.mkdir(mode=0o700, parents=True)
        self._copy = copy
        self._folder = self._adopt(open_folder(self._real), stack)
        for name in self._locking:
            self._locks[name] = stack.enter_context(hold_lock(self._folder, name, self._real, ledger))
        if self._own and not (self._real / "logs").exists():
            os.mkdir("logs", dir_fd=self._folder)  # git makes it with the first commit, which is not possible here
        self.mounts.append(Mount(self._real, copy, self._adopt(os.open(copy, FOLDER), stack), writable=True))
        with os.scandir(self._real) as found:
            names = [entry.name for _, entry in zip(range(ENTRIES + 1), found, strict=False)]
        if len(names) > ENTRIES:
            raise OSError(f"{self._real} has more than {ENTRIES} entries")
        for name in sorted(names):
            self._show(name, stack)

    def _adopt(self, descriptor: int, stack: contextlib.ExitStack) -> int:
        stack.callback(os.close, descriptor)
        return descriptor

    def _show(self, name: str, stack: contextlib.ExitStack) -> None:
        """Show an entry: real, copied, or read-only."""
        found = os.stat(name, dir_fd=self._folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            (self._copy / name).symlink_to(os.readlink(name, dir_fd=self._folder))
        elif stat.S_ISDIR(found.st_mode):
            self._mount(self._folder, Path(name), writable=name in WRITABLE_FOLDERS, stack=stack)
        elif stat.S_ISREG(found.st_mode) and not PASSING.fullmatch(name):
            if self._is_state(name):
                self._copy_file(name)
            else:
                self._mount(self._folder, Path(name), writable=False, stack=stack)

    def _is_state(self, name: str) -> bool:
        return name in self._locks or (self._own and STATE.fullmatch(name) is not None)

    def _copy_file(self, name: str) -> None:
        shutil.copy2(self._real / name, self._copy / name, follow_symlinks=False)
        if name not in self._locks:
            self._before[name] = (self._copy / name).read_bytes()

    def _mount(self, folder: int, path: Path, *, writable: bool, stack: contextlib.ExitStack) -> None:
        descriptor = self._adopt(os.open(path.name, PASS, dir_fd=folder), stack)
        mode = os.fstat(descriptor).st_mode
        if len(path.parts) == 1:  # the mount point
            place = self._copy / path
            place.mkdir() if stat.S_ISDIR(mode) else place.touch()
        self.mounts.append(Mount(self._real / path, self._real / path, descriptor, writable))
        if writable:
            self._rights[descriptor] = stat.S_IMODE(mode)
            for name in SHUT_IN.get(path.name, ()):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
                self._mount(descriptor, path / name, writable=False, stack=stack)

    # --- afterwards -----------------------------------------------------------------------------------------------

    def bring_back(self) -> Iterator[str]:
        """Write the new state back; yield a text about each part that was dropped. Raises nothing."""
        for descriptor, mode in self._rights.items():
            if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
                Path(f"/proc/self/fd/{descriptor}").chmod(mode)  # without them git would find no repository
        try:
            yield from self._write_back()
        except OSError as error:
            log.error("sandbox.history_left", path=str(self._real), error=str(error))  # noqa: TRY400 - no bug of ours
            yield f"the new state of {self._real} could not be written: {error}; look at it with `git status`"

    def _write_back(self) -> Iterator[str]:
        with os.scandir(self._copy) as inside:
            names = sorted(entry.name for entry in islice(inside, ENTRIES + 1))
        if len(names) > ENTRIES:
            yield f"{self._real} is as it was before the command, which made more than {ENTRIES} files in it"
            return
        yield from self._report_dropped(names)
        without_head = False
        for name in sorted(filter(self._is_state, names), key=_order):
            if name == HEAD and without_head:
                continue
            if (refused := self._take(name)) is not None:
                without_head |= name == INDEX  # HEAD would belong to another index
                yield f"{self._real / name} is as it was before the command: {refused}"
        for name, before in self._before.items():
            if name not in names and name != HEAD and self._present_content(name) == before:
                os.unlink(name, dir_fd=self._folder)

    def _report_dropped(self, names: list[str]) -> Iterator[str]:
        shown = {mount.path.name for mount in self.mounts if mount.path.parent == self._real}
        made = [
            name if name.isprintable() else ascii(name)
            for name in names
            if not self._is_state(name) and name not in shown and not PASSING.fullmatch(name)
            if not (self._copy / name).is_symlink()
        ]
        for name in made[:MOST_LISTED]:
            yield f"{name} was made in {self._real} and was not kept: it is no part of its history"
        if len(made) > MOST_LISTED:
            yield f"{len(made) - MOST_LISTED} more files were made in {self._real} and were not kept"

    def _take(self, name: str) -> str | None:
        """Take over a file of the state; return the reason if it can't be."""
        new = self._copy / name
        found = new.lstat()
        if not stat.S_ISREG(found.st_mode):
            return "what the command left there is not a file"
        if (lock := self._locks.get(name)) is not None:
            if (self._real / name).exists() and filecmp.cmp(new, self._real / name, shallow=False):
                return None
            refused = unfit_reason(name, new, self._hashes)
            if refused is None and name == INDEX:
                refused = new_gitlink_reason(self._real, self._copy, self._hashes)
            if refused is None:
                lock.replace_by(new)
            return refused
        before = self._before.get(name)
        if before is not None and found.st_size == len(before) and new.read_bytes() == before:
            return None
        if (refused := unfit_reason(name, new, self._hashes)) is not None:
            return refused
        if self._present_content(name) != before:
            return "somebody else has changed it meanwhile"
        self._write(name, new.read_bytes(), found.st_mode)
        return None

    def _present_content(self, name: str) -> bytes | None:
        try:
            found = os.stat(name, dir_fd=self._folder, follow_symlinks=False)
            return (self._real / name).read_bytes() if stat.S_ISREG(found.st_mode) else b"\0"
        except FileNotFoundError:
            return None

    def _write(self, name: str, data: bytes, mode: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.open(f"{name}.lock", flags, stat.S_IMODE(mode) & 0o666, dir_fd=self._folder)
        try:
            with os.fdopen(lock, "wb") as file:
                file.write(data)
            os.rename(f"{name}.lock", name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError:
            os.unlink(f"{name}.lock", dir_fd=self._folder)
            raise


def _order(name: str) -> tuple[bool, bool, str]:
    """Return a sort key: the parts of the index first, then the index, then all others."""
    return not name.startswith(SHARED), name != INDEX, name


def without_maintenance(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with its git settings, and those by which git does no maintenance by itself."""
    return with_settings(env, NO_MAINTENANCE)
