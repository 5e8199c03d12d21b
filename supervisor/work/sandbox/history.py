"""Find the repository around a directory whose history a command may change, if it is one that can be opened safely.

Looks, changes nothing; blocking. A `.git` that is a file counts only if the place that it names points back, as git
writes it for worktrees and submodules: anybody may write a file that names somebody else's repository.
"""

import os
import stat
from pathlib import Path

from msgspec import Struct

from supervisor.disk.folders import lies_in
from supervisor.disk.reading import read_ordinary
from supervisor.disk.work_tree import COMMON, GIT, HEAD, STORES
from supervisor.work.reach.git_settings import leading_settings
from supervisor.work.reach.repositories import POINTER_BYTES

LINK_FORBIDDEN = (
    HEAD,
    "index",
    "packed-refs",
    "logs",
    "reftable",
    "lfs",
    *STORES,
)  # git writes these; a link would lead it out


class Repository(Struct, frozen=True):
    """A repository by its real folders. `own` has HEAD and the index, `shared` objects and refs; often the same."""

    work_tree: Path
    own: Path
    shared: Path


def repository_around(start: Path, roots: tuple[Path, ...]) -> Repository | None:
    """Return the repository that git would use in a directory; None if it concerns none of the roots, or is unfit."""
    try:
        real = start.resolve(strict=True)
        for folder in (real, *real.parents):
            if _is_git(folder / GIT):
                concerned = any(lies_in(folder, root) or lies_in(root, folder) for root in roots)
                return _opened(folder) if concerned else None
    except (OSError, RuntimeError, ValueError):
        return None
    return None


def _is_git(found: Path) -> bool:
    """Tell whether git stops here. An empty folder, as of a sandbox, is none: git looks further up."""
    return os.path.lexists(found / "HEAD") if found.is_dir() else os.path.lexists(found)


def _opened(folder: Path) -> Repository | None:
    git = folder / GIT
    mode = git.lstat().st_mode
    if stat.S_ISDIR(mode):
        found = Repository(folder, git, git)
    elif stat.S_ISREG(mode):
        own = _pointed_to(git, "gitdir:")
        linked = (own / COMMON).exists()
        found = Repository(folder, own, _pointed_to(own / COMMON, "") if linked else own)
        if not (_is_worktree(found) if linked else _is_submodule(found)):
            return None
    else:
        return None
    return found if _fit(found.own) and _fit(found.shared) else None


def _is_worktree(found: Repository) -> bool:
    return found.own.parent == found.shared / "worktrees" and _named_back(found)


def _named_back(found: Repository) -> bool:
    named = read_ordinary(found.own / "gitdir", POINTER_BYTES).decode().strip()
    return Path(os.path.realpath(found.own / named)) == found.work_tree / GIT


def _is_submodule(found: Repository) -> bool:
    leading = leading_settings(found.own / "config")
    named = [one.value for one in leading if (one.section, one.key) == ("core", "worktree")]
    return bool(named) and Path(os.path.realpath(found.own / named[-1])) == found.work_tree


def _pointed_to(file: Path, label: str) -> Path:
    line = read_ordinary(file, POINTER_BYTES).decode().strip()
    if not line.startswith(label):
        raise ValueError(line)
    return (file.parent / line.removeprefix(label).strip()).resolve(strict=True)


def _fit(folder: Path) -> bool:
    """Tell whether a folder is the user's own, and nothing that git writes there is a link."""
    return folder.stat().st_uid == os.getuid() and not any((folder / name).is_symlink() for name in LINK_FORBIDDEN)
