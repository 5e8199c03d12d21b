"""The directories that workspace-write opens, and the paths in them that stay closed, for commands and patches alike.

Opens pinned directories only; changes nothing. Blocking, for a worker thread.
"""

import contextlib
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, field

from actors.vocabulary.settings import Pin, SandboxPolicy, WorkspaceWrite
from supervisor.disk.folders import PASS, lies_in, open_below, open_folder
from supervisor.disk.pins import Moved, open_pinned
from supervisor.disk.work_tree import GIT, HEAD, is_work_tree
from supervisor.disk.workspace import projects
from supervisor.work.reach.found_settings import MOST_CLOSED, FoundSettings, closed_by, find_settings, setting_around
from supervisor.work.reach.home_views import NOTHING, Own
from supervisor.work.reach.obeyed import Obeyed, obeyed_in
from supervisor.work.reach.project_settings import Setting
from supervisor.work.reach.repositories import Found, around, is_repository


class Protection(Struct, frozen=True):
    """Greenroom's own files, which no command and no patch may change, wherever the roots lie.

    `closed` and `files` are read-only and must not be created, `hidden` is not even visible.

    A relative file is in the conversation's directory.
    """

    closed: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()


NAME_BYTES = 255
MOST_LINKS = 40  # on one way, as the kernel has it


class Root(Struct, frozen=True):
    """A writable directory, held open: it is mounted and written to as itself, whatever its name means by then."""

    path: Path
    folder: int

    def identity(self) -> tuple[int, int]:
        found = os.fstat(self.folder)
        return found.st_dev, found.st_ino


class Link(Struct, frozen=True):
    """A link on the way to what is closed, or a `.git` that is one, and its target: no mount keeps it what it is."""

    place: Root
    name: str
    target: str


class Roots(Struct, frozen=True):
    """Resolved paths. `closed` paths lie in a root or above it; those that don't exist must not be created.

    `files` are the closed paths that would be files. `plain` are folders in which git must find no repository after a
    command: projects that are none, and the writable folders above them, where git looks next. `projects` are the
    writable directories that are somebody's project.
    """

    writable: tuple[Root, ...] = ()
    closed: tuple[Path, ...] = ()
    files: frozenset[Path] = frozenset()
    hidden: tuple[Path, ...] = ()
    plain: tuple[Root, ...] = ()
    projects: tuple[Root, ...] = ()
    below: Mapping[Path, Found] = MappingProxyType({})  # the repositories below each project
    links: tuple[Link, ...] = ()
    settings: Mapping[Path, FoundSettings] = MappingProxyType({})  # of agents and editors, by project
    leading: Mapping[Path, str] = MappingProxyType({})  # closed paths of these, with whom they lead
    notices: tuple[str, ...] = field(default=())

    def over(self, path: Path) -> Root | None:
        """Return the innermost root that the path lies in."""
        holding = (root for root in self.writable if lies_in(path, root.path))
        return max(holding, key=lambda root: len(root.path.parts), default=None)


@contextlib.contextmanager
def opened(
    policy: SandboxPolicy,
    cwd: Path,
    pins: Sequence[Pin],
    protection: Protection,
    own: Own = NOTHING,
    env: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Roots]:
    """Open the roots; their descriptors live as long as the context. `env`: the client's, by which git is led."""
    with contextlib.ExitStack() as stack:
        yield _roots(policy, cwd, pins, protection, own, env, stack)


def _roots(
    policy: SandboxPolicy,
    cwd: Path,
    pins: Sequence[Pin],
    protection: Protection,
    own: Own,
    env: Mapping[str, str],
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
        if (around_it := setting_around(pin.path)) is not None:
            notices.append(f"{pin.path} is not writable: {around_it[0]} leads {around_it[1].who}")
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
    settings = {path: find_settings(path) for path in sorted(found) if path in chosen}
    led = {path: tuple(islice(closed_by(path, one), MOST_CLOSED + 1)) for path, one in settings.items()}
    for path in (path for path, closed in led.items() if len(closed) > MOST_CLOSED):
        notices.append(f"{path} is not writable: agents and editors obey more in it than can be closed; make it less")
        del found[path]
    mine = tuple(found[path] for path in settings if path in found)
    for place in own.places:
        if (root := _place(place, pins, notices, stack)) is not None:
            found.setdefault(root.path, root)
    shut = {_real(path.parent) / path.name for path in own.shut}
    files = {_real(cwd / file) for file in protection.files}
    hidden = _outermost(map(_real, protection.hidden))
    plain = [root for root in mine if not (is_work_tree(str(root.path)) or is_repository(root.path))]
    outer = {root.path: around(root.path) for root in plain}
    by_git = [obeyed_in(root.path, env) for root in mine]
    notices += _leave_out(found, by_git)
    writable = tuple(found[path] for path in sorted(found))
    above = _writable_above(outer, writable, stack)
    kept_plain = (*plain, *(root for root in above if not is_repository(root.path)))
    links: dict[tuple[Path, str], Link] = {}
    git_files, git_folders = _of_git(by_git, writable, links, stack)
    of_ours = (path for path in map(_real, protection.closed) if not _in_any(path, hidden))
    of_git = (*git_folders, *git_files, *_scratch_git(mine, writable), *(root.path / GIT for root in above))
    makes_one = (root.path / HEAD for root in kept_plain)
    open_projects = tuple(root for root in mine if root.path in found)
    of_settings = (item for root in open_projects for item in led[root.path])
    homes = (view.path for view in own.views)
    leading = dict(_of_settings(of_settings, writable, (*own.written, *homes)))
    wanted = dict.fromkeys((*of_git, *makes_one, *of_ours, *files, *shut, *leading))
    return Roots(
        writable=writable,
        closed=tuple(path for path in sorted(wanted) if _meets(path, writable) and not _in_any(path, hidden)),
        files=frozenset({*files, *git_files, *(_real(path.parent) / path.name for path in own.shut_files)}),
        hidden=tuple(path for path in hidden if path.exists() or _meets(path, writable)),
        plain=kept_plain,
        projects=open_projects,
        below={one.root: one.below for one in by_git},
        links=tuple(links.values()),
        settings={root.path: settings[root.path] for root in open_projects},
        leading=leading,
        notices=tuple(notices),
    )


def _leave_out(found: dict[Path, Root], by_git: Sequence[Obeyed]) -> Iterator[str]:
    """Drop the roots in which more is obeyed than can be closed; yield a text about each, and each folder in one."""
    for path, why in dict(item for one in by_git for item in one.whole.items()).items():
        left_out = [root for root in found if lies_in(root, path)]
        for root in left_out:
            del found[root]
        for closed in left_out or [path]:
            yield f"{closed} is not writable, because not all that git obeys there can be closed: {why}"


def _of_settings(
    led: Iterable[tuple[Path, Setting]], writable: Sequence[Root], own: Sequence[Path]
) -> Iterator[tuple[Path, str]]:
    """Yield the paths of agents' and editors' settings to close, but what a program that runs keeps for itself."""
    paths, places = [root.path for root in writable], [*map(_real, own)]
    for path, setting in led:
        inside = path not in paths and _in_any(path, paths)
        if inside and not any(lies_in(path, place) or lies_in(place, path) for place in places):
            yield path, setting.who


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
    obeyed: Sequence[Obeyed],
    writable: Sequence[Root],
    links: dict[tuple[Path, str], Link],
    stack: contextlib.ExitStack,
) -> tuple[set[Path], set[Path]]:
    """Return the files and the folders in the roots that git obeys, and note the links on the way to them."""
    paths = [root.path for root in writable]
    files, folders = set[Path](), set[Path]()
    places = dict.fromkeys(place for one in obeyed for place in one.places)
    whole = (path for one in obeyed for path in one.whole)
    for path, is_file in (*((place.path, place.is_file) for place in places), *((path, False) for path in whole)):
        is_git = path.name.casefold() == GIT
        real, met = _traced(path.parent if is_git else path)
        if is_git:  # if it is a link, anybody may have named what it leads to
            real /= path.name
            met = (*met, real) if real.is_symlink() else met
        for link in met:
            if _in_any(link.parent, paths) and (link.parent, link.name) not in links:
                with contextlib.suppress(OSError):  # another way is closed, or it is gone
                    links[link.parent, link.name] = _held_link(link, stack)
                folders.add(link)
        closed = _closable(real)
        if any(len(os.fsencode(part)) > NAME_BYTES for part in closed.parts):
            continue  # no file system can have it
        if closed not in paths and _in_any(closed, paths):
            (files if is_file and closed == real else folders).add(closed)
    return files, folders - files


def _held_link(link: Path, stack: contextlib.ExitStack) -> Link:
    folder = open_folder(link.parent)
    stack.callback(os.close, folder)
    return Link(Root(link.parent, folder), link.name, os.readlink(link.name, dir_fd=folder))


def _closable(path: Path) -> Path:
    """Return the path, or the file that stands where a folder on the way to it would be."""
    for above in path.parents:
        if above.is_dir():
            return path
        if os.path.lexists(above):
            path = above
    return path


def _scratch_git(projects_: Sequence[Root], writable: Sequence[Root]) -> Iterator[Path]:
    """Yield the `.git` of temporary directories.

    One that points elsewhere closes nothing: any command could put it there, and so close another project's
    directory, or the whole disk.
    """
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


def _traced(path: Path) -> tuple[Path, tuple[Path, ...]]:
    """Resolve a path, whether it is there or not; return the links that were met, too."""
    at, ahead, met = Path("/"), deque(path.parts[1:]), list[Path]()
    while ahead:
        name = ahead.popleft()
        if name == "..":
            at = at.parent
            continue
        try:
            target = (at / name).readlink()
        except (OSError, ValueError):  # no link; not there; a NUL
            at /= name
            continue
        met.append(at / name)
        if len(met) > MOST_LINKS:
            break
        at = Path("/") if target.is_absolute() else at
        ahead.extendleft(reversed(target.parts[1:] if target.is_absolute() else target.parts))
    return at, tuple(met)
