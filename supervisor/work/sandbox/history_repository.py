"""Finds the repository around a directory whose history a command may change, if that can be opened safely.

Looks, changes nothing; blocking. A `.git` that is a file counts only if its target points back, as git writes it for
worktrees and submodules: a turn may have written a file that names another repository.
"""

import os
import stat
from pathlib import Path

from msgspec import Struct

from supervisor.disk.folders import lies_in
from supervisor.disk.ordinary_files import read_ordinary
from supervisor.disk.work_tree import COMMON, GIT, HEAD, STORES
from supervisor.work.reach.git_settings import program_settings
from supervisor.work.reach.repositories import POINTER_BYTES

LINK_FORBIDDEN = (
    HEAD,
    "index",
    "packed-refs",
    "logs",
    "reftable",
    "lfs",
    *STORES,
)  # git writes these; it would follow a link out of the repository


class Repository(Struct, frozen=True):
    """A repository by its real folders. `own` has HEAD and index, `shared` has objects and refs; often the same."""

    work_tree: Path
    own: Path
    shared: Path


def repository_around(start: Path, roots: tuple[Path, ...]) -> Repository | None:
    """Return the repository that git would use in a directory; None if it concerns no root, or is unsafe."""
    try:
        real = start.resolve(strict=True)
        for folder in (real, *real.parents):
            if _is_git(folder / GIT):
                concerned = any(lies_in(folder, root) or lies_in(root, folder) for root in roots)
                return _repository_at(folder) if concerned else None
    except (OSError, RuntimeError, ValueError):
        return None
    return None


def _is_git(found: Path) -> bool:
    """Tell whether git stops its search here. It passes over an empty folder, such as a sandbox's placeholder."""
    return os.path.lexists(found / "HEAD") if found.is_dir() else os.path.lexists(found)


def _repository_at(folder: Path) -> Repository | None:
    git = folder / GIT
    mode = git.lstat().st_mode
    if stat.S_ISDIR(mode):
        found = Repository(folder, git, git)
    elif stat.S_ISREG(mode):
        own = _target_of(git, "gitdir:")
        linked = (own / COMMON).exists()
        found = Repository(folder, own, _target_of(own / COMMON, "") if linked else own)
        if not (_is_worktree(found) if linked else _is_submodule(found)):
            return None
    else:
        return None
    return found if _is_fit(found.own) and _is_fit(found.shared) else None


def _is_worktree(found: Repository) -> bool:
    return found.own.parent == found.shared / "worktrees" and _points_back(found)


def _points_back(found: Repository) -> bool:
    named = read_ordinary(found.own / "gitdir", POINTER_BYTES).decode().strip()
    return Path(os.path.realpath(found.own / named)) == found.work_tree / GIT


def _is_submodule(found: Repository) -> bool:
    leading = program_settings(found.own / "config")
    named = [setting.value for setting in leading if (setting.section, setting.key) == ("core", "worktree")]
    return bool(named) and Path(os.path.realpath(found.own / named[-1])) == found.work_tree


def _target_of(file: Path, label: str) -> Path:
    line = read_ordinary(file, POINTER_BYTES).decode().strip()
    if not line.startswith(label):
        raise ValueError(line)
    return (file.parent / line.removeprefix(label).strip()).resolve(strict=True)


def _is_fit(folder: Path) -> bool:
    """Tell whether a folder is the user's own, and has no links where git writes."""
    return folder.stat().st_uid == os.getuid() and not any((folder / name).is_symlink() for name in LINK_FORBIDDEN)
