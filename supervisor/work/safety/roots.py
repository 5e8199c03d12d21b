"""Compares a patch with the roots of its conversation: it may write only where commands could, by resolved paths.

Also names the programs that would obey a written file. Looks at the disk.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from supervisor.disk.folders import lies_in
from supervisor.disk.work_tree import GIT, makes_repository
from supervisor.work.reach.found_settings import enclosing_setting
from supervisor.work.reach.other_version_control import is_control_file
from supervisor.work.reach.project_settings import settings_in
from supervisor.work.reach.repositories import REPOSITORY_PARTS
from supervisor.work.sandbox.roots import Roots

_OWN = frozenset(name.casefold() for name in REPOSITORY_PARTS)


def are_writable(roots: Roots, paths: Iterable[Path]) -> bool:
    """Tell whether each of these resolved paths may be written."""
    planned = tuple(paths)
    return all(_covers(roots, path, planned) for path in planned)


def _covers(roots: Roots, path: Path, planned: tuple[Path, ...]) -> bool:
    if any(_lies_in(path, closed) for closed in (*roots.closed, *roots.hidden)):
        return False
    return any(
        path.is_relative_to(root.path)
        and not _in_repository(root.path, path, planned)
        and not any(settings_in(path.relative_to(root.path).parts))
        for root in roots.writable
    )


def obeyed_by(roots: Roots, cwd: Path, paths: Iterable[Path]) -> tuple[str, ...]:
    """Return the agents, editors and shells that would obey one of these resolved paths."""
    real = Path(os.path.realpath(cwd))
    bases = [*roots.settings, *(() if enclosing_setting(real) else (real,))]
    found: dict[str, None] = {}
    for path in paths:
        containing = (base for base in bases if lies_in(path, base))
        base = max(containing, key=lambda base: len(base.parts), default=Path("/"))
        found |= dict.fromkeys(setting.who for _, setting in settings_in(path.relative_to(base).parts))
        found |= dict.fromkeys(who for closed, who in roots.obeyed_settings.items() if _lies_in(path, closed))
    return tuple(found)


def _in_repository(root: Path, path: Path, planned: tuple[Path, ...]) -> bool:
    """Tell whether a path is in a repository: nested, bare, or named `.GIT` on a file system that ignores case."""
    parts = path.relative_to(root).parts
    if any(part.casefold() == GIT for part in parts) or is_control_file(parts):
        return True
    at = root
    for part in parts:
        if part.casefold() in _OWN and _is_repository(at, planned):
            return True
        at /= part
    return False


def _is_repository(folder: Path, planned: tuple[Path, ...]) -> bool:
    """Tell whether a folder will be a repository once the planned paths are written."""

    def exists(name: str) -> bool:
        return os.path.lexists(folder / name) or any(_lies_in(path, folder / name) for path in planned)

    return makes_repository(exists)


def _lies_in(path: Path, folder: Path) -> bool:
    """Tell whether a path lies in a folder, ignoring case as some file systems do: a false match only asks more."""
    above = [part.casefold() for part in folder.parts]
    return [part.casefold() for part in path.parts[: len(above)]] == above
