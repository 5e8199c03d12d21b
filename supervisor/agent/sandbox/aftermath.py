"""Checks after a command, for changes that no mount can prevent.

A folder whose new content makes it a repository is made none again, and a changed `.git` link is restored.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import structlog

from supervisor.agent.folders import exists_in
from supervisor.agent.repositories import GIT_SET_ASIDE, SET_ASIDE
from supervisor.agent.sandbox.roots import Root, Roots
from supervisor.agent.work_tree import GIT, HEAD, makes_repository

log = structlog.get_logger()
NAMES = 100  # for a file that is set aside; a command may have taken some on purpose
PASSABLE = stat.S_IWUSR | stat.S_IXUSR  # the rights to search a folder and rename in it


def seen_to(roots: Roots) -> Iterator[str]:
    """Yield a text about each change that was undone, or could not be. Raises nothing."""
    for root in roots.plain:
        yield from _tried(root, partial(_renamed, root))
    for root, target in roots.links:
        yield from _tried(root, partial(_linked_again, root, target))


def _tried(root: Root, undo: Callable[[], str]) -> Iterator[str]:
    try:
        with _passable(root.folder):
            told = undo()
    except OSError as error:
        log.error("sandbox.repository_left", path=str(root.path), error=str(error))  # noqa: TRY400 - no bug of ours
        told = (
            f"{root.path} could not be looked at after a command ({error.strerror}); if it is a repository now, "
            "its configuration may run programs outside of the sandbox: look at it before you run git there"
        )
    if told:
        yield told


def _linked_again(root: Root, target: str) -> str:
    left = ""
    if exists_in(root.folder, GIT):
        with contextlib.suppress(OSError):  # not a link any more
            if os.readlink(GIT, dir_fd=root.folder) == target:
                return ""
        free = _free(root.folder, GIT_SET_ASIDE)
        os.rename(GIT, free, src_dir_fd=root.folder, dst_dir_fd=root.folder)
        left = f"; what the command put there is now {free}"
    os.symlink(target, GIT, dir_fd=root.folder)
    log.warning("sandbox.link_restored", path=str(root.path))
    return f"{root.path / GIT} was a link and was changed by a command; it is that link again{left}"


def _renamed(root: Root) -> str:
    """Rename HEAD of a new repository: git would run the programs that its configuration names."""
    if not makes_repository(partial(exists_in, root.folder)):
        return ""
    free = _free(root.folder, SET_ASIDE)
    os.rename(HEAD, free, src_dir_fd=root.folder, dst_dir_fd=root.folder)
    log.warning("sandbox.repository_set_aside", path=str(root.path))
    return (
        f"{root.path} was made a repository by what was in it after a command, and its configuration could "
        f"run programs outside of the sandbox; its {HEAD} is now {free}"
    )


def _free(folder: int, name: str) -> str:
    for one in (name, *(f"{name}.{number}" for number in range(2, NAMES))):
        if not exists_in(folder, one):
            return one
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


@contextlib.contextmanager
def _passable(folder: int) -> Iterator[None]:
    """Restore the owner's rights in a folder for a while, if a command took them."""
    mode, name = stat.S_IMODE(os.fstat(folder).st_mode), f"/proc/self/fd/{folder}"
    if mode & PASSABLE == PASSABLE:
        yield
        return
    with contextlib.suppress(PermissionError):  # another user's folder
        Path(name).chmod(mode | PASSABLE)
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            Path(name).chmod(mode)
