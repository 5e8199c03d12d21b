"""The homes of an agent as its sandbox shows them. Blocking: looks at the disk, and makes what is kept there.

A home that a table knows is a folder in memory there. It shows the entries of the real one, of which those in the
table can be written; what else is made in it goes with the agent. Places that no table knows are open, but for the
settings and programs in them that are recognised.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct, field, structs

from supervisor.disk.folders import lies_in
from supervisor.work.reach.agent_homes import LED_BY, Keeps, homes_of
from supervisor.work.reach.leading_files import is_leading, links_below, named_programs, recognised

EMPTY_SETTINGS = "{}\n"  # an empty file is no JSON, and some agents don't start with one
MOST_ENTRIES = 1_000  # at the top of a home; each is an argument of the sandbox's
DEEP, MOST_INSIDE = 2, 500  # how deep, and how many entries are shown one by one; below that nothing can be changed
COPY_BYTES, MOST_COPIES = 4 << 20, 100  # of a file that is copied; and how many are, as each is a descriptor
COPIED_BYTES = 32 << 20  # of all of them together, which are memory for as long as the agent lives


class HomeView(Struct, frozen=True):
    """A home as a program in the sandbox sees it: a folder in memory, and what is shown in it of the real one.

    `kept` can be written, `shown` can't; `links` are made anew, `copies` are files of its own with the same content.
    `folders` are folders of its own, in which the entries of the real ones are shown likewise.
    """

    path: Path
    kept: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()
    links: tuple[tuple[Path, str], ...] = ()
    copies: tuple[Path, ...] = ()
    memory: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()


class Own(Struct, frozen=True):
    """Places that a program keeps its own things in, writable beside the roots, and what stays shut in them.

    `shut` need not exist; `shut_files` are those that would be files. `views` are homes that it sees in memory.
    """

    places: tuple[Path, ...] = ()
    shut: tuple[Path, ...] = ()
    shut_files: frozenset[Path] = frozenset()
    views: tuple[HomeView, ...] = ()

    @property
    def written(self) -> tuple[Path, ...]:
        """All that it can write and another life of it reads."""
        return (*self.places, *(path for view in self.views for path in view.kept))


NOTHING = Own()


def own_homes(kind: str, places: Sequence[Path], env: Mapping[str, str]) -> Own:
    """Return an agent's own places as they are now; what it keeps things in is made. `places` are all that it has."""
    homes = homes_of(kind, env)
    for home, keeps in homes:
        _make(home, keeps)
    others = [place for place in places if all(place != home for home, _ in homes)]
    for place in others:
        if not os.path.lexists(place) and not place.suffix:  # a name with a suffix is a file's
            place.mkdir(mode=0o700, parents=True)
    real = [(_real(home), keeps) for home, keeps in homes]
    named = tuple(named_programs([home for home, _ in real], env))
    views = [_holding(_view(home, keeps), named) for home, keeps in real if home.is_dir()]
    kept = [
        _real(path)  # elsewhere, by a link of the person's
        for home, keeps in real
        for path in (home / name for name in (*keeps.folders, *keeps.files, *keeps.begun))
        if path.is_symlink()
    ]
    found = [path for place in others for path in recognised(_real(place))]
    shut = (
        *(path for pair in zip(homes, real, strict=True) for path, _ in pair),
        *(_real(path) for view in views for path, _ in view.links),
        *(path for view in views for path in _led_elsewhere(view)),
        *(Path(env[name]) for name in LED_BY.get(kind, ()) if env.get(name, "").startswith("/")),
        *named,
        *found,
    )
    return Own(
        places=tuple(filter(os.path.lexists, (*others, *kept))),
        shut=tuple(dict.fromkeys(path for path in shut if path not in kept)),
        shut_files=frozenset(path for path in shut if path.suffix or path.name == ".env"),
        views=tuple(views),
    )


def _led_elsewhere(view: HomeView) -> Iterator[Path]:
    """Yield where links in the settings of a home lead out of it."""
    yield from (path for folder in view.shown for path in links_below(folder) if not lies_in(path, view.path))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _make(home: Path, keeps: Keeps) -> None:
    """Make a home, and what the agent keeps in it."""
    if keeps.file:
        if home.parent.is_dir():
            _begin(home, EMPTY_SETTINGS)
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in keeps.folders:
        with contextlib.suppress(OSError):  # a link to nowhere, a file: that stays what it is
            (home / name).mkdir(mode=0o700, exist_ok=True)
    for name in keeps.begun:
        _begin(home / name, "")


def _begin(file: Path, text: str) -> None:
    """Make a file without anything in it, so that it is there to be mounted."""
    with contextlib.suppress(OSError):  # a link, a directory, one of somebody else's: that stays what it is
        made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if text and os.fstat(made).st_size == 0:  # two that begin at once write the same
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

    def add_unknown(self, one: "os.DirEntry[str]", deeper: int = DEEP) -> None:
        """Show an entry that the table does not know: what leads the agent as it is, all else to be changed.

        The state of an agent that was started by hand is opened for writing at each start; changes go with it.
        """
        with contextlib.suppress(FileNotFoundError):  # an agent that runs by hand as well has files that come and go
            self._add(one, deeper)

    def _add(self, one: "os.DirEntry[str]", deeper: int) -> None:
        path, folder = Path(one), one.is_dir(follow_symlinks=False)
        if one.is_symlink():
            self.links.append((path, str(path.readlink())))
        elif folder and deeper and not is_leading(one) and (inside := self._inside(path)) is not None:
            self.folders.append(path)
            for below in inside:
                self.add_unknown(below, deeper - 1)
        elif folder or not one.is_file(follow_symlinks=False):
            self.shown += [path] if folder else []  # a pipe or a socket may be somebody's ear
        elif is_leading(one) or len(self.copies) >= MOST_COPIES or one.stat().st_size > min(COPY_BYTES, self.room):
            self.shown.append(path)
        else:
            self.copies.append(path)
            self.room -= one.stat().st_size

    def _inside(self, folder: Path) -> "list[os.DirEntry[str]] | None":
        """List a folder that can be shown entry by entry; None: it has too many, or may not be listed."""
        with contextlib.suppress(OSError):
            return _entries(folder, MOST_INSIDE - len(self.folders) - len(self.shown) - len(self.copies))
        return None


def _view(home: Path, keeps: Keeps) -> HomeView:
    draft = _Draft()
    found = _entries(home, MOST_ENTRIES)
    if found is None:
        raise OSError(f"{home} has more than the {MOST_ENTRIES} entries that a sandbox shows; move some of them away")
    for one in found:
        folder = one.is_dir(follow_symlinks=False)
        if one.is_symlink():
            draft.add_unknown(one)
        elif one.name in (keeps.folders if folder else (*keeps.files, *keeps.begun)):
            draft.kept.append(Path(one))
        elif one.name in keeps.copies and not folder:
            draft.copies.append(Path(one))
        elif one.name in keeps.fresh and folder:
            draft.folders.append(Path(one))
        else:
            draft.add_unknown(one)
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
    """List a folder in order; None: there are more than so many."""
    with os.scandir(folder) as entries:
        found = list(islice(entries, max(0, most) + 1))
    return None if len(found) > most else sorted(found, key=lambda one: one.name)


def _holding(view: HomeView, named: Sequence[Path]) -> HomeView:
    """Shut the scripts that settings name in folders that can be written, and hold the folders on the way."""
    inside = [(path, over) for path in named for over in view.kept if lies_in(path, over) and path != over]
    between = (folder for path, over in inside for folder in path.parents if lies_in(folder, over) and folder != over)
    kept = dict.fromkeys((*view.kept, *between))
    shown = dict.fromkeys((*view.shown, *(path for path, _ in inside)))
    return structs.replace(view, kept=tuple(sorted(kept)), shown=tuple(sorted(shown)))
