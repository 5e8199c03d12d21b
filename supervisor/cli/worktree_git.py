"""Worktrees for conversations: make, list, merge and remove them. Runs the person's git.

All lie below the data directory, in a folder for each repository, so no list of them is kept. Git starts no program
there that a turn could have left: see safe_git.
"""

import contextlib
import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from supervisor.cli.kit.formatting import plural
from supervisor.cli.kit.problems import Problem
from supervisor.disk.work_tree import is_work_tree
from supervisor.paths import worktrees
from supervisor.work.reach.git_config import GitSetting
from supervisor.work.reach.safe_git import (
    GIT,
    LIST_SETTINGS,
    PLAIN_DIFF,
    STATUS,
    environment,
    obeyed_below,
    read_list,
    switched_off,
    with_settings,
)

# ruff: noqa: PTH111, PTH112, PTH118, PTH119, PTH120, PTH123, PTH208 # pathlib is slow to import

READING_FILES = frozenset({"status", "merge", "diff", "worktree add"})  # through filters, where there are any
POINTER_BYTES = 8 * 1024  # a path has 4 KiB at most
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


class Worktree(NamedTuple):
    """A worktree that Greenroom made. `main` is the directory where its repository was made; `""` if that is gone.

    `branch` is the branch that is checked out, or else a commit. `commit` is the last commit; `""` if there is none.
    """

    name: str
    path: str
    branch: str
    main: str
    commit: str = ""


class Changes(NamedTuple):
    """The difference between a worktree and the branch that is checked out in the repository."""

    uncommitted_files: int
    commits_ahead: int


def make_worktree(cwd: str, name: str) -> Worktree:
    """Make a worktree and a branch of the same name, from the last commit of the repository around `cwd`."""
    top = _git_output(cwd, "rev-parse", "--show-toplevel")
    if top is None:
        raise Problem(f"{cwd} is in no git repository", "`git init` makes one, or leave --worktree out", "usage")
    if not _commit_of(cwd):
        raise Problem(f"{top} has no commit yet", "commit something first: a worktree begins with a commit", "usage")
    main = _main_of(cwd)
    if _git_output(cwd, "check-ref-format", "--branch", name) is None:
        raise Problem(f"{name!r} can't be the name of a branch", "write letters, digits and dashes", "usage")
    if _git_output(cwd, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}") is not None:
        raise Problem(
            f"there is a branch {name} already", "name another, or `greenroom worktree` lists them", "usage"
        )
    path = os.path.join(worktrees(), _folder_of(main), name.replace("/", "-"))
    _run_checked(cwd, "worktree", "add", "--quiet", "-b", name, path, "HEAD")
    return Worktree(name, path, name, main)


def matching_directory(worktree: Worktree, cwd: str) -> str:
    """The directory in the worktree for `cwd` in the repository, or the worktree itself if that is not committed."""
    top = _git_output(cwd, "rev-parse", "--show-toplevel") or cwd
    there = os.path.normpath(os.path.join(worktree.path, os.path.relpath(os.path.realpath(cwd), top)))
    return there if os.path.isdir(there) else worktree.path


def uncommitted_notice(cwd: str) -> str:
    """The notice about uncommitted changes, which a new worktree does not have; empty if there are none."""
    count = _count_uncommitted(cwd)
    return f"{plural(count, 'uncommitted change stays', 'uncommitted changes stay')} behind in {cwd}" if count else ""


def all_worktrees() -> Iterator[Worktree]:
    root = worktrees()
    for folder in sorted(_list_folder(root)):
        for name in sorted(_list_folder(os.path.join(root, folder))):
            path = os.path.join(root, folder, name)
            if os.path.lexists(os.path.join(path, ".git")):
                commit = _commit_of(path)
                branch = _branch_of(path) or commit
                yield Worktree(name, path, branch, _main_of(path) if branch else "", commit)


def changes(worktree: Worktree) -> Changes:
    known = worktree.main and worktree.commit
    ahead = _git_output(worktree.main, "rev-list", "--count", f"HEAD..{worktree.commit}") if known else None
    return Changes(_count_uncommitted(worktree.path), int(ahead or 0))


def merge(worktree: Worktree) -> str:
    """Merge its branch into the branch that is checked out in the repository. A merge that fails changes nothing."""
    _refuse_uncommitted(worktree, "commit them there first")
    into = _branch_of(worktree.main)
    if into is None:
        raise Problem(f"{worktree.main} has no branch checked out", "`git switch` to one first", "wrong_state")
    if not worktree.commit:
        raise Problem(f"{worktree.branch} has no commit", f"commit something in {worktree.path}", "wrong_state")
    count = changes(worktree).commits_ahead
    if not count:
        return f"nothing to merge: {into} has all of {worktree.branch}"
    _refuse_obeyed(worktree)
    words = ("--no-edit", "--quiet", "-m", _message(worktree, into), worktree.commit)
    result = _run(worktree.main, "merge", *words)
    if result.returncode:
        conflicts = (_git_output(worktree.main, *PLAIN_DIFF, "--name-only", "--diff-filter=U") or "").split("\n")
        under_way = _git_output(worktree.main, "rev-parse", "--verify", "--quiet", "MERGE_HEAD") is not None
        if under_way:
            _run_checked(worktree.main, "merge", "--abort")
        files = ", ".join(filter(None, conflicts))
        why = f"both changed {files}" if files else _words(result)
        advice = f"nothing was changed; {_by_hand(worktree)} lets you solve it"
        raise Problem(f"{worktree.branch} can't be merged into {into}: {why}", advice, "wrong_state")
    if _run(worktree.main, "merge-base", "--is-ancestor", worktree.commit, "HEAD").returncode:
        advice = f"look at {worktree.main} with `git log`"
        raise Problem(f"git merged something, but {into} does not have {worktree.branch}", advice, "failed")
    return f"merged {plural(count, 'commit')} of {worktree.branch} into {into}"


def _message(worktree: Worktree, into: str) -> str:
    """Return the message that git itself would write for the merge."""
    what = f"commit '{worktree.branch}'" if worktree.branch == worktree.commit else f"branch '{worktree.branch}'"
    return f"Merge {what}" if into in {"main", "master"} else f"Merge {what} into {into}"


def _by_hand(worktree: Worktree) -> str:
    """Return the command for the same merge, without the hooks that a branch may bring."""
    what = worktree.commit if worktree.branch == worktree.commit else f"refs/heads/{worktree.branch}"
    return f"`{shlex.join(('git', '-C', worktree.main, '-c', 'core.hooksPath=/dev/null', 'merge', what))}`"


def _refuse_obeyed(worktree: Worktree) -> None:
    """Refuse a branch that changes a file which tells git to start programs in the repository from then on."""
    obeyed = obeyed_below(_settings(worktree.main), worktree.main, os.path.expanduser("~"))
    span = f"HEAD...{worktree.commit}"
    changed = (_git_output(worktree.main, *PLAIN_DIFF, "--no-renames", "--name-only", "-z", span) or "").split("\0")
    for path, setting in obeyed.items():
        for file in changed:
            if f"{file}/".startswith(f"{path}/"):
                advice = f"look at that file; then {_by_hand(worktree)} merges it"
                raise Problem(
                    f"{worktree.branch} changes {file}, which git obeys ({setting}): nothing was merged",
                    advice,
                    "wrong_state",
                )


def remove(worktree: Worktree) -> str:
    """Remove the directory, and the branch if nothing would be lost with it."""
    _refuse_uncommitted(worktree, "commit or discard them there first")
    _refuse_submodules(worktree)
    ahead, on_a_branch = changes(worktree).commits_ahead, _branch_of(worktree.path) is not None
    not_merged = f"{plural(ahead, 'commit is', 'commits are')} not merged"
    if ahead and not on_a_branch:
        advice = f"`git switch -c NAME` in {worktree.path} keeps them"
        raise Problem(f"{not_merged}, and on no branch", advice, "wrong_state")
    _remove(worktree)
    if ahead:
        return f"removed; the branch {worktree.branch} stays: {not_merged}"
    if worktree.branch.replace("/", "-") != worktree.name:  # the person has switched to a branch of their own
        return "removed"
    _run_checked(worktree.main, "branch", "--quiet", "-D", "--", worktree.branch)
    return "removed, with its branch"


def undo(worktree: Worktree) -> None:
    """Remove a worktree that was made a moment ago and not used, with its branch."""
    _remove(worktree)
    _run(worktree.main, "branch", "--quiet", "-d", "--", worktree.branch)


def _remove(worktree: Worktree) -> None:
    """Remove the directory. By force: otherwise git itself looks for changes, even in submodules."""
    _run_checked(worktree.main, "worktree", "remove", "--force", "--", worktree.path)


def _refuse_submodules(worktree: Worktree) -> None:
    """Refuse a worktree with a submodule checked out, as git does: the submodule's changes would be lost."""
    listed = (_git_output(worktree.path, "ls-files", "--stage", "-z") or "").split("\0")
    for path in (entry.partition("\t")[2] for entry in listed if entry.startswith("160000 ")):
        if os.path.lexists(os.path.join(worktree.path, path, ".git")):
            raise Problem(
                f"{worktree.name} has the submodule {path} checked out",
                f"save what you want of {os.path.join(worktree.path, path)}, and remove that folder first",
                "wrong_state",
            )


def _refuse_uncommitted(worktree: Worktree, advice: str) -> None:
    if not worktree.main:
        raise Problem(f"the repository of {worktree.path} is gone", "see to the files there yourself", "wrong_state")
    count = _count_uncommitted(worktree.path)
    if count:
        told = plural(count, "uncommitted change", "uncommitted changes")
        raise Problem(f"{worktree.name} has {told} in {worktree.path}", advice, "wrong_state")


def _count_uncommitted(path: str) -> int:
    """The number of files that are changed, added or unknown to git; to be safe 1 if git can't read them."""
    result = _run(path, *STATUS)
    return 1 if result.returncode else len(result.stdout.splitlines())


def _main_of(cwd: str) -> str:
    """The repository's first working tree, to which all others belong."""
    listed = _git_output(cwd, "worktree", "list", "--porcelain") or ""
    first = listed.split("\n", 1)[0].removeprefix("worktree ")
    return first if os.path.isdir(first) else ""


def _folder_of(main: str) -> str:
    return f"{os.path.basename(main)}-{sha256(os.fsencode(main)).hexdigest()[:6]}"


def _list_folder(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _git_output(cwd: str, *words: str) -> str | None:
    """Return git's output; None if git fails."""
    result = _run(cwd, *words)
    return result.stdout.strip("\n") if result.returncode == 0 else None


def _run_checked(cwd: str, *words: str) -> None:
    result = _run(cwd, *words)
    if result.returncode:
        raise Problem(f"git {' '.join(words[:2])} failed: {_words(result)}", "", "failed")


def _words(result: "subprocess.CompletedProcess[str]") -> str:
    lines = (result.stderr.strip() or result.stdout.strip()).splitlines()
    return lines[-1].removeprefix("fatal: ") if lines else f"status {result.returncode}"


def _branch_of(path: str) -> str | None:
    """Return the name of the branch that is checked out; None if none is."""
    ref = _git_output(path, "symbolic-ref", "--quiet", "HEAD")
    return ref.removeprefix("refs/heads/") if ref is not None and ref.startswith("refs/heads/") else None


def _commit_of(path: str) -> str:
    return _git_output(path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") or ""


def _projects(path: str) -> Iterator[str]:
    """Yield the work tree around a directory, and the work tree that its repository was made in."""
    top = os.path.realpath(path)
    while not is_work_tree(top) and os.path.dirname(top) != top:
        top = os.path.dirname(top)
    if not is_work_tree(top):
        top = os.path.realpath(path)
    yield top
    with contextlib.suppress(OSError, ValueError), open(os.path.join(top, ".git"), encoding="utf-8") as file:
        named = os.path.join(top, file.read(POINTER_BYTES).removeprefix("gitdir:").strip())
        yield os.path.dirname(os.path.normpath(os.path.join(named, "../..")))  # MAIN/.git/worktrees/NAME


def _settings(path: str) -> list[GitSetting]:
    return list(read_list(_git(path, *LIST_SETTINGS).stdout))


def _run(cwd: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run git, without the filters of the project where it would use them."""
    reads = words[0] in READING_FILES or " ".join(words[:2]) in READING_FILES
    return _git(cwd, *words, without=switched_off(_settings(cwd)) if reads else NO_SETTINGS)


def _git(cwd: str, *words: str, without: Mapping[str, str] = NO_SETTINGS) -> "subprocess.CompletedProcess[str]":
    env = with_settings(environment(os.environ, (*_projects(cwd), worktrees())), without)
    try:
        return subprocess.run(  # noqa: S603  # the person's own git
            (*GIT, "-C", cwd, *words), env=env, capture_output=True, text=True, errors="surrogateescape", check=False
        )
    except FileNotFoundError:
        raise Problem("git is not installed", "worktrees are git's", "failed") from None
