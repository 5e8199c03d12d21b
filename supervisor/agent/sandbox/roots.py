"""Which directories workspace-write opens, and what stays closed inside them. Looks at the disk, changes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from actors.settings import ReadOnly, WorkspaceWrite
from supervisor.agent.reading import read_ordinary
from supervisor.agent.workspace import projects, temporary

POINTER_BYTES = 8 * 1024  # a path has 4 KiB at most


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
    own = (path for root in roots for path in _repository(root))
    shared = (root / ".git" for root in scratch if _is_folder(root / ".git"))
    closed = dict.fromkeys((*own, *shared))
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


def _is_folder(git: Path) -> bool:
    """In a temporary directory a link, or a file that points somewhere, is anybody's word, and closes nothing: any
    command could close another project's directory with it, or the whole disk.
    """
    return git.is_dir() and not git.is_symlink()


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
        line = read_ordinary(file, POINTER_BYTES).decode("utf-8").strip()
        target = file.parent / line.removeprefix(label).strip()
        return target.resolve() if line.startswith(label) and target.exists() else None
    except (OSError, ValueError):  # no path at all: what isn't text, or has a NUL in it
        return None
