"""The directories that workspace-write opens, and the paths in them that stay closed, for commands and patches alike.

Opens only pinned directories; changes nothing. Blocking, for a worker thread.
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
from supervisor.disk.workspace import project_directories
from supervisor.work.reach.found_settings import (
    MOST_CLOSED,
    FoundSettings,
    enclosing_setting,
    find_settings,
    paths_to_close,
)
from supervisor.work.reach.home_views import NO_OWN_PLACES, OwnPlaces
from supervisor.work.reach.obeyed_paths import ObeyedPaths, find_obeyed_paths
from supervisor.work.reach.project_settings import ProjectSetting
from supervisor.work.reach.repositories import FoundRepositories, folders_up_to_repository, is_repository


class Protection(Struct, frozen=True):
    """Greenroom's own files, which no command and no patch may change, wherever the roots lie.

    `closed` and `files` are read-only and must not be created, `hidden` is not even visible. A relative file is in
    the conversation's directory.
    """

    closed: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()


NAME_BYTES = 255
MOST_LINKS = 40  # in a path, as in the kernel


class Root(Struct, frozen=True):
    """A writable directory, held open: it is used by its descriptor, as its name may get another meaning."""

    path: Path
    folder: int

    def identity(self) -> tuple[int, int]:
        found = os.fstat(self.folder)
        return found.st_dev, found.st_ino


class LinkOnTheWay(Struct, frozen=True):
    """A link on the way to a closed path, or a `.git` that is a link, with its target: no mount can protect it."""

    place: Root
    name: str
    target: str


class Roots(Struct, frozen=True):
    """Resolved paths. `closed` paths lie in a root or above it; those that don't exist must not be created.

    `files` are the closed paths that are, or would be, files. `plain` are folders in which git must find no
    repository after a command: projects without one, and the writable folders above them, where git looks next.
    `projects` are the writable directories that are projects, and not scratch space.
    """

    writable: tuple[Root, ...] = ()
    closed: tuple[Path, ...] = ()
    files: frozenset[Path] = frozenset()
    hidden: tuple[Path, ...] = ()
    plain: tuple[Root, ...] = ()
    projects: tuple[Root, ...] = ()
    below: Mapping[Path, FoundRepositories] = MappingProxyType({})  # the repositories below each project
    links: tuple[LinkOnTheWay, ...] = ()
    settings: Mapping[Path, FoundSettings] = MappingProxyType({})  # of agents and editors, by project
    obeyed_settings: Mapping[Path, str] = MappingProxyType({})  # closed settings, with the programs that obey them
    notices: tuple[str, ...] = field(default=())

    def innermost_root(self, path: Path) -> Root | None:
        """Return the innermost root that the path lies in."""
        holding = (root for root in self.writable if lies_in(path, root.path))
        return max(holding, key=lambda root: len(root.path.parts), default=None)


@contextlib.contextmanager
def open_roots(
    policy: SandboxPolicy,
    cwd: Path,
    pins: Sequence[Pin],
    protection: Protection,
    own: OwnPlaces = NO_OWN_PLACES,
    env: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Roots]:
    """Open the roots; their descriptors live as long as the context. `env`: the client's, with its git settings."""
    with contextlib.ExitStack() as stack:
        yield _roots(policy, cwd, pins, protection, own, env, stack)


def _roots(
    policy: SandboxPolicy,
    cwd: Path,
    pins: Sequence[Pin],
    protection: Protection,
    own: OwnPlaces,
    env: Mapping[str, str],
    stack: contextlib.ExitStack,
) -> Roots:
    named = set(project_directories(policy, cwd)) if isinstance(policy, WorkspaceWrite) else set()
    found: dict[Path, Root] = {}
    chosen, notices = set[Path](), list[str]()
    for pin in (
        pins if isinstance(policy, WorkspaceWrite) else ()
    ):  # a command's policy may be narrower than its conversation's
        if pin.path is None:  # a notice told so when the conversation was made
            continue
        if (outer_setting := enclosing_setting(pin.path)) is not None:
            notices.append(f"{pin.path} is not writable: {outer_setting[0]} leads {outer_setting[1].who}")
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
    to_close = {
        path: tuple(islice(paths_to_close(path, inside), MOST_CLOSED + 1)) for path, inside in settings.items()
    }
    for path in (path for path, closed in to_close.items() if len(closed) > MOST_CLOSED):
        notices.append(f"{path} is not writable: agents and editors obey more in it than can be closed; make it less")
        del found[path]
    project_roots = tuple(found[path] for path in settings if path in found)
    for place in own.places:
        if (root := _place(place, pins, notices, stack)) is not None:
            found.setdefault(root.path, root)
    shut = {_real(path.parent) / path.name for path in own.shut}
    files = {_real(cwd / file) for file in protection.files}
    hidden = _drop_nested(map(_real, protection.hidden))
    plain = [root for root in project_roots if not (is_work_tree(str(root.path)) or is_repository(root.path))]
    outer = {root.path: folders_up_to_repository(root.path) for root in plain}
    by_git = [find_obeyed_paths(root.path, env) for root in project_roots]
    notices += _leave_out(found, by_git)
    writable = tuple(found[path] for path in sorted(found))
    above = _writable_above(outer, writable, stack)
    kept_plain = (*plain, *(root for root in above if not is_repository(root.path)))
    links: dict[tuple[Path, str], LinkOnTheWay] = {}
    git_files, git_folders = _git_paths(by_git, writable, links, stack)
    our_paths = (path for path in map(_real, protection.closed) if not _in_any(path, hidden))
    git_paths = (
        *git_folders,
        *git_files,
        *_scratch_git(project_roots, writable),
        *(root.path / GIT for root in above),
    )
    heads = (root.path / HEAD for root in kept_plain)
    open_projects = tuple(root for root in project_roots if root.path in found)
    settings_paths = (item for root in open_projects for item in to_close[root.path])
    homes = (view.path for view in own.views)
    leading = dict(_settings_paths(settings_paths, writable, (*own.kept_paths, *homes)))
    wanted = dict.fromkeys((*git_paths, *heads, *our_paths, *files, *shut, *leading))
    return Roots(
        writable=writable,
        closed=tuple(path for path in sorted(wanted) if _meets(path, writable) and not _in_any(path, hidden)),
        files=frozenset({*files, *git_files, *(_real(path.parent) / path.name for path in own.shut_files)}),
        hidden=tuple(path for path in hidden if path.exists() or _meets(path, writable)),
        plain=kept_plain,
        projects=open_projects,
        below={obeyed.root: obeyed.below for obeyed in by_git},
        links=tuple(links.values()),
        settings={root.path: settings[root.path] for root in open_projects},
        obeyed_settings=leading,
        notices=tuple(notices),
    )


def _leave_out(found: dict[Path, Root], by_git: Sequence[ObeyedPaths]) -> Iterator[str]:
    """Drop the roots with more obeyed paths than can be closed; yield a text about each, and each folder in one."""
    for path, why in dict(item for obeyed in by_git for item in obeyed.closed_folders.items()).items():
        left_out = [root for root in found if lies_in(root, path)]
        for root in left_out:
            del found[root]
        for closed in left_out or [path]:
            yield f"{closed} is not writable, because not all that git obeys there can be closed: {why}"


def _settings_paths(
    to_close: Iterable[tuple[Path, ProjectSetting]], writable: Sequence[Root], own: Sequence[Path]
) -> Iterator[tuple[Path, str]]:
    """Yield the paths of agents' and editors' settings to close, except in the running program's own places."""
    paths, places = [root.path for root in writable], [*map(_real, own)]
    for path, setting in to_close:
        inside = path not in paths and _in_any(path, paths)
        if inside and not any(lies_in(path, place) or lies_in(place, path) for place in places):
            yield path, setting.who


def _place(place: Path, pins: Sequence[Pin], notices: list[str], stack: contextlib.ExitStack) -> Root | None:
    """Open a place of the program's own. A link in a writable root is not followed: a command may have made it."""
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
    """Return the writable folders above projects without a repository, in which git looks next."""
    paths = [root.path for root in writable]
    found: dict[Path, Root] = {}
    for path in dict.fromkeys(path for above in outer.values() for path in above):
        if path not in outer and _in_any(path, paths):
            folder = open_folder(path)
            stack.callback(os.close, folder)
            found[path] = Root(path, folder)
    return tuple(found.values())


def _git_paths(
    obeyed: Sequence[ObeyedPaths],
    writable: Sequence[Root],
    links: dict[tuple[Path, str], LinkOnTheWay],
    stack: contextlib.ExitStack,
) -> tuple[set[Path], set[Path]]:
    """Return the files and folders in the roots that git obeys; add the links on the way to them to `links`."""
    paths = [root.path for root in writable]
    files, folders = set[Path](), set[Path]()
    places = dict.fromkeys(place for entry in obeyed for place in entry.places)
    whole = (path for entry in obeyed for path in entry.closed_folders)
    for path, is_file in (*((place.path, place.is_file) for place in places), *((path, False) for path in whole)):
        is_git = path.name.casefold() == GIT
        real, met = _trace(path.parent if is_git else path)
        if is_git:  # kept unresolved, as a turn may have made it a link to any place
            real /= path.name
            met = (*met, real) if real.is_symlink() else met
        for link in met:
            if _in_any(link.parent, paths) and (link.parent, link.name) not in links:
                with contextlib.suppress(OSError):  # it is gone, or not readable
                    links[link.parent, link.name] = _held_link(link, stack)
                folders.add(link)
        closed = _closable(real)
        if any(len(os.fsencode(part)) > NAME_BYTES for part in closed.parts):
            continue  # too long for any file system
        if closed not in paths and _in_any(closed, paths):
            (files if is_file and closed == real else folders).add(closed)
    return files, folders - files


def _held_link(link: Path, stack: contextlib.ExitStack) -> LinkOnTheWay:
    folder = open_folder(link.parent)
    stack.callback(os.close, folder)
    return LinkOnTheWay(Root(link.parent, folder), link.name, os.readlink(link.name, dir_fd=folder))


def _closable(path: Path) -> Path:
    """Return the path, or a file on the way to it in place of a folder."""
    for above in path.parents:
        if above.is_dir():
            return path
        if os.path.lexists(above):
            path = above
    return path


def _scratch_git(projects_: Sequence[Root], writable: Sequence[Root]) -> Iterator[Path]:
    """Yield the `.git` of temporary directories.

    A `.git` that points elsewhere is left out: any command could put it there, and so close another project's
    directory, or the whole disk.
    """
    scratch = (root.path / GIT for root in writable if root not in projects_)
    yield from (git for git in scratch if git.is_dir() and not git.is_symlink())


def _drop_nested(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Drop paths inside others: a hidden folder hides its content anyway."""
    found: list[Path] = []
    for path in sorted(paths):
        if not _in_any(path, found):
            found.append(path)
    return tuple(found)


def _in_any(path: Path, folders: Iterable[Path]) -> bool:
    return any(lies_in(path, folder) for folder in folders)


def _meets(path: Path, roots: Iterable[Root]) -> bool:
    """Tell whether a path lies in a root or above it. A root itself stays open, even if a configuration names it."""
    return any(path != root.path and (lies_in(path, root.path) or lies_in(root.path, path)) for root in roots)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _trace(path: Path) -> tuple[Path, tuple[Path, ...]]:
    """Resolve a path, which need not exist; return it with the links on the way."""
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
