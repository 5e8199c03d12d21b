"""Finds the settings and hooks that start programs in repositories below a root, and those that are new. Looks only.

A new repository in a folder does nothing by itself. But a person's `git add` makes a gitlink of it, and a shell's
prompt runs git in it: then git starts every program that its configuration and its hooks name.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from supervisor.disk.folders import lies_in
from supervisor.work.reach.git_settings import CONFIGS, TooManySettings, program_settings
from supervisor.work.reach.other_version_control import CONTROL_FILES, fingerprints
from supervisor.work.reach.repositories import Nested, git_directories, is_repository

SAMPLE = ".sample"
WORKTREE = ("core", "worktree")

ProgramStarts = Mapping[Nested, frozenset[str]]


def program_starts_in(root: Path, repositories: Iterable[Nested]) -> ProgramStarts:
    """Return a text for each setting or hook that starts programs, by repository below the root."""
    return {(folder, control): frozenset(_program_starts(root, folder, control)) for folder, control in repositories}


def new_program_starts(before: ProgramStarts, now: ProgramStarts) -> Iterator[tuple[Path, Path | None, str]]:
    """Yield each repository with a new setting or hook that starts programs, and the first of these."""
    for (folder, control), starts in now.items():
        if new := starts.difference(before.get((folder, control), ())):
            yield folder, control, min(new)


def _program_starts(root: Path, folder: Path, control: Path | None) -> Iterator[str]:
    if control is not None and control.name in CONTROL_FILES:
        yield from fingerprints(control)
        return
    stores = (folder,) if control is None else tuple(filter(is_repository, git_directories(control)))
    for store in stores:
        if not lies_in(store, Path(os.path.realpath(root))):
            yield f"a repository elsewhere, {store}"
        try:
            yield from _settings(folder, store)
        except TooManySettings as error:
            yield str(error)
        yield from _hooks(store / "hooks")


def _settings(folder: Path, store: Path) -> Iterator[str]:
    for setting in (setting for name in CONFIGS for setting in program_settings(store / name)):
        leads_back = (setting.section, setting.key) == WORKTREE and os.path.realpath(store / setting.value) == str(
            folder
        )
        if not leads_back:
            yield f"{setting.name} = {setting.value}"


def _hooks(folder: Path) -> Iterator[str]:
    try:
        found: Iterable[os.DirEntry[str]] = list(os.scandir(folder))
    except OSError:
        return
    for entry in found:
        if not entry.name.endswith(SAMPLE):
            stat = entry.stat(follow_symlinks=False)
            yield f"hooks/{entry.name} ({stat.st_ino}.{stat.st_ctime_ns})"
