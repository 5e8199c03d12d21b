"""The directories that workspace-write opens, and the paths in them that stay closed, for commands and patches alike.

Opens pinned directories only; changes nothing. Blocking, for a worker thread.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from actors.vocabulary.settings import Pin, SandboxPolicy, WorkspaceWrite
from supervisor.agent.folders import PASS, lies_in, open_below, open_folder
from supervisor.agent.pins import Moved, open_pinned
from supervisor.agent.repositories import around, behind, below, is_repository, named_by_config, parts_of
from supervisor.agent.work_tree import GIT
from supervisor.agent.workspace import projects


class Protection(Struct, frozen=True):
    """Greenroom's own files, which no command and no patch may change, wherever the roots lie.

    `closed` and `files` are read-only and must not be created, `hidden` is not even visible.

    A relative file is in the conversation's directory.
    """

    closed: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()


class Own(Struct, frozen=True):
    """Places that a program keeps its own things in, writable beside the roots, and what stays shut in them.

    `shut` need not exist; `shut_files` are those that would be files.
    """

    places: tuple[Path, ...] = ()
    shut: tuple[Path, ...] = ()
    shut_files: frozenset[Path] = frozenset()


NOTHING = Own()


class Root(Struct, frozen=True):
    """A writable directory, held open: it is mounted and written to as itself, whatever its name means by then."""

    path: Path
    folder: int

    def identity(self) -> tuple[int, int]:
        found = os.fstat(self.folder)
        return found.st_dev, found.st_ino


class Roots(Struct, frozen=True):
    """Resolved paths. `closed` paths lie in a root or above it; those that don't exist must not be created.

    `files` are the closed paths that would be files. `plain` are folders in which git must find no repository after a
    command: projects that are none, and the writable folders above them, where git looks next.
    """

    writable: tuple[Root, ...] = ()
    closed: tuple[Path, ...] = ()
    files: frozenset[Path] = frozenset()
    hidden: tuple[Path, ...] = ()
    plain: tuple[Root, ...] = ()
    links: tuple[tuple[Root, str], ...] = ()  # projects whose `.git` is a link, and its target
    notices: tuple[str, ...] = field(default=())

    def over(self, path: Path) -> Root | None:
        """Return the innermost root that the path lies in."""
        holding = (root for root in self.writable if lies_in(path, root.path))
        return max(holding, key=lambda root: len(root.path.parts), default=None)


@contextlib.contextmanager
def opened(
    policy: SandboxPolicy, cwd: Path, pins: Sequence[Pin], protection: Protection, own: Own = NOTHING
) -> Iterator[Roots]:
    """Open the roots. Their descriptors live as long as the context."""
    with contextlib.ExitStack() as stack:
        yield _roots(policy, cwd, pins, protection, own, stack)


def _roots(
    policy: SandboxPolicy,
    cwd: Path,
    pins: Sequence[Pin],
    protection: Protection,
    own: Own,
    stack: contextlib.ExitStack,
) -> Roots:
    named = set(projects(policy, cwd)) if isinstance(policy, WorkspaceWrite) else set()
    found: dict[Path, Root] = {}
    chosen, notices = set[Path](), list[str]()
    for pin in (
        pins if isinstance(policy, WorkspaceWrite) else ()
    ):  # a command may be given less than its conversation
        if pin.path is None:  # that was told when the conversation was made
            continue
        try:
            folder = open_pinned(pin.path, pin)
        except Moved as closed:
            notices.append(str(closed))
            continue
        stack.callback(os.close, folder)
        found.setdefault(pin.path, Root(pin.path, folder))
        if pin.name in named:
            chosen.add(pin.path)
    mine = tuple(found[path] for path in sorted(found) if path in chosen)
    for place in own.places:
        if (root := _place(place, pins, notices, stack)) is not None:
            found.setdefault(root.path, root)
    writable = tuple(found[path] for path in sorted(found))
    shut = {_real(path.parent) / path.name for path in own.shut}
    files = {_real(cwd / file) for file in protection.files}
    hidden = _outermost(map(_real, protection.hidden))
    plain = [root for root in mine if not (root.path / GIT).exists() and not is_repository(root.path)]
    outer = {root.path: around(root.path) for root in plain}
    above = _writable_above(outer, writable, stack)
    of_ours = (path for path in map(_real, protection.closed) if not _in_any(path, hidden))
    of_git = (*_of_git(mine, writable, outer), *(root.path / GIT for root in above))
    wanted = dict.fromkeys((*of_git, *of_ours, *files, *shut))
    return Roots(
        writable=writable,
        closed=tuple(path for path in sorted(wanted) if _meets(path, writable) and not _in_any(path, hidden)),
        files=frozenset({*files, *(_real(path.parent) / path.name for path in own.shut_files)}),
        hidden=tuple(path for path in hidden if path.exists() or _meets(path, writable)),
        plain=(*plain, *(root for root in above if not is_repository(root.path))),
        links=tuple((root, str((root.path / GIT).readlink())) for root in mine if (root.path / GIT).is_symlink()),
        notices=tuple(notices),
    )


def _place(place: Path, pins: Sequence[Pin], notices: list[str], stack: contextlib.ExitStack) -> Root | None:
    """Open a place of the program's own. A link in what commands may write is not followed: they may have made it."""
    real = _real(place)
    for pin in pins:
        if pin.path is not None and lies_in(place, pin.name) and real != pin.path / place.relative_to(pin.name):
            notices.append(f"{place} is not writable for the agent: it is reached by a link in {pin.name}")
            return None
    try:
        folder = open_below(open_folder(real.parent), (real.name,), PASS)
    except OSError as error:
        notices.append(f"{place} is not writable for the agent: {error.strerror}")
        return None
    stack.callback(os.close, folder)
    return Root(real, folder)


def _writable_above(
    outer: Mapping[Path, Sequence[Path]], writable: Sequence[Root], stack: contextlib.ExitStack
) -> tuple[Root, ...]:
    """Return the writable folders in which git looks next for the repository of a project that is none."""
    paths = [root.path for root in writable]
    found: dict[Path, Root] = {}
    for path in dict.fromkeys(path for above in outer.values() for path in above):
        if path not in outer and _in_any(path, paths):
            folder = open_folder(path)
            stack.callback(os.close, folder)
            found[path] = Root(path, folder)
    return tuple(found.values())


def _of_git(
    projects_: Sequence[Root], writable: Sequence[Root], outer: Mapping[Path, Sequence[Path]]
) -> Iterator[Path]:
    """Yield git's paths to close. `outer`: for projects that are no repository, the folders where git looks next."""
    paths = [root.path for root in writable]
    for root in projects_:
        yield root.path / GIT
        stores = tuple(behind(root.path / GIT))
        yield from stores
        folder = root.path
        if is_repository(folder):
            yield from parts_of(folder)
            stores = (*stores, folder)
        elif above := outer.get(folder):  # the hooks of a repository around it may lie in the root
            folder = above[-1]
            stores = (*behind(folder / GIT), folder)
            if is_repository(folder):
                yield from parts_of(folder)
        found = (*map(_real, named_by_config(folder, stores)), *map(_real_above, below(root.path)))
        yield from (path for path in found if path not in paths and _in_any(path, paths))
    # In a temporary directory a `.git` that points elsewhere closes nothing: any command could put it there, and so
    # close another project's directory, or the whole disk.
    scratch = (root.path / GIT for root in writable if root not in projects_)
    yield from (git for git in scratch if git.is_dir() and not git.is_symlink())


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Drop paths inside others: nothing needs hiding inside a hidden folder."""
    found: list[Path] = []
    for path in sorted(paths):
        if not _in_any(path, found):
            found.append(path)
    return tuple(found)


def _in_any(path: Path, folders: Iterable[Path]) -> bool:
    return any(lies_in(path, folder) for folder in folders)


def _meets(path: Path, roots: Iterable[Root]) -> bool:
    """Tell whether a path concerns a root. A root itself stays open, whatever a configuration names."""
    return any(path != root.path and (lies_in(path, root.path) or lies_in(root.path, path)) for root in roots)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _real_above(path: Path) -> Path:
    """Resolve a path found below a root, but not a `.git`, which may itself be a link."""
    return path if path.name.casefold() == GIT else _real(path)
