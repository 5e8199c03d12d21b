"""Finds new settings of agents and editors in a project, and sets them aside.

No mount can keep a file from being made, so this searches the folders that existed before. A new folder is as
trustworthy as its content, and is not searched. Blocking, for a worker thread.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import structlog

from supervisor.disk.folders import exists_in, free_name, lies_in, open_folder, passable
from supervisor.work.reach.found_settings import FoundSettings, SettingEntry, list_settings, setting_entry
from supervisor.work.reach.project_settings import HELD_FOLDERS, may_hold_settings, setting_of

log = structlog.get_logger()
SUFFIX = ".set-aside-by-greenroom"


def set_aside(before: Mapping[Path, FoundSettings], accepted: Collection[Path] = ()) -> Iterator[str]:
    """Yield a text about each new setting that is set aside, or can't be. `before`: by project. Raises nothing.

    `accepted`: settings that a person has approved meanwhile.
    """
    for root, found in before.items():
        for folder, known in _folders(root, found):
            real = Path(os.path.realpath(folder))
            if real != folder and (real in found.folders or not lies_in(real, root)):
                continue  # a link: its target is searched under its own name, or was never writable
            try:
                yield from _look(real, {**known, **_accepted_in(real, accepted)}, top=real == root)
            except (FileNotFoundError, NotADirectoryError):
                continue  # the folder is gone
            except OSError as error:
                log.error("sandbox.settings_unseen", path=str(real), error=str(error))  # noqa: TRY400 - no bug of ours
                yield (
                    f"{real} could not be looked at after a command ({error.strerror}); look for settings of agents "
                    "and editors there before you start one"
                )


def _accepted_in(folder: Path, accepted: Collection[Path]) -> dict[str, SettingEntry]:
    return {path.name: SettingEntry(0, 0) for path in accepted if path.parent == folder}


def _folders(root: Path, found: FoundSettings) -> Iterator[tuple[Path, Mapping[str, SettingEntry]]]:
    """Yield the folders that existed before, and new ones in them that begin a two-part name (`.github/hooks`)."""
    for folder, known in found.folders.items():
        yield folder, known
        if folder != root and may_hold_settings(folder.name):
            continue
        below, _ = list_settings(folder, top=folder == root)
        halves = (folder / name for name in below if may_hold_settings(name))
        yield from ((half, {}) for half in halves if half not in found.folders)


def _look(folder: Path, known: Mapping[str, SettingEntry], *, top: bool) -> Iterator[str]:
    if os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        if changed := _changes(folder, known, top=top):
            yield from _undo(folder, changed, top=top)
        return
    handle = open_folder(folder)
    try:
        with passable(handle):
            if changed := _changes(folder, known, top=top):
                yield from _undo(folder, changed, top=top)
    finally:
        os.close(handle)


def _changes(folder: Path, known: Mapping[str, SettingEntry], *, top: bool) -> dict[str, SettingEntry | None]:
    """Return the names of new settings, and the links that lead elsewhere or are gone."""
    _, names = list_settings(folder, top=top)
    # A command can't make the names that are held at the top of a project; the person can, in another window.
    new = {name: None for name in names if name not in known and not (top and name in HELD_FOLDERS)}
    links = {name: kept for name, kept in known.items() if kept.target is not None}
    return {**new, **{name: kept for name, kept in links.items() if _target(folder / name) != kept.target}}


def _target(path: Path) -> str | None:
    found = setting_entry(path)
    return found.target if found is not None else None


def _undo(folder: Path, changed: Mapping[str, SettingEntry | None], *, top: bool) -> Iterator[str]:
    handle = open_folder(folder)
    try:
        for name, kept in changed.items():
            left = ""
            if exists_in(handle, name):
                free = free_name(handle, f"{name}{SUFFIX}")
                os.rename(name, free, src_dir_fd=handle, dst_dir_fd=handle)
                left = f"; what the command put there is now {free}"
            if kept is not None and kept.target is not None:
                os.symlink(kept.target, name, dir_fd=handle)
                yield f"{folder / name} was a link and was changed by a command; it is that link again{left}"
            else:
                setting = setting_of(name, "" if top else folder.name)
                yield (
                    f"{folder / name} was made by a command, and {setting.who if setting else 'a program'} would "
                    f"obey it unasked{left}. To have it, make it by a patch, or run the command outside of the "
                    "sandbox: both are asked about"
                )
            log.warning("sandbox.setting_set_aside", path=str(folder / name))
    finally:
        os.close(handle)
