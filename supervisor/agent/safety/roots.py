"""Where a sandbox policy lets patches write. Resolves the roots when it is made; judges resolved paths."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from actors.settings import DangerFullAccess, ReadOnly, SandboxPolicy, WorkspaceWrite
from supervisor.agent.workspace import projects, temporary

REPOSITORY = ".git"


@dataclass(frozen=True, slots=True)
class Roots:
    writable: tuple[Path, ...]
    closed: tuple[Path, ...] = ()
    everywhere: bool = False

    def cover(self, paths: Iterable[Path]) -> bool:
        """Whether each of these paths, resolved, may be written."""
        return self.everywhere or all(self._covers(path) for path in paths)

    def _covers(self, path: Path) -> bool:
        if any(path.is_relative_to(folder) for folder in self.closed):
            return False
        return any(path.is_relative_to(root) and not _in_repository(path.relative_to(root)) for root in self.writable)


def writable_roots(policy: SandboxPolicy, cwd: Path, tmpdir: Path | None) -> Roots:
    """`tmpdir` is the client's TMPDIR, if it has one."""
    match policy:
        case DangerFullAccess():
            return Roots((), everywhere=True)
        case ReadOnly():
            return Roots(())
        case WorkspaceWrite():
            own, scratch = _real(projects(policy, cwd)), _real(temporary(policy, tmpdir))
            # A root's .git may itself be a link to somewhere in another root. Not in a temporary directory: there
            # any command can put a link that would close somebody else's project.
            return Roots(tuple(dict.fromkeys((*own, *scratch))), closed=_real(root / REPOSITORY for root in own))
        case _:
            assert_never(policy)


def _real(paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(Path(os.path.realpath(path)) for path in paths))


def _in_repository(below_root: Path) -> bool:
    """Nested repositories too, and as file systems without case would read it."""
    return any(part.casefold() == REPOSITORY for part in below_root.parts)
