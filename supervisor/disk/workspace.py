"""The directories that a workspace-write policy opens, as it names them, and the text about a missing directory.

Looks at the disk only to follow links; a leaf of the agent.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from actors.vocabulary.settings import WorkspaceWrite


def project_directories(policy: WorkspaceWrite, cwd: Path) -> Iterator[Path]:
    yield cwd
    yield from (cwd / root for root in policy.writable_roots)


def temporary_directories(policy: WorkspaceWrite, tmpdir: Path | None) -> Iterator[Path]:
    """Yield the temporary directories. `tmpdir` is the client's TMPDIR, if it has one."""
    if not policy.exclude_slash_tmp:
        yield Path("/tmp")  # noqa: S108  # the policy names it, we do not use it
    if tmpdir is not None and not policy.exclude_tmpdir_env_var:
        yield tmpdir


def client_tmpdir(env: Mapping[str, str]) -> Path | None:
    """Return the client's TMPDIR. None if the home directory lies in it: `TMPDIR=$UNSET/` opens nothing."""
    named = env.get("TMPDIR", "")
    if not Path(named).is_absolute() or "\0" in named:
        return None
    real = Path(os.path.realpath(named))
    return None if Path(os.path.realpath(env.get("HOME") or "/")).is_relative_to(real) else Path(named)


def missing_directory(cwd: Path) -> str:
    return f"the directory {str(cwd)!r} does not exist: name one that does as the working directory, or create it"
