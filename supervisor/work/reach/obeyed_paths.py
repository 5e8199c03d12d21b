"""Finds the paths in a root that version control obeys by itself, outside every sandbox. Looks only.

git also enters each repository that the index of another has as a gitlink.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct, field

from supervisor.disk.folders import lies_in
from supervisor.disk.work_tree import GIT, HEAD
from supervisor.work.reach.git_index import UnfitIndex
from supervisor.work.reach.git_settings import (
    GitEnvironment,
    ObeyedPath,
    TooManySettings,
    hash_bytes,
    paths_in_config,
)
from supervisor.work.reach.gitlinks import gitlinks
from supervisor.work.reach.other_version_control import CONTROL_FILES, control_files
from supervisor.work.reach.repositories import (
    FoundRepositories,
    Nested,
    bare_repository_parts,
    enclosing_repositories,
    find_repositories,
    git_directories,
    is_repository,
)

NESTED = 64  # repositories below a root that are closed; changes of the others are found afterwards
# Submodules that are closed, each by a mount of its own; with more, the folder of their repository is closed.
LINKS = 300
REMEMBERED, LARGEST = 1_000, 4 * NESTED  # roots whose repositories are remembered, and the most remembered for each

_known: dict[Path, dict[Nested, None]] = {}  # used by any thread: each step is atomic


class ObeyedPaths(Struct):
    """The paths that git obeys, as they were named, and the folders to close as a whole, each with the reason.

    `below` are the repositories below the root.
    """

    root: Path
    below: FoundRepositories
    places: list[ObeyedPath] = field(default_factory=list)
    closed_folders: dict[Path, str] = field(default_factory=dict)

    def add(self, *paths: Path, is_file: bool = False) -> None:
        self.places += (ObeyedPath(path, is_file) for path in paths)


def find_obeyed_paths(root: Path, env: Mapping[str, str]) -> ObeyedPaths:
    """Return the paths that git would obey in a root, for a person with these variables."""
    found, environment = ObeyedPaths(root, find_repositories(root)), GitEnvironment(env)
    found.add(root / GIT)
    for folder in (root, *enclosing_repositories(root)):
        stores = tuple(git_directories(folder / GIT))
        found.add(*stores)
        if is_repository(folder):
            found.add(*bare_repository_parts(folder))
            stores = (*stores, folder)
        _add_named(found, folder, stores, environment)
    for folder, control in _known_repositories(root, found.below.repositories):
        if control is not None and control.name in CONTROL_FILES:
            found.add(*control_files(control), is_file=True)
        elif control is None:
            found.add(*bare_repository_parts(folder))
            _add_named(found, folder, (folder,), environment)
        else:
            # A turn may have written this `.git`, and it may name any place: only a repository there counts.
            stores = tuple(store for store in git_directories(control) if store == control or is_repository(store))
            found.add(control, *stores)
            _add_named(found, folder, stores, environment)
    return found


def _add_named(found: ObeyedPaths, folder: Path, stores: Sequence[Path], env: GitEnvironment) -> None:
    """Add the paths that the configuration and the index of a repository name."""
    try:
        found.places += paths_in_config(folder, stores, env)
        _add_gitlinks(found, folder, stores, env, set())
    except (TooManySettings, UnfitIndex) as error:
        found.closed_folders[folder] = str(error)


def _add_gitlinks(
    found: ObeyedPaths, folder: Path, stores: Sequence[Path], env: GitEnvironment, seen: set[Path]
) -> None:
    """Add the `.git` of each gitlink, even if it does not exist, and the paths that existing ones name in turn."""
    links = (folder / link for store in stores for link in gitlinks(store, hash_bytes(stores)))
    for below in dict.fromkeys(links):
        if below in seen or not (lies_in(below, found.root) or lies_in(found.root, below)):
            continue
        seen.add(below)
        if len(seen) > LINKS:
            raise UnfitIndex(f"more than {LINKS} submodules lie in it")
        found.add(below / GIT)
        inner = tuple(store for store in git_directories(below / GIT) if is_repository(store))
        if inner:
            found.add(*inner)
            found.places += paths_in_config(below, inner, env)
            _add_gitlinks(found, below, inner, env, seen)


def _known_repositories(root: Path, found: Iterable[Nested]) -> Iterator[Nested]:
    """Yield the first repositories of this search, then those of earlier ones, so that new can't crowd out known."""
    now = dict.fromkeys(islice(found, NESTED))
    known = _known.get(root, {})
    kept = {
        (folder, control): None
        for folder, control in known
        if (folder, control) not in now and os.path.lexists(control or folder / HEAD)
    }
    if now.keys() != known.keys():
        if len(_known) >= REMEMBERED:
            _known.clear()
        _known[root] = dict(islice({**kept, **now}.items(), LARGEST))
    yield from now
    yield from kept
