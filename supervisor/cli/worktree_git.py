"""Worktrees by git: one for a conversation, made, looked at, merged, removed. Runs the person's own git.

They lie together below the data directory, a folder for each repository, so they are found again without a list.
"""

import os
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from supervisor.cli.problems import Problem
from supervisor.cli.words import many
from supervisor.paths import worktrees

# ruff: noqa: PTH112, PTH118, PTH119, PTH208 # pathlib is slow to import


class Worktree(NamedTuple):
    """A worktree of ours. `main` is where its repository was cloned or made; `""`: it is gone."""

    name: str
    path: str
    branch: str
    main: str


class Changes(NamedTuple):
    """The difference between a worktree and the branch that is checked out in the repository."""

    uncommitted: int
    ahead: int


def made_in(cwd: str, name: str) -> Worktree:
    """Make a worktree and a branch of the same name, from the last commit of the repository around `cwd`."""
    top = _asked(cwd, "rev-parse", "--show-toplevel")
    if top is None:
        raise Problem(f"{cwd} is in no git repository", "`git init` makes one, or leave --worktree out", "usage")
    if _asked(cwd, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
        raise Problem(f"{top} has no commit yet", "commit something first: a worktree begins with a commit", "usage")
    main = _main_of(cwd)
    if _asked(cwd, "check-ref-format", "--branch", name) is None:
        raise Problem(f"{name!r} can't be the name of a branch", "write letters, digits and dashes", "usage")
    if _asked(cwd, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}") is not None:
        raise Problem(
            f"there is a branch {name} already", "name another, or `greenroom worktree` lists them", "usage"
        )
    path = os.path.join(worktrees(), _folder_of(main), name.replace("/", "-"))
    _done(cwd, "worktree", "add", "--quiet", "-b", name, path, "HEAD")
    return Worktree(name, path, name, main)


def inside(worktree: Worktree, cwd: str) -> str:
    """The directory in the worktree that is `cwd` in the repository, as far as it is committed."""
    top = _asked(cwd, "rev-parse", "--show-toplevel") or cwd
    there = os.path.normpath(os.path.join(worktree.path, os.path.relpath(os.path.realpath(cwd), top)))
    return there if os.path.isdir(there) else worktree.path


def left_behind(cwd: str) -> str:
    """A word on uncommitted changes, which a new worktree does not have; empty where there are none."""
    count = _uncommitted(cwd)
    return f"{many(count, 'uncommitted change stays', 'uncommitted changes stay')} behind in {cwd}" if count else ""


def all_of_them() -> Iterator[Worktree]:
    root = worktrees()
    for folder in sorted(_listed(root)):
        for name in sorted(_listed(os.path.join(root, folder))):
            path = os.path.join(root, folder, name)
            if os.path.lexists(os.path.join(path, ".git")):
                branch = _asked(path, "symbolic-ref", "--short", "HEAD") or _asked(path, "rev-parse", "HEAD") or ""
                yield Worktree(name, path, branch, _main_of(path) if branch else "")


def changes(worktree: Worktree) -> Changes:
    ahead = _asked(worktree.main, "rev-list", "--count", f"HEAD..{worktree.branch}") if worktree.main else None
    return Changes(_uncommitted(worktree.path), int(ahead or 0))


def merge(worktree: Worktree) -> str:
    """Merge its branch into what is checked out in the repository. A merge that fails leaves nothing behind."""
    _refuse_uncommitted(worktree, "commit them there first")
    into = _asked(worktree.main, "symbolic-ref", "--short", "HEAD")
    if into is None:
        raise Problem(f"{worktree.main} has no branch checked out", "`git switch` to one first", "wrong_state")
    count = changes(worktree).ahead
    if not count:
        return f"nothing to merge: {into} has all of {worktree.branch}"
    result = _run(worktree.main, "merge", "--no-edit", "--quiet", worktree.branch)
    if result.returncode:
        conflicts = (_asked(worktree.main, "diff", "--name-only", "--diff-filter=U") or "").split("\n")
        under_way = _asked(worktree.main, "rev-parse", "--verify", "--quiet", "MERGE_HEAD") is not None
        if under_way:
            _done(worktree.main, "merge", "--abort")
        files = ", ".join(filter(None, conflicts))
        why = f"both changed {files}" if files else _words(result)
        advice = f"nothing was changed; `git merge {worktree.branch}` in {worktree.main} lets you solve it"
        raise Problem(f"{worktree.branch} can't be merged into {into}: {why}", advice, "wrong_state")
    return f"merged {many(count, 'commit')} of {worktree.branch} into {into}"


def remove(worktree: Worktree) -> str:
    """Remove the directory, and the branch if nothing would be lost with it."""
    _refuse_uncommitted(worktree, "commit or discard them there first")
    ahead, on_a_branch = changes(worktree).ahead, _asked(worktree.path, "symbolic-ref", "--short", "HEAD") is not None
    not_merged = f"{many(ahead, 'commit is', 'commits are')} not merged"
    if ahead and not on_a_branch:
        advice = f"`git switch -c NAME` in {worktree.path} keeps them"
        raise Problem(f"{not_merged}, and on no branch", advice, "wrong_state")
    _done(worktree.main, "worktree", "remove", worktree.path)
    if ahead:
        return f"removed; the branch {worktree.branch} stays: {not_merged}"
    if worktree.branch.replace("/", "-") != worktree.name:  # somebody has switched to another, which is theirs
        return "removed"
    _done(worktree.main, "branch", "--quiet", "-D", worktree.branch)
    return "removed, with its branch"


def undo(worktree: Worktree) -> None:
    """Take back one that was made a moment ago, and in which nothing has happened."""
    _run(worktree.main, "worktree", "remove", worktree.path)
    _run(worktree.main, "branch", "--quiet", "-d", worktree.branch)


def _refuse_uncommitted(worktree: Worktree, advice: str) -> None:
    if not worktree.main:
        raise Problem(f"the repository of {worktree.path} is gone", "see to the files there yourself", "wrong_state")
    count = _uncommitted(worktree.path)
    if count:
        told = many(count, "uncommitted change", "uncommitted changes")
        raise Problem(f"{worktree.name} has {told} in {worktree.path}", advice, "wrong_state")


def _uncommitted(path: str) -> int:
    """The number of files that are changed, added or not known to git. Not readable: counted as one, to be safe."""
    told = _run(path, "status", "--porcelain", "--untracked-files=all")
    return 1 if told.returncode else len(told.stdout.splitlines())


def _main_of(cwd: str) -> str:
    """The repository's first working tree, to which all others belong."""
    listed = _asked(cwd, "worktree", "list", "--porcelain") or ""
    first = listed.split("\n", 1)[0].removeprefix("worktree ")
    return first if os.path.isdir(first) else ""


def _folder_of(main: str) -> str:
    return f"{os.path.basename(main)}-{sha256(os.fsencode(main)).hexdigest()[:6]}"


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _asked(cwd: str, *words: str) -> str | None:
    """Return what git prints; None if it fails."""
    result = _run(cwd, *words)
    return result.stdout.strip("\n") if result.returncode == 0 else None


def _done(cwd: str, *words: str) -> None:
    result = _run(cwd, *words)
    if result.returncode:
        raise Problem(f"git {' '.join(words[:2])} failed: {_words(result)}", "", "failed")


def _words(result: "subprocess.CompletedProcess[str]") -> str:
    lines = (result.stderr.strip() or result.stdout.strip()).splitlines()
    return lines[-1].removeprefix("fatal: ") if lines else f"status {result.returncode}"


def _run(cwd: str, *words: str) -> "subprocess.CompletedProcess[str]":
    argv = ["git", "-C", cwd, *words]
    env = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    try:
        return subprocess.run(argv, env=env, capture_output=True, text=True, errors="surrogateescape", check=False)  # noqa: S603  # git, as the person would
    except FileNotFoundError:
        raise Problem("git is not installed", "worktrees are git's", "failed") from None
