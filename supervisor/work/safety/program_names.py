"""Checks that the names of a command's programs lead to the system's own programs, not to files of a project.

Used only if there is no sandbox, for commands that are known only to read. Looks at the disk, changes nothing.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from actors.vocabulary.settings import SandboxPolicy, WorkspaceWrite
from supervisor.disk.workspace import client_tmpdir, project_directories, temporary_directories
from supervisor.work.safety import rules
from supervisor.work.safety.known_safe import programs

BUILT_IN = frozenset({"cd", "echo", "false", "pwd", "true"})  # into bash, which then looks for no file


def are_system_programs(argv: Sequence[str], env: Mapping[str, str], policy: SandboxPolicy, cwd: Path) -> bool:
    """Tell whether each program of a known safe command is the system's own, and nothing makes it start others."""
    if any(rules.STEERING.fullmatch(name) for name in env):
        return False
    names, open_places = programs(argv), list(_open_places(policy, cwd, env))
    shell = "bash" in names
    if shell and any(_lies_in(Path(env.get("HOME", "/")), place) for place in open_places):
        return False  # the agent may write the start-up files of the login shell
    looked_for = {name for name in names if not (shell and name in BUILT_IN)}
    found = [_system_directory(name, env.get("PATH", os.defpath)) for name in looked_for]
    return bool(names) and all(
        place is not None and not any(_lies_in(place, open_place) for open_place in open_places) for place in found
    )


def _system_directory(name: str, search_path: str) -> Path | None:
    """Return the directory in which the search finds the program first, if it is one of the system's."""
    for entry in search_path.split(os.pathsep):
        if not entry.startswith("/"):
            return None  # relative to the command's own directory, as is an empty entry
        if os.path.lexists(os.path.join(entry, name)):  # noqa: PTH118  # a Path costs more than the look
            return Path(entry) if os.path.normpath(entry) in rules.SYSTEM_DIRECTORIES else None
    return None


def _open_places(policy: SandboxPolicy, cwd: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Yield the directories in which a patch is written without a question."""
    if isinstance(policy, WorkspaceWrite):
        yield from project_directories(policy, cwd)
        yield from temporary_directories(policy, client_tmpdir(env))


def _lies_in(path: Path, place: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(place))
