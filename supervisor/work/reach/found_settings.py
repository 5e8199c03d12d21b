"""Finds the settings of agents and editors in a project, at its top and below. Changes nothing.

The names are in `project_settings.py`. Folders of installed packages are left out: no person starts an agent or an
editor there, and a package manager has to be able to replace them.
"""

import os
import stat
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from supervisor.disk.folders import STAMP_NS, lies_in
from supervisor.disk.work_tree import GIT
from supervisor.work.reach.project_settings import (
    HELD_FOLDERS,
    ProjectSetting,
    may_hold_settings,
    setting_of,
    settings_in,
)
from supervisor.work.reach.stat_cache import StatCache

PACKAGES = frozenset({"node_modules", "bower_components", "site-packages", ".venv", "venv", ".tox", ".nox"})
DEPTH, FOLDERS = 3, 400  # of the search; the first takes some 20 ms, the next 1 ms
MOST = 100  # settings of a project that are found; each is a mount of every command
MOST_CLOSED = 250  # paths that are closed for them, targets of links included; a project with more is not writable
LINKS, LINK_DEPTH = 400, 2  # entries of a folder of settings that are looked at for links, and how deep
REMEMBERED, LARGEST = 1_000, 2 * FOLDERS  # projects whose folders are remembered, and the most of each

Names = tuple[str, ...]
_listings = StatCache[tuple[Names, Names]]()
_remembered: dict[Path, tuple[Path, ...]] = {}


class SettingEntry(Struct, frozen=True):
    """The state of a setting's entry in its folder, with its target if it is a link.

    `placeholder`: an empty folder that Greenroom puts there while a command runs.
    """

    device: int
    inode: int
    target: str | None = None
    placeholder: bool = False


class FoundSettings(Struct, frozen=True):
    """The settings of a project: each searched folder with the names of the settings in it."""

    folders: Mapping[Path, Mapping[str, SettingEntry]]

    @property
    def paths(self) -> Iterator[tuple[Path, SettingEntry]]:
        for folder, names in self.folders.items():
            yield from ((folder / name, kept) for name, kept in names.items())


def find_settings(root: Path) -> FoundSettings:
    """Find the settings in a project: in the shallow folders first, then in those of earlier searches.

    So new folders can't crowd known ones out of the search.
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


def _search(root: Path) -> Iterator[tuple[Path, Mapping[str, SettingEntry]]]:
    folders, halves = (
        deque([(root, 0)]),
        deque[tuple[Path, int]](),
    )  # halves: folders of two-part names, always searched
    looked = found = 0
    while halves or (folders and looked < FOLDERS and found < MOST):
        folder, depth = halves.popleft() if halves else folders.popleft()
        looked += 1
        below, names = list_settings(folder, top=not depth)
        settings = _settings_of(folder, names)
        found += len(settings)
        yield folder, settings
        half = bool(depth) and may_hold_settings(folder.name)
        for name in below:
            if may_hold_settings(name) and not half:
                halves.append((folder / name, depth + 1))
            elif depth < DEPTH:
                folders.append((folder / name, depth + 1))


def _settings_of(folder: Path, names: Names) -> dict[str, SettingEntry]:
    kept = ((name, setting_entry(folder / name)) for name in names[: MOST_CLOSED + 1])
    return {name: entry for name, entry in kept if entry is not None}


def list_settings(folder: Path, *, top: bool) -> tuple[Names, Names]:
    """Return the folders to search next, and the names of the settings here. `top`: the folder is a project's top."""
    above = "" if top else folder.name

    def scan() -> tuple[Names, Names]:
        below, names = list[str](), list[str]()
        with os.scandir(folder) as entries:
            for entry in entries:
                if setting_of(entry.name, above) is not None:
                    names.append(entry.name)
                elif (
                    entry.name not in PACKAGES
                    and entry.name.casefold() != GIT
                    and entry.is_dir(follow_symlinks=False)
                ):
                    below.append(entry.name)
        return tuple(below), tuple(names)

    try:
        if may_hold_settings(above):  # the folder's name decides which entries are settings, and it may change
            return scan()
        return _listings.get(os.stat(folder, follow_symlinks=False), scan)  # noqa: PTH116 - 400 times a command
    except OSError:  # gone, or not listable for us: then a command can't write there either
        return (), ()


def setting_entry(path: Path) -> SettingEntry | None:
    """Return the state of an entry now; None: there is none."""
    try:
        found = path.lstat()
        target = str(path.readlink()) if stat.S_ISLNK(found.st_mode) else None
    except OSError:
        return None
    return SettingEntry(found.st_dev, found.st_ino, target, found.st_mtime_ns == STAMP_NS)


def paths_to_close(root: Path, found: FoundSettings) -> Iterator[tuple[Path, ProjectSetting]]:
    """Yield each path to close with its setting: settings, targets of links in them, and the names that are held.

    A link itself is yielded, too, although no mount can close it: a patch must not replace it.
    """
    for path, kept in found.paths:
        above = "" if path.parent == root else path.parent.name
        if (setting := setting_of(path.name, above)) is None:
            continue
        yield path, setting
        if kept.target is not None:
            yield Path(os.path.realpath(path)), setting
        yield from ((target, setting) for target in _link_targets(path))
    present = found.folders.get(root, {})
    for name in HELD_FOLDERS:
        if name not in present and (setting := setting_of(name)) is not None:
            yield root / name, setting


def _link_targets(folder: Path) -> Iterator[Path]:
    """Yield the targets of links in a folder of settings that lie outside it."""
    folders = deque([(folder, 1)])
    left = LINKS
    while folders:
        at, depth = folders.popleft()
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return
                    if entry.is_symlink():
                        target = Path(os.path.realpath(entry.path))
                        if not lies_in(target, folder):
                            yield target
                    elif depth < LINK_DEPTH and entry.is_dir(follow_symlinks=False):
                        folders.append((Path(entry.path), depth + 1))
        except OSError:  # a file, or a folder that we may not list
            continue


def enclosing_setting(root: Path) -> tuple[Path, ProjectSetting] | None:
    """Return the folder of settings that a root lies in, or is; None for a git work tree inside such a folder.

    Agents keep work trees in their folders (`.claude/worktrees`), and those are projects like any other.
    """
    parts = root.parts
    innermost = max(settings_in(parts), key=lambda place: place[0], default=None)
    if innermost is None:
        return None
    at, setting = innermost
    folder = Path(*parts[: at + 1])
    inside = (above for above in (root, *root.parents) if above != folder and lies_in(above, folder))
    return None if any(os.path.lexists(above / GIT) for above in inside) else (folder, setting)
