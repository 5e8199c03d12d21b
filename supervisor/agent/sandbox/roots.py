"""Which directories workspace-write opens, and what stays closed inside them. Looks at the disk, changes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from actors.settings import ReadOnly, WorkspaceWrite
from supervisor.agent.workspace import projects, temporary


@dataclass(frozen=True, slots=True)
class Roots:
    """All of them resolved, so that what is meant is what is mounted.

    `absent` are the `.git` that a root doesn't have, and must not get: the next git command that somebody runs there
    would execute what its configuration says. An empty one counts as none.
    """

    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    absent: tuple[Path, ...] = ()
    notices: tuple[str, ...] = ()


def roots_of(policy: ReadOnly | WorkspaceWrite, cwd: Path, tmpdir: Path | None) -> Roots:
    if isinstance(policy, ReadOnly):
        return Roots()
    roots, notices = _existing(projects(policy, cwd))
    scratch, _ = _existing(temporary(policy, tmpdir))
    writable = dict.fromkeys((*roots, *scratch))
    closed = dict.fromkeys(path for root in writable for path in _repository(root))
    absent = dict.fromkeys(root / ".git" for root in roots if root.is_dir() and _empty(root / ".git"))
    return Roots(tuple(sorted(writable)), tuple(sorted(closed)), tuple(sorted(absent)), tuple(notices))


def _existing(wanted: Iterator[Path]) -> tuple[list[Path], list[str]]:
    found, notices = [], []
    for path in wanted:
        if path.is_absolute() and path.exists():
            found.append(path.resolve())
        else:
            notices.append(f"writable root left out, there is no such directory: {path}")
    return found, notices


def _empty(git: Path) -> bool:
    """Not there, or the place that a command beside us keeps: then we keep it too."""
    return not git.exists() or (git.is_dir() and not any(git.iterdir()))


def _repository(root: Path) -> Iterator[Path]:
    """`.git`, and where it points to if it is a file: a worktree's own part and the part that all worktrees share."""
    git = root / ".git"
    if not git.exists():
        return
    yield git.resolve()
    if git.is_file() and (own := _points_to(git, "gitdir:")) is not None:
        yield own
        if (shared := _points_to(own / "commondir", "")) is not None:
            yield shared


def _points_to(file: Path, label: str) -> Path | None:
    try:
        line = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    target = file.parent / line.removeprefix(label).strip()
    return target.resolve() if line.startswith(label) and target.exists() else None
