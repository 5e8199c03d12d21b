"""Watches the projects of a command, or of an agent's turn, and undoes its changes that would start programs.

A record on disk has the state before, so that after `kill -9` the next daemon undoes them. Blocking. Any thread.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct

from supervisor.disk.folders import open_folder
from supervisor.disk.work_tree import HEAD
from supervisor.work.reach.found_settings import FoundSettings, SettingEntry
from supervisor.work.reach.program_starts import ProgramStarts, new_program_starts, program_starts_in
from supervisor.work.reach.repositories import find_repositories
from supervisor.work.sandbox.aftermath import set_aside, undo_changes
from supervisor.work.sandbox.new_settings import set_aside as set_settings_aside
from supervisor.work.sandbox.roots import LinkOnTheWay, Root, Roots
from supervisor.work.sandbox.settings_watch import watch_settings

log = structlog.get_logger()
Known = Mapping[Path, ProgramStarts]  # by project
SHOWN = 200  # characters of the setting or hook that starts programs
READ_BYTES = 64 << 20  # of a record; a longer file is none of ours


class _Folder(Struct, frozen=True):
    path: str
    inode: int


class _Link(Struct, frozen=True):
    folder: _Folder
    name: str
    target: str


class _Repository(Struct, frozen=True):
    folder: str
    control: str | None
    led: tuple[str, ...]


class _Settings(Struct, frozen=True):
    """The settings of agents and editors in a folder: their names, and the targets of links among them."""

    folder: str
    names: tuple[tuple[str, str | None], ...]


class _Project(Struct, frozen=True):
    folder: _Folder
    repositories: tuple[_Repository, ...]
    settings: tuple[_Settings, ...]


class _Record(Struct, frozen=True):
    """A watch as it is saved on disk."""

    projects: tuple[_Project, ...] = ()
    plain: tuple[_Folder, ...] = ()
    links: tuple[_Link, ...] = ()


@contextlib.contextmanager
def watch(roots: Roots, records: Path | None, findings: list[str]) -> Iterator[None]:
    """Watch the projects; afterwards `findings` has a text about each change that was undone."""
    known = {root.path: program_starts_in(root.path, roots.below[root.path].repositories) for root in roots.projects}
    with _recording(roots, known, records):
        try:
            with watch_settings(roots.settings, findings):
                yield
        finally:
            findings += _undo(roots, known)


def _undo(roots: Roots, known: Known) -> Iterator[str]:
    yield from undo_changes(roots)
    for root in roots.projects:
        found = find_repositories(root.path)
        for folder, control, why in new_program_starts(
            known[root.path], program_starts_in(root.path, found.repositories)
        ):
            yield _set_repository_aside(folder, control, why)
        if not found.is_complete and roots.below.get(root.path, found).is_complete:
            yield (
                f"{root.path} has so many folders now that the deepest were not looked at: there may be repositories "
                "that start programs; look at what is new before you run `git add` there"
            )


def _set_repository_aside(folder: Path, control: Path | None, why: str) -> str:
    """Rename the entry that makes a folder a repository; return a text about it."""
    name = control.name if control is not None else HEAD
    shown = why[:SHOWN] if why[:SHOWN].isprintable() else ascii(why[:SHOWN])
    try:
        descriptor = open_folder(folder)
        try:
            free = set_aside(descriptor, name)
        finally:
            os.close(descriptor)
    except OSError as error:
        log.error("sandbox.repository_left", path=str(folder), error=str(error))  # noqa: TRY400 - no bug of ours
        return f"{folder} is a repository that starts programs ({shown}) since this; look at it before you go there"
    log.warning("sandbox.repository_set_aside", path=str(folder), why=shown)
    return (
        f"{folder} became a repository that starts programs outside of the sandbox ({shown}); its {name} is now "
        f"{free}: look at it, and rename it back if you want it"
    )


@contextlib.contextmanager
def _recording(roots: Roots, known: Known, records: Path | None) -> Iterator[None]:
    if records is None or not roots.projects:
        yield
        return
    record = _Record(
        tuple(
            _Project(_folder(root), _repositories(known[root.path]), _settings(roots.settings[root.path]))
            for root in roots.projects
        ),
        tuple(map(_folder, roots.plain)),
        tuple(_Link(_folder(link.place), _pack(link.name), _pack(link.target)) for link in roots.links),
    )
    records.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = records / os.urandom(8).hex()
    file.write_bytes(msgspec.json.encode(record))
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def undo_leftovers(records: Path) -> int:
    """Undo the changes of commands and turns of a killed daemon; return the number of its records."""
    count = 0
    for file in sorted(records.iterdir()) if records.is_dir() else ():
        try:
            record = msgspec.json.decode(file.read_bytes()[:READ_BYTES], type=_Record)
            with contextlib.ExitStack() as stack:
                roots, known = _as_it_was(record, stack)
                for finding in (*set_settings_aside(roots.settings), *_undo(roots, known)):
                    log.warning("sandbox.left_by_a_killed_daemon", finding=finding)
            count += 1
        except (OSError, msgspec.MsgspecError) as error:  # the daemon was killed while it wrote, before the command
            log.warning("sandbox.watch_unread", file=str(file), error=str(error))
        file.unlink(missing_ok=True)
    return count


def _as_it_was(record: _Record, stack: contextlib.ExitStack) -> tuple[Roots, Known]:
    projects = {root: project for project in record.projects for root in _open(project.folder, stack)}
    links = (
        LinkOnTheWay(root, _unpack(link.name), _unpack(link.target))
        for link in record.links
        for root in _open(link.folder, stack)
    )
    roots = Roots(
        projects=tuple(projects),
        plain=tuple(root for folder in record.plain for root in _open(folder, stack)),
        links=tuple(links),
        settings={root.path: _unpack_settings(project.settings) for root, project in projects.items()},
    )
    known = {
        root.path: {
            (
                Path(_unpack(repository.folder)),
                Path(_unpack(repository.control)) if repository.control is not None else None,
            ): frozenset(map(_unpack, repository.led))
            for repository in project.repositories
        }
        for root, project in projects.items()
    }
    return roots, known


def _open(saved: _Folder, stack: contextlib.ExitStack) -> Iterator[Root]:
    """Open a folder, if it is still the saved one."""
    with contextlib.suppress(OSError):
        path = Path(_unpack(saved.path))
        folder = open_folder(path)
        stack.callback(os.close, folder)
        if os.fstat(folder).st_ino == saved.inode:
            yield Root(path, folder)


def _pack(name: str) -> str:
    """Return a name in a form for JSON: a file's name may be any bytes."""
    return name.encode("utf-8", "surrogateescape").decode("latin-1")


def _unpack(name: str) -> str:
    return name.encode("latin-1").decode("utf-8", "surrogateescape")


def _folder(root: Root) -> _Folder:
    return _Folder(_pack(str(root.path)), os.fstat(root.folder).st_ino)


def _repositories(led: ProgramStarts) -> tuple[_Repository, ...]:
    return tuple(
        _Repository(
            _pack(str(folder)),
            _pack(str(control)) if control is not None else None,
            tuple(map(_pack, sorted(texts))),
        )
        for (folder, control), texts in led.items()
    )


def _settings(found: FoundSettings) -> tuple[_Settings, ...]:
    return tuple(
        _Settings(
            _pack(str(folder)),
            tuple((_pack(name), _pack(kept.target) if kept.target else None) for name, kept in names.items()),
        )
        for folder, names in found.folders.items()
    )


def _unpack_settings(settings: tuple[_Settings, ...]) -> FoundSettings:
    """Return the saved settings of a project. Inodes are not saved: a setting with a known name stays."""
    return FoundSettings(
        {
            Path(_unpack(saved.folder)): {
                _unpack(name): SettingEntry(0, 0, _unpack(target) if target else None) for name, target in saved.names
            }
            for saved in settings
        }
    )
