"""The settings of agents and editors that a project has at one moment, at its top and below it. Changes nothing.

The names are in `project_settings.py`. Packages that somebody else has made are not looked into: nobody starts an
agent or an editor there, and a package manager has to be able to replace them.
"""

import os
import stat
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from supervisor.disk.folders import STAMP_NS, lies_in
from supervisor.disk.work_tree import GIT
from supervisor.work.reach.project_settings import HELD, Setting, goes_on_below, setting_of, settings_in
from supervisor.work.reach.remembering import Memory

PACKAGES = frozenset({"node_modules", "bower_components", "site-packages", ".venv", "venv", ".tox", ".nox"})
DEPTH, FOLDERS = 3, 400  # of the search; the first takes some 20 ms, the next 1 ms
MOST = 100  # settings of one project that are found; each is a mount of every command
MOST_CLOSED = (
    250  # paths that are closed for their sake, with what links lead to; a project with more is not writable
)
LINKS, LINK_DEPTH = 400, 2  # entries of one folder of settings that are looked at for links, and how deep
REMEMBERED, LARGEST = 1_000, 2 * FOLDERS  # projects whose folders are remembered, and the most of each

Names = tuple[str, ...]
_listings = Memory[tuple[Names, Names]]()
_remembered: dict[Path, tuple[Path, ...]] = {}


class Kept(Struct, frozen=True):
    """A setting as it was: which entry of its folder, and where it leads if it is a link.

    `placeholder`: an empty folder that stands for a command of ours.
    """

    device: int
    inode: int
    target: str | None = None
    placeholder: bool = False


class FoundSettings(Struct, frozen=True):
    """The settings of a project: each folder that was looked at, with the names of the settings in it."""

    folders: Mapping[Path, Mapping[str, Kept]]

    @property
    def paths(self) -> Iterator[tuple[Path, Kept]]:
        for folder, names in self.folders.items():
            yield from ((folder / name, kept) for name, kept in names.items())


def find_settings(root: Path) -> FoundSettings:
    """Find the settings in a project: the shallow folders first, then those that were looked at earlier.

    New folders must not crowd known ones out of the search.
    """
    folders = dict(_search(root))
    known = _remembered.get(root, ())
    for folder in known:
        if folder not in folders and folder.is_dir():
            folders[folder] = _settings_of(folder, list_settings(folder, top=folder == root)[1])
    if len(_remembered) >= REMEMBERED and root not in _remembered:
        _remembered.clear()
    _remembered[root] = tuple(dict.fromkeys((*known, *folders)))[:LARGEST]
    return FoundSettings(folders)


def _search(root: Path) -> Iterator[tuple[Path, Mapping[str, Kept]]]:
    folders, halves = deque([(root, 0)]), deque[tuple[Path, int]]()  # halves of names are looked at in any case
    looked = found = 0
    while halves or (folders and looked < FOLDERS and found < MOST):
        folder, depth = halves.popleft() if halves else folders.popleft()
        looked += 1
        below, names = list_settings(folder, top=not depth)
        settings = _settings_of(folder, names)
        found += len(settings)
        yield folder, settings
        half = bool(depth) and goes_on_below(folder.name)
        for name in below:
            if goes_on_below(name) and not half:
                halves.append((folder / name, depth + 1))
            elif depth < DEPTH:
                folders.append((folder / name, depth + 1))


def _settings_of(folder: Path, names: Names) -> dict[str, Kept]:
    kept = ((name, keep(folder / name)) for name in names[: MOST_CLOSED + 1])
    return {name: one for name, one in kept if one is not None}


def list_settings(folder: Path, *, top: bool) -> tuple[Names, Names]:
    """Return the folders to look into next, and the names of the settings here. `top`: of a project."""
    above = "" if top else folder.name

    def listed() -> tuple[Names, Names]:
        below, names = list[str](), list[str]()
        with os.scandir(folder) as entries:
            for one in entries:
                if setting_of(one.name, above) is not None:
                    names.append(one.name)
                elif one.name not in PACKAGES and one.name.casefold() != GIT and one.is_dir(follow_symlinks=False):
                    below.append(one.name)
        return tuple(below), tuple(names)

    try:
        if goes_on_below(above):  # what counts there depends on a name that may change
            return listed()
        return _listings.of(os.stat(folder, follow_symlinks=False), listed)  # noqa: PTH116 - four hundred times a command
    except OSError:  # gone, or we may not list it: then a command may not put anything there either
        return (), ()


def keep(path: Path) -> Kept | None:
    """Return the entry as it is now; None: there is none."""
    try:
        found = path.lstat()
        target = str(path.readlink()) if stat.S_ISLNK(found.st_mode) else None
    except OSError:
        return None
    return Kept(found.st_dev, found.st_ino, target, found.st_mtime_ns == STAMP_NS)


def closed_by(root: Path, found: FoundSettings) -> Iterator[tuple[Path, Setting]]:
    """Yield each path to close with who reads it: settings, what links in them lead to, and the names that are held.

    A link itself is yielded, too, although no mount can hold it: a patch must not replace it.
    """
    for path, kept in found.paths:
        above = "" if path.parent == root else path.parent.name
        if (setting := setting_of(path.name, above)) is None:
            continue
        yield path, setting
        if kept.target is not None:
            yield Path(os.path.realpath(path)), setting
        yield from ((target, setting) for target in _linked(path))
    there = found.folders.get(root, {})
    for name in HELD:
        if name not in there and (setting := setting_of(name)) is not None:
            yield root / name, setting


def _linked(folder: Path) -> Iterator[Path]:
    """Yield what links in a folder of settings lead to: a file of settings may lie anywhere else."""
    folders = deque([(folder, 1)])
    left = LINKS
    while folders:
        at, depth = folders.popleft()
        try:
            with os.scandir(at) as entries:
                for one in entries:
                    left -= 1
                    if left < 0:
                        return
                    if one.is_symlink():
                        target = Path(os.path.realpath(one.path))
                        if not lies_in(target, folder):
                            yield target
                    elif depth < LINK_DEPTH and one.is_dir(follow_symlinks=False):
                        folders.append((Path(one.path), depth + 1))
        except OSError:  # a file, or not ours to list
            continue


def setting_around(root: Path) -> tuple[Path, Setting] | None:
    """Return the folder of settings that a root lies in, or is; None for a work tree of its own in there.

    Agents keep such work trees in their folders (`.claude/worktrees`), and those are projects like any other.
    """
    parts = root.parts
    innermost = max(settings_in(parts), key=lambda one: one[0], default=None)
    if innermost is None:
        return None
    at, setting = innermost
    folder = Path(*parts[: at + 1])
    inside = (one for one in (root, *root.parents) if one != folder and lies_in(one, folder))
    return None if any(os.path.lexists(one / GIT) for one in inside) else (folder, setting)
