"""The homes of an agent as its sandbox shows them. Blocking: looks at the disk, and makes the kept files and folders.

A home in the table is a folder in memory there. It shows the entries of the real home, of which those in the table
can be written; anything else that is made in it goes with the agent. Places that no table knows are open, but for the
settings and programs that are recognised in them.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct, field, structs

from supervisor.disk.folders import lies_in
from supervisor.work.reach.agent_homes import SETTINGS_VARIABLES, KeptNames, homes_of
from supervisor.work.reach.obeyed_files import is_obeyed_by_name, links_below, named_programs, obeyed_in_place

EMPTY_SETTINGS = "{}\n"  # some agents don't start with an empty file, which is no JSON
MOST_ENTRIES = 1_000  # at the top of a home; each is an argument of the sandbox program
DEEP, MOST_INSIDE = 2, 500  # levels and number of entries that are shown singly; folders below are read-only
COPY_BYTES, MOST_COPIES = 4 << 20, 100  # size of a copied file, and number of them, as each needs a descriptor
COPIED_BYTES = 32 << 20  # of all copies together, which take memory for as long as the agent lives


class HomeView(Struct, frozen=True):
    """A home as a program in the sandbox sees it: a folder in memory with entries of the real home.

    `kept` can be written, `shown` can't; `links` are made again, `copies` are files in memory with the same content.
    `folders` are folders in memory, in which entries of the real ones are shown likewise.
    """

    path: Path
    kept: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()
    links: tuple[tuple[Path, str], ...] = ()
    copies: tuple[Path, ...] = ()
    memory: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()


class OwnPlaces(Struct, frozen=True):
    """Places of a program's own, which it can write besides the roots, and the paths that stay closed in them.

    `shut` are closed and need not exist; `shut_files` are those of them that are files. `views` are homes in memory.
    """

    places: tuple[Path, ...] = ()
    shut: tuple[Path, ...] = ()
    shut_files: frozenset[Path] = frozenset()
    views: tuple[HomeView, ...] = ()

    @property
    def kept_paths(self) -> tuple[Path, ...]:
        """The paths that the program can write and its next run reads."""
        return (*self.places, *(path for view in self.views for path in view.kept))


NO_OWN_PLACES = OwnPlaces()


def own_homes(kind: str, places: Sequence[Path], env: Mapping[str, str]) -> OwnPlaces:
    """Return an agent's own places as they are now, and make its kept files and folders. `places`: all of its own."""
    homes = homes_of(kind, env)
    for home, keeps in homes:
        _make(home, keeps)
    others = [place for place in places if all(place != home for home, _ in homes)]
    for place in others:
        if not os.path.lexists(place) and not place.suffix:  # a name with a suffix is a file's
            place.mkdir(mode=0o700, parents=True)
    real = [(_real(home), keeps) for home, keeps in homes]
    named = tuple(named_programs([home for home, _ in real], env))
    views = [_protect_named(_view(home, keeps), named) for home, keeps in real if home.is_dir()]
    kept = [
        _real(path)  # the person has moved it elsewhere by a link
        for home, keeps in real
        for path in (home / name for name in (*keeps.folders, *keeps.files, *keeps.empty_files))
        if path.is_symlink()
    ]
    found = [path for place in others for path in obeyed_in_place(_real(place))]
    shut = (
        *(path for pair in zip(homes, real, strict=True) for path, _ in pair),
        *(_real(path) for view in views for path, _ in view.links),
        *(path for view in views for path in _led_elsewhere(view)),
        *(Path(env[name]) for name in SETTINGS_VARIABLES.get(kind, ()) if env.get(name, "").startswith("/")),
        *named,
        *found,
    )
    return OwnPlaces(
        places=tuple(filter(os.path.lexists, (*others, *kept))),
        shut=tuple(dict.fromkeys(path for path in shut if path not in kept)),
        shut_files=frozenset(path for path in shut if path.suffix or path.name == ".env"),
        views=tuple(views),
    )


def _led_elsewhere(view: HomeView) -> Iterator[Path]:
    """Yield the targets of links in the settings of a home that lie outside it."""
    yield from (path for folder in view.shown for path in links_below(folder) if not lies_in(path, view.path))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _make(home: Path, keeps: KeptNames) -> None:
    """Make a home with the files and folders that the agent keeps in it."""
    if keeps.file:
        if home.parent.is_dir():
            _create(home, EMPTY_SETTINGS)
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in keeps.folders:
        with contextlib.suppress(OSError):  # a dangling link or a file stays as it is
            (home / name).mkdir(mode=0o700, exist_ok=True)
    for name in keeps.empty_files:
        _create(home / name, "")


def _create(file: Path, text: str) -> None:
    """Make a file if it is missing, so that it can be mounted."""
    with contextlib.suppress(OSError):  # a link, a directory or another user's file stays as it is
        made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if text and os.fstat(made).st_size == 0:  # two agents that start at once write the same
                os.write(made, text.encode())
        finally:
            os.close(made)


class _Draft(Struct):
    """The view of a home while it is put together."""

    kept: list[Path] = field(default_factory=list)
    shown: list[Path] = field(default_factory=list)
    links: list[tuple[Path, str]] = field(default_factory=list)
    copies: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    room: int = COPIED_BYTES

    def add_unknown(self, entry: "os.DirEntry[str]", deeper: int = DEEP) -> None:
        """Show an entry that the table does not know: read-only if the agent obeys it, else as a copy in memory.

        Agents open files of their state for writing at each start; changes of the copy go with the agent.
        """
        with contextlib.suppress(FileNotFoundError):  # the files of an agent that a person runs as well come and go
            self._add(entry, deeper)

    def _add(self, entry: "os.DirEntry[str]", deeper: int) -> None:
        path, folder = Path(entry), entry.is_dir(follow_symlinks=False)
        if entry.is_symlink():
            self.links.append((path, str(path.readlink())))
        elif folder and deeper and not is_obeyed_by_name(entry) and (inside := self._list_if_small(path)) is not None:
            self.folders.append(path)
            for below in inside:
                self.add_unknown(below, deeper - 1)
        elif folder or not entry.is_file(follow_symlinks=False):
            self.shown += [path] if folder else []  # another process may listen at a pipe or a socket
        elif (
            is_obeyed_by_name(entry)
            or len(self.copies) >= MOST_COPIES
            or entry.stat().st_size > min(COPY_BYTES, self.room)
        ):
            self.shown.append(path)
        else:
            self.copies.append(path)
            self.room -= entry.stat().st_size

    def _list_if_small(self, folder: Path) -> "list[os.DirEntry[str]] | None":
        """List a folder that can be shown entry by entry; None: it has too many entries, or may not be listed."""
        with contextlib.suppress(OSError):
            return _entries(folder, MOST_INSIDE - len(self.folders) - len(self.shown) - len(self.copies))
        return None


def _view(home: Path, keeps: KeptNames) -> HomeView:
    draft = _Draft()
    found = _entries(home, MOST_ENTRIES)
    if found is None:
        raise OSError(f"{home} has more than the {MOST_ENTRIES} entries that a sandbox shows; move some of them away")
    for entry in found:
        folder = entry.is_dir(follow_symlinks=False)
        if entry.is_symlink():
            draft.add_unknown(entry)
        elif entry.name in (keeps.folders if folder else (*keeps.files, *keeps.empty_files)):
            draft.kept.append(Path(entry))
        elif entry.name in keeps.copies and not folder:
            draft.copies.append(Path(entry))
        elif entry.name in keeps.empty_folders and folder:
            draft.folders.append(Path(entry))
        else:
            draft.add_unknown(entry)
    memory = tuple(home / name for name in keeps.memory if (home / name).parent in draft.kept)
    for path in memory:
        path.mkdir(mode=0o700, exist_ok=True)
    return HomeView(
        home,
        tuple(draft.kept),
        tuple(draft.shown),
        tuple(draft.links),
        tuple(draft.copies),
        memory,
        tuple(draft.folders),
    )


def _entries(folder: Path, most: int) -> "list[os.DirEntry[str]] | None":
    """List a folder in order; None: there are more than `most` entries."""
    with os.scandir(folder) as entries:
        found = list(islice(entries, max(0, most) + 1))
    return None if len(found) > most else sorted(found, key=lambda entry: entry.name)


def _protect_named(view: HomeView, named: Sequence[Path]) -> HomeView:
    """Make scripts that settings name read-only in kept folders, and mount the folders that lead to them."""
    inside = [(path, top) for path in named for top in view.kept if lies_in(path, top) and path != top]
    between = (folder for path, top in inside for folder in path.parents if lies_in(folder, top) and folder != top)
    kept = dict.fromkeys((*view.kept, *between))
    shown = dict.fromkeys((*view.shown, *(path for path, _ in inside)))
    return structs.replace(view, kept=tuple(sorted(kept)), shown=tuple(sorted(shown)))
