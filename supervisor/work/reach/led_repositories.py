"""Tell of each repository below a root what in it starts programs, and what of that is new. Looks only.

A repository that is made in a folder is nothing yet. But a person's `git add` makes a gitlink of it, and a shell's
prompt goes into it with the person: then git starts whatever its configuration and its hooks name.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from supervisor.disk.folders import lies_in
from supervisor.work.reach.git_settings import CONFIGS, Unjudged, leading_settings
from supervisor.work.reach.other_systems import LEADING, fingerprints
from supervisor.work.reach.repositories import Nested, behind, is_repository

SAMPLE = ".sample"
WORKTREE = ("core", "worktree")

Led = Mapping[Nested, frozenset[str]]


def led_in(root: Path, repositories: Iterable[Nested]) -> Led:
    """Return a text for each thing that leads to programs, by repository below the root."""
    return {(folder, control): frozenset(_led(root, folder, control)) for folder, control in repositories}


def newly_led(before: Led, now: Led) -> Iterator[tuple[Path, Path | None, str]]:
    """Yield each repository that starts programs and did not before, with what is new about it."""
    for (folder, control), led in now.items():
        if new := led.difference(before.get((folder, control), ())):
            yield folder, control, min(new)


def _led(root: Path, folder: Path, control: Path | None) -> Iterator[str]:
    if control is not None and control.name in LEADING:
        yield from fingerprints(control)
        return
    stores = (folder,) if control is None else tuple(filter(is_repository, behind(control)))
    for store in stores:
        if not lies_in(store, Path(os.path.realpath(root))):
            yield f"a repository elsewhere, {store}"
        try:
            yield from _settings(folder, store)
        except Unjudged as error:
            yield str(error)
        yield from _hooks(store / "hooks")


def _settings(folder: Path, store: Path) -> Iterator[str]:
    for one in (one for name in CONFIGS for one in leading_settings(store / name)):
        leads_back = (one.section, one.key) == WORKTREE and os.path.realpath(store / one.value) == str(folder)
        if not leads_back:
            yield f"{one.name} = {one.value}"


def _hooks(folder: Path) -> Iterator[str]:
    try:
        found: Iterable[os.DirEntry[str]] = list(os.scandir(folder))
    except OSError:
        return
    for one in found:
        if not one.name.endswith(SAMPLE):
            about = one.stat(follow_symlinks=False)
            yield f"hooks/{one.name} ({about.st_ino}.{about.st_ctime_ns})"
