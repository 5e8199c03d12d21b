"""Find what git takes for a repository, and its files that name programs for git to start. Looks, starts nothing.

Git reads configuration from `.git`, from the target of a `.git` file, and from any folder that holds HEAD, objects
and refs. Configuration names hooks and further configuration files; those may lie anywhere, also in the open tree.
"""

import functools
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar

from supervisor.agent.reading import read_ordinary
from supervisor.agent.work_tree import COMMON, GIT, HEAD, STORES, makes_repository

T = TypeVar("T")

# In a folder that is a repository itself: the names that git reads programs from, or the places of programs.
OWN = (HEAD, COMMON, *STORES, "config", "config.worktree", "hooks", "info", "packed-refs", "modules", "worktrees")
SET_ASIDE, GIT_SET_ASIDE = "HEAD.set-aside-by-greenroom", ".git.set-aside-by-greenroom"
POINTER_BYTES = 8 * 1024  # a path has 4 KiB at most
CONFIG_BYTES = 256 * 1024
INCLUDES = 16  # files that one configuration includes; further ones are not looked at
# The search for repositories below a root. The first takes some 20 ms, the next 1 ms.
DEPTH, FOLDERS, NESTED = 3, 400, 64
REMEMBERED, LARGEST = 1_000, 4 * NESTED  # roots whose repositories are remembered, and the most remembered for each
LISTINGS = 20_000  # folders whose listings are kept; some 100 bytes each
SETTLED_NS = 2_000_000_000  # a listing younger than a file system's coarsest clock may change without showing it

NAMING = frozenset({("core", "hookspath"), ("include", "path"), ("includeif", "path")})
HEADER = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
ENTRY = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=(.*))?$", re.DOTALL)


def behind(git: Path) -> Iterator[Path]:
    """Yield `.git`, and the targets of a `.git` file: a worktree's own part and the part that all worktrees share."""
    if not git.exists():
        return
    yield git.resolve()
    if git.is_file() and (own := _points_to(git, "gitdir:")) is not None:
        yield own
        if (shared := _points_to(own / COMMON, "")) is not None:
            yield shared


def is_repository(folder: Path) -> bool:
    """Tell whether git takes the folder itself for a repository, without `.git`."""
    return makes_repository(lambda name: os.path.lexists(folder / name))


def below(root: Path) -> Iterator[Path]:
    """Yield the closed parts of all repositories below a root. A `.git` may be a file that names another place."""
    for folder, git in _remembered(root):
        if git is None:
            yield from parts_of(folder)
            stores: tuple[Path, ...] = (folder,)
        elif git.is_dir() and not git.is_symlink():
            yield git
            stores = (git,)
        else:
            yield git
            stores = tuple(store for store in behind(git) if store != git and is_repository(store))
            yield from stores
        yield from named_by_config(folder, stores)


def _remembered(root: Path) -> Iterator[tuple[Path, Path | None]]:
    """Yield the repositories found now, then those found earlier: new folders must not crowd known ones out."""
    found = dict.fromkeys(nested(root))
    known = _known.get(root, {})
    kept = {one: None for one in known if one not in found and os.path.lexists(one[1] or one[0] / HEAD)}
    if found.keys() != known.keys():
        if len(_known) >= REMEMBERED:
            _known.clear()
        _known[root] = dict(islice({**kept, **found}.items(), LARGEST))
    yield from found
    yield from kept


def parts_of(bare: Path) -> Iterator[Path]:
    """Yield the parts of a bare repository from which git reads programs, or the places of programs."""
    yield from (bare / name for name in OWN if os.path.lexists(bare / name) or name == "hooks")


def around(folder: Path) -> tuple[Path, ...]:
    """Return the folders above a folder that is no repository, up to and with the first that is a repository."""
    found: list[Path] = []
    for above in folder.parents:
        found.append(above)
        if os.path.lexists(above / GIT) or is_repository(above):
            break
    return tuple(found)


def named_by_config(folder: Path, stores: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of hooks and the configuration files that a repository names; they need not exist."""
    files = deque(file for store in stores for file in (store / "config", store / "config.worktree"))
    files.extend(_yours(Path("~").expanduser()))
    seen: set[Path] = set(files)
    while files:
        file = files.popleft()
        for section, value in _naming(file):
            if section == "core":
                hooks = _hooks(folder / _expanded(value))
                if not folder.is_relative_to(hooks):  # otherwise the whole repository would be closed
                    yield hooks
            else:
                included = file.parent / _expanded(value)
                if included not in seen and len(seen) < INCLUDES:
                    seen.add(included)
                    files.append(included)
                    yield included


@functools.cache
def _yours(home: Path) -> tuple[Path, ...]:
    return home / ".gitconfig", home / ".config/git/config", Path("/etc/gitconfig")


def nested(root: Path) -> Iterator[tuple[Path, Path | None]]:
    """Yield each repository below a root and its `.git`, the shallow ones first, as far as the bounds reach.

    None in place of `.git`: the folder is itself the repository. Links to folders are not followed.
    """
    folders = deque([(str(root), 0)])
    looked = found = 0
    while folders and looked < FOLDERS and found < NESTED:
        folder, depth = folders.popleft()
        looked += 1
        names = _inside(folder)
        bare = set(STORES).issubset(names) and is_repository(Path(folder))
        if bare and depth:
            found += 1
            yield Path(folder), None
        for name in names:
            if name.casefold() == GIT:
                if depth and found < NESTED:
                    found += 1
                    yield Path(folder), Path(folder, name)
            elif depth < DEPTH and not (bare and name in OWN):
                folders.append((f"{folder.rstrip('/')}/{name}", depth + 1))


def entries(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield section and key in lower case, and the value, as git-config(1) describes the format."""
    section = ""
    for line in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        rest = line
        if header := HEADER.match(line):
            section, rest = header[1].lower(), line[header.end() :]
        if entry := ENTRY.match(rest):
            yield section, entry[1].lower(), _value(entry[2] or "")


def _value(text: str) -> str:
    told, quoted, characters = "", False, iter(text)
    for one in characters:
        if one == "\\":
            told += next(characters, "")
        elif one == '"':
            quoted = not quoted
        elif one in "#;" and not quoted:
            break
        else:
            told += one
    return told.strip()


def _hooks(folder: Path) -> Path:
    """Return the parent of `.husky/_`: the programs in `_` start those beside it."""
    return folder.parent if folder.name == "_" else folder


def _expanded(value: str) -> Path:
    try:
        return Path(value.replace("\0", "")).expanduser()
    except RuntimeError:  # no such user
        return Path(value)


class _Memory(Generic[T]):
    """Readings by file or folder, made again only when that has changed. Any thread: each step is a single one."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[tuple[int, int], T]] = {}

    def of(self, found: os.stat_result, read: Callable[[], T]) -> T:
        place, state = (found.st_dev, found.st_ino), (found.st_ctime_ns, found.st_size)
        known = self._known.get(place)
        if known is not None and known[0] == state:
            return known[1]
        told = read()
        if time.time_ns() - found.st_ctime_ns > SETTLED_NS:
            if len(self._known) >= LISTINGS:
                self._known.clear()
            self._known[place] = (state, told)
        return told


_known: dict[Path, dict[tuple[Path, Path | None], None]] = {}  # any thread, too
_named = _Memory[tuple[tuple[str, str], ...]]()
_listings = _Memory[tuple[str, ...]]()


def _inside(folder: str) -> tuple[str, ...]:
    """List a folder's subfolders, and its `.git` of any kind."""

    def listed() -> tuple[str, ...]:
        with os.scandir(folder) as entries_:
            return tuple(one.name for one in entries_ if _is_git(one) or one.is_dir(follow_symlinks=False))

    try:
        found = os.stat(folder, follow_symlinks=False)  # noqa: PTH116 - four hundred times a command
        return _listings.of(found, listed)
    except OSError:  # gone, or we may not list it: then we may not change it either
        return ()


def _is_git(entry: os.DirEntry[str]) -> bool:
    return entry.name.casefold() == GIT


def _naming(file: Path) -> tuple[tuple[str, str], ...]:
    """Return the settings that name programs or further files."""
    try:
        found = os.stat(file)  # noqa: PTH116 - two for each repository and command
    except (OSError, ValueError):
        return ()
    return _named.of(
        found,
        lambda: tuple((section, value) for section, key, value in entries(_text(file)) if (section, key) in NAMING),
    )


def _text(file: Path) -> str:
    try:
        return read_ordinary(file, CONFIG_BYTES).decode("utf-8-sig", "surrogateescape")
    except (OSError, ValueError):
        return ""


def _points_to(file: Path, label: str) -> Path | None:
    try:
        line = read_ordinary(file, POINTER_BYTES).decode("utf-8").strip()
        target = file.parent / line.removeprefix(label).strip()
        return target.resolve() if line.startswith(label) and target.exists() else None
    except (OSError, ValueError, RuntimeError):  # not a path: no text, or a NUL in it
        return None
