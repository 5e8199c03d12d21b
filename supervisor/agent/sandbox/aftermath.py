"""What is seen to when a command is over: a folder that was made a repository by what lies in it is none then."""

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import structlog

from supervisor.agent.repositories import COMMON, HEAD, SET_ASIDE, STORES
from supervisor.agent.sandbox.roots import Root

log = structlog.get_logger()
NAMES = 100  # that a command may have taken on purpose, for what is set aside
PASSABLE = stat.S_IWUSR | stat.S_IXUSR  # what it takes to look into a folder and rename there


def set_aside(plain: Sequence[Root]) -> Iterator[str]:
    """Git would take the folder for a repository, and run what its configuration names. Raises nothing."""
    for root in plain:
        try:
            with _passable(root.folder):
                told = _renamed(root)
        except OSError as error:
            log.error("sandbox.repository_left", path=str(root.path), error=str(error))  # noqa: TRY400 - no bug of ours
            told = (
                f"{root.path} could not be looked at after a command ({error.strerror}); if it is a repository now, "
                "its configuration may run programs outside of the sandbox: look at it before you run git there"
            )
        if told:
            yield told


def _renamed(root: Root) -> str:
    there = frozenset(name for name in (HEAD, COMMON, *STORES) if _exists(root.folder, name))
    if HEAD not in there or not (COMMON in there or there.issuperset(STORES)):
        return ""
    free = next(name for name in _names() if not _exists(root.folder, name))
    os.rename(HEAD, free, src_dir_fd=root.folder, dst_dir_fd=root.folder)
    log.warning("sandbox.repository_set_aside", path=str(root.path))
    return (
        f"{root.path} was made a repository by what was in it after a command, and its configuration could "
        f"run programs outside of the sandbox; its {HEAD} is now {free}"
    )


def _names() -> Iterator[str]:
    yield SET_ASIDE
    yield from (f"{SET_ASIDE}.{number}" for number in range(2, NAMES))
    raise FileExistsError(0, f"all names for {HEAD} are taken")


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


@contextlib.contextmanager
def _passable(folder: int) -> Iterator[None]:
    """A command may have taken the right to write there from its owner, who can give it back later."""
    mode, name = stat.S_IMODE(os.fstat(folder).st_mode), f"/proc/self/fd/{folder}"
    if mode & PASSABLE == PASSABLE:
        yield
        return
    with contextlib.suppress(PermissionError):  # another's folder
        Path(name).chmod(mode | PASSABLE)
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            Path(name).chmod(mode)
