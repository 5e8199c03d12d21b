"""The paths in a root that version control obeys, unasked and outside of every sandbox: the one answer. Looks only.

By itself git also goes into each repository that the index of another has as a gitlink.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct, field

from supervisor.disk.folders import lies_in
from supervisor.disk.work_tree import GIT, HEAD
from supervisor.work.reach.git_index import Unfit
from supervisor.work.reach.git_settings import Environment, Place, Unjudged, hash_bytes, named_by_config
from supervisor.work.reach.gitlinks import gitlinks
from supervisor.work.reach.other_systems import LEADING, leading_files
from supervisor.work.reach.repositories import Found, Nested, behind, enclosing, is_repository, parts_of, search

NESTED = 64  # of the repositories below a root, those that are closed; a change of the others is seen to afterwards
# Submodules that are closed, each by a mount of its own; more of them close the folder of their repository.
LINKS = 300
REMEMBERED, LARGEST = 1_000, 4 * NESTED  # roots whose repositories are remembered, and the most remembered for each

_known: dict[Path, dict[Nested, None]] = {}  # any thread: each step is a single one


class Obeyed(Struct):
    """The places that git obeys, as they were named, and the folders to be closed whole, each with the reason.

    `below` are the repositories below the root.
    """

    root: Path
    below: Found
    places: list[Place] = field(default_factory=list)
    whole: dict[Path, str] = field(default_factory=dict)

    def add(self, *paths: Path, is_file: bool = False) -> None:
        self.places += (Place(path, is_file) for path in paths)


def obeyed_in(root: Path, env: Mapping[str, str]) -> Obeyed:
    """Return what git would obey in a root, for a person whose variables these are."""
    found, theirs = Obeyed(root, search(root)), Environment(env)
    found.add(root / GIT)
    for folder in (root, *enclosing(root)):
        stores = tuple(behind(folder / GIT))
        found.add(*stores)
        if is_repository(folder):
            found.add(*parts_of(folder))
            stores = (*stores, folder)
        _lead(found, folder, stores, theirs)
    for folder, control in _remembered(root, found.below.repositories):
        if control is not None and control.name in LEADING:
            found.add(*leading_files(control), is_file=True)
        elif control is None:
            found.add(*parts_of(folder))
            _lead(found, folder, (folder,), theirs)
        else:
            # A `.git` may be a file of anybody's, that names any place: only a repository there counts.
            stores = tuple(store for store in behind(control) if store == control or is_repository(store))
            found.add(control, *stores)
            _lead(found, folder, stores, theirs)
    return found


def _lead(found: Obeyed, folder: Path, stores: Sequence[Path], env: Environment) -> None:
    """Add what the configuration and the index of a repository lead to."""
    try:
        found.places += named_by_config(folder, stores, env)
        _follow(found, folder, stores, env, set())
    except (Unjudged, Unfit) as error:
        found.whole[folder] = str(error)


def _follow(found: Obeyed, folder: Path, stores: Sequence[Path], env: Environment, seen: set[Path]) -> None:
    """Add the `.git` of each gitlink, whether it is there or not, and what those that are there lead to."""
    links = (folder / link for store in stores for link in gitlinks(store, hash_bytes(stores)))
    for below in dict.fromkeys(links):
        if below in seen or not (lies_in(below, found.root) or lies_in(found.root, below)):
            continue
        seen.add(below)
        if len(seen) > LINKS:
            raise Unfit(f"more than {LINKS} submodules lie in it")
        found.add(below / GIT)
        inner = tuple(store for store in behind(below / GIT) if is_repository(store))
        if inner:
            found.add(*inner)
            found.places += named_by_config(below, inner, env)
            _follow(found, below, inner, env, seen)


def _remembered(root: Path, found: Iterable[Nested]) -> Iterator[Nested]:
    """Yield the first repositories found now, then those found earlier: new folders must not crowd known ones out."""
    now = dict.fromkeys(islice(found, NESTED))
    known = _known.get(root, {})
    kept = {one: None for one in known if one not in now and os.path.lexists(one[1] or one[0] / HEAD)}
    if now.keys() != known.keys():
        if len(_known) >= REMEMBERED:
            _known.clear()
        _known[root] = dict(islice({**kept, **now}.items(), LARGEST))
    yield from now
    yield from kept
