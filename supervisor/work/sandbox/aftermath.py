"""Checks after a command, for changes that no mount can prevent. Blocking.

If a command has made a folder a repository, its HEAD is renamed; a changed `.git` link is restored.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from functools import partial

import structlog

from supervisor.disk.folders import exists_in, free_name, passable
from supervisor.disk.work_tree import HEAD, makes_repository
from supervisor.work.sandbox.roots import LinkOnTheWay, Root, Roots

log = structlog.get_logger()
SET_ASIDE = ".set-aside-by-greenroom"


def undo_changes(roots: Roots) -> Iterator[str]:
    """Undo such changes; yield a text about each that was undone, or could not be. Raises nothing."""
    for root in roots.plain:
        yield from _attempt(root, partial(_rename_head, root))
    for link in roots.links:
        yield from _attempt(link.place, partial(_restore_link, link))


def _attempt(root: Root, undo: Callable[[], str]) -> Iterator[str]:
    try:
        with passable(root.folder):
            text = undo()
    except OSError as error:
        log.error("sandbox.repository_left", path=str(root.path), error=str(error))  # noqa: TRY400 - no bug of ours
        text = (
            f"{root.path} could not be looked at after a command ({error.strerror}); if it is a repository now, "
            "its configuration may run programs outside of the sandbox: look at it before you run git there"
        )
    if text:
        yield text


def _restore_link(link: LinkOnTheWay) -> str:
    left, folder = "", link.place.folder
    if exists_in(folder, link.name):
        with contextlib.suppress(OSError):  # not a link any more
            if os.readlink(link.name, dir_fd=folder) == link.target:
                return ""
        left = f"; what the command put there is now {set_aside(folder, link.name)}"
    os.symlink(link.target, link.name, dir_fd=folder)
    path = link.place.path / link.name
    log.warning("sandbox.link_restored", path=str(path))
    return f"{path} was a link and was changed by a command; it is that link again{left}"


def _rename_head(root: Root) -> str:
    """Rename HEAD of a new repository: git would run the programs that its configuration names."""
    if not makes_repository(partial(exists_in, root.folder)) or _is_folder(root.folder, HEAD):
        return ""
    free = set_aside(root.folder, HEAD)
    log.warning("sandbox.repository_set_aside", path=str(root.path))
    return (
        f"{root.path} was made a repository by what was in it after a command, and its configuration could "
        f"run programs outside of the sandbox; its {HEAD} is now {free}"
    )


def _is_folder(folder: int, name: str) -> bool:
    """Tell whether an entry is a folder: a HEAD that is one is a sandbox's placeholder, and makes no repository."""
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def set_aside(folder: int, name: str) -> str:
    """Rename an entry, so that no program finds it; return its new name."""
    free = free_name(folder, f"{name}{SET_ASIDE}")
    os.rename(name, free, src_dir_fd=folder, dst_dir_fd=folder)
    return free
