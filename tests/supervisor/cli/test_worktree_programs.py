"""`greenroom worktree` starts no program that a branch, a worktree, the configuration or a variable could lead it to.

Each way is one of git's own: the last test shows that git alone would have run it.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from supervisor.cli import worktree_git
from supervisor.cli.kit.problems import Problem
from tests.supervisor.cli.test_worktree import AUTHOR, commit, git

HOOKS = (
    *("post-merge", "post-checkout", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "pre-commit"),
    *("post-commit", "post-index-change", "reference-transaction", "post-rewrite"),
)


class Shop:
    """A repository with one commit and a worktree of ours with a second one, and a program that leaves a mark."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.base = base
        self.main = base / "shop"
        self.ran = base / "ran"
        self.set = monkeypatch.setenv
        for name, value in {**AUTHOR, "HOME": str(base), "XDG_DATA_HOME": str(base / "data")}.items():
            self.set(name, value)
        git(base, "init", "-q", "-b", "main", str(self.main))
        self.write(self.main, "a.txt", "one\n")
        commit(self.main, "first")

    def begin(self) -> None:
        self.tree = Path(worktree_git.make_worktree(str(self.main), "fix").path)

    def write(self, where: Path, name: str, text: str) -> None:
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)

    def program(self, where: Path, name: str, then: str = "cat") -> Path:
        self.write(where, name, f"#!/bin/sh\necho {name} >> {self.ran}\n{then}\n")
        (where / name).chmod(0o755)
        return where / name

    @property
    def worktree(self) -> worktree_git.Worktree:
        return next(iter(worktree_git.all_worktrees()))

    def use_all_verbs(self) -> list[str]:
        """List, merge, remove and make worktrees; return what was refused."""
        refused = []
        for verb in (
            lambda: worktree_git.changes(self.worktree),
            lambda: worktree_git.merge(self.worktree),
            lambda: worktree_git.uncommitted_notice(str(self.main)),
            lambda: worktree_git.remove(self.worktree),
            lambda: worktree_git.undo(worktree_git.make_worktree(str(self.main), "other")),
        ):
            try:
                verb()
            except Problem as problem:
                refused.append(str(problem))
        return refused


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    return Shop(tmp_path, monkeypatch)


def gitlink(shop: Shop, where: Path, settings: Mapping[str, str]) -> None:
    """Put a repository in the index that leads git to a program."""
    sub = where / "sub"
    git(where, "init", "-q", "-b", "main", str(sub))
    shop.write(sub, "f", "x\n")
    shop.write(sub, ".gitattributes", "* filter=x\n")
    commit(sub, "inner")
    git(where, "add", "sub")
    git(where, "commit", "-q", "-m", "sub")
    for key, value in settings.items():
        git(sub, "config", key, value)
    os.utime(sub / "f", (1, 1))  # its content has to be looked at


def gitlink_with_a_monitor(shop: Shop) -> None:
    shop.begin()
    gitlink(shop, shop.tree, {"core.fsmonitor": str(shop.program(shop.base, "monitor", "false"))})


def gitlink_with_a_filter(shop: Shop) -> None:
    shop.begin()
    gitlink(shop, shop.tree, {"filter.x.clean": str(shop.program(shop.base, "clean"))})


def gitlink_in_the_main_directory(shop: Shop) -> None:
    shop.begin()
    gitlink(shop, shop.main, {"core.fsmonitor": str(shop.program(shop.base, "monitor", "false"))})
    second_commit(shop)


def hooks_that_are_there(shop: Shop) -> None:
    git(shop.main, "config", "core.hooksPath", ".husky")
    for name in HOOKS:
        shop.program(shop.main, f".husky/{name}", "true")
    git(shop.main, "-c", "core.hooksPath=/dev/null", "add", "-A")
    git(shop.main, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "hooks")
    shop.begin()
    second_commit(shop)


def hooks_that_the_branch_brings(shop: Shop) -> None:
    git(shop.main, "config", "core.hooksPath", ".husky/_")
    shop.begin()
    for name in HOOKS:
        shop.program(shop.tree, f".husky/_/{name}", "true")
    second_commit(shop)


def a_filter_that_the_branch_brings(shop: Shop) -> None:
    for kind in ("smudge", "clean"):
        git(shop.main, "config", f"filter.x.{kind}", f"./tools/{kind}")
    git(shop.main, "config", "filter.x.required", "true")
    shop.begin()
    for kind in ("smudge", "clean"):
        shop.program(shop.tree, f"tools/{kind}")
    shop.write(shop.tree, ".gitattributes", "*.txt filter=x\n")
    shop.write(shop.tree, "z.txt", "z\n")
    second_commit(shop)


def a_filter_that_is_there(shop: Shop) -> None:
    for kind in ("smudge", "clean"):
        git(shop.main, "config", f"filter.odd=name.{kind}", f"sh -c ./tools/{kind}")
        shop.program(shop.main, f"tools/{kind}")
    shop.write(shop.main, ".gitattributes", '*.txt filter="odd=name"\n*.txt filter=odd=name\n')
    git(shop.main, "add", "tools", ".gitattributes")
    git(shop.main, "commit", "-q", "-m", "filters")
    shop.ran.unlink(missing_ok=True)
    shop.begin()
    second_commit(shop)


def a_merge_driver(shop: Shop) -> None:
    git(shop.main, "config", "merge.x.driver", "./drive %A %B")
    shop.program(shop.main, "drive", "true")
    shop.write(shop.main, ".gitattributes", "*.txt merge=x\n")
    commit(shop.main, "driver")
    shop.begin()
    second_commit(shop)
    shop.write(shop.main, "a.txt", "ours\n")
    commit(shop.main, "ours")


def a_monitor_of_the_project(shop: Shop) -> None:
    git(shop.main, "config", "core.fsmonitor", "./watch")
    shop.program(shop.main, "watch", "false")
    git(shop.main, "-c", "core.fsmonitor=false", "add", "-A")
    git(shop.main, "-c", "core.fsmonitor=false", "commit", "-q", "-m", "watch")
    shop.begin()
    second_commit(shop)


def settings_that_the_branch_brings(shop: Shop) -> None:
    git(shop.main, "config", "include.path", "../.gitconfig")
    program = shop.program(shop.base, "monitor", "false")
    shop.begin()
    shop.write(shop.tree, ".gitconfig", f"[core]\n\tfsmonitor = {program}\n")
    second_commit(shop)


def a_branch_that_is_an_option(shop: Shop) -> None:
    shop.program(shop.main, "bin/git-merge-evil", "true")
    shop.set("PATH", f"{shop.main}/bin:{os.environ['PATH']}")
    commit(shop.main, "bin")
    shop.begin()
    second_commit(shop)
    git(shop.tree, "update-ref", "refs/heads/--strategy=evil", "HEAD")
    git(shop.tree, "symbolic-ref", "HEAD", "refs/heads/--strategy=evil")


def a_git_of_the_project(shop: Shop) -> None:
    shop.begin()
    second_commit(shop)
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True, check=True).stdout.strip()
    shop.program(shop.main, "bin/git", f'exec {real} "$@"')
    (shop.base / "linked").symlink_to(shop.main / "bin")
    shop.set("PATH", f"bin:{shop.base}/linked:{shop.main}/bin:{os.environ['PATH']}")


def variables(shop: Shop) -> None:
    program = str(shop.program(shop.base, "named", "true"))
    shop.begin()
    second_commit(shop)
    for name in ("GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_PAGER", "GIT_EDITOR", "EDITOR", "GIT_ASKPASS"):
        shop.set(name, program)
    given = {"core.fsmonitor": program, "core.hooksPath": str(shop.program(shop.base, "hooks/post-merge").parent)}
    shop.set("GIT_CONFIG_COUNT", str(len(given)))
    for number, (key, value) in enumerate(given.items()):
        shop.set(f"GIT_CONFIG_KEY_{number}", key)
        shop.set(f"GIT_CONFIG_VALUE_{number}", value)
    shop.set("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor'='{program}'")
    shop.set("GIT_DIR", str(shop.base / "nowhere"))
    shop.set("GIT_INDEX_FILE", str(shop.base / "no-index"))


def second_commit(shop: Shop) -> None:
    shop.write(shop.tree, "a.txt", "two\n")
    quiet = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
    git(shop.tree, *quiet, "add", "-A")
    git(shop.tree, *quiet, "commit", "-q", "-m", "second")
    shop.ran.unlink(missing_ok=True)


WAYS: list[Callable[[Shop], None]] = [
    *(gitlink_with_a_monitor, gitlink_with_a_filter, gitlink_in_the_main_directory, hooks_that_are_there),
    *(hooks_that_the_branch_brings, a_filter_that_the_branch_brings, a_filter_that_is_there, a_merge_driver),
    *(a_monitor_of_the_project, settings_that_the_branch_brings, a_branch_that_is_an_option, a_git_of_the_project),
    variables,
]


@pytest.mark.parametrize("way", WAYS)
def test_no_verb_starts_what_it_is_led_to(shop: Shop, way: Callable[[Shop], None]) -> None:
    way(shop)
    shop.use_all_verbs()
    assert not shop.ran.exists(), shop.ran.read_text()


@pytest.mark.parametrize("way", [way for way in WAYS if way is not a_branch_that_is_an_option])
def test_git_alone_would_have_started_it(shop: Shop, way: Callable[[Shop], None]) -> None:
    """Without this the test above proves nothing."""
    way(shop)
    for where in (shop.tree, shop.main):
        subprocess.run(["git", "status"], cwd=where, check=False, capture_output=True)
    os.environ.pop("GIT_DIR", None)
    os.environ.pop("GIT_INDEX_FILE", None)
    subprocess.run(["git", "status"], cwd=shop.main, check=False, capture_output=True)
    subprocess.run(["git", "merge", "--no-edit", "fix"], cwd=shop.main, check=False, capture_output=True)
    subprocess.run(["git", "status"], cwd=shop.main, check=False, capture_output=True)
    assert shop.ran.exists()


# --- and it says what is so -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["--quiet", "--strategy=evil", "--no-commit"])
def test_a_branch_whose_name_is_an_option_is_merged_as_what_it_is(shop: Shop, name: str) -> None:
    shop.begin()
    second_commit(shop)
    git(shop.tree, "update-ref", f"refs/heads/{name}", "HEAD")
    git(shop.tree, "symbolic-ref", "HEAD", f"refs/heads/{name}")
    assert worktree_git.merge(shop.worktree) == f"merged 1 commit of {name} into main"
    assert (shop.main / "a.txt").read_text() == "two\n"


def test_a_branch_without_a_commit_is_not_said_to_be_merged(shop: Shop) -> None:
    shop.begin()
    second_commit(shop)
    git(shop.tree, "rm", "-q", "--cached", "a.txt")
    git(shop.tree, "symbolic-ref", "HEAD", "refs/heads/--quiet")
    (shop.tree / "a.txt").unlink()
    with pytest.raises(Problem, match="--quiet has no commit"):
        worktree_git.merge(shop.worktree)


def test_a_branch_that_changes_hooks_is_not_merged_and_the_file_is_named(shop: Shop) -> None:
    hooks_that_the_branch_brings(shop)
    with pytest.raises(Problem, match=r"fix changes \.husky/_/commit-msg, which git obeys \(core\.hookspath\)"):
        worktree_git.merge(shop.worktree)
    assert not (shop.main / ".husky").exists()


def test_a_conflict_is_advised_to_be_solved_without_the_hooks_of_the_branch(shop: Shop) -> None:
    a_merge_driver(shop)
    with pytest.raises(Problem) as refused:
        worktree_git.merge(shop.worktree)
    assert "both changed a.txt" in str(refused.value)
    assert "-c core.hooksPath=/dev/null merge refs/heads/fix`" in str(refused.value.advice)
    assert git(shop.main, "status", "--porcelain") == ""


def test_a_worktree_with_a_submodule_is_not_removed_with_what_is_in_it(shop: Shop) -> None:
    gitlink_with_a_monitor(shop)
    with pytest.raises(Problem, match="has the submodule sub checked out"):
        worktree_git.remove(shop.worktree)
    assert (shop.tree / "sub/f").exists()


def test_a_merge_that_is_no_fast_forward_is_called_what_git_calls_it(shop: Shop) -> None:
    shop.begin()
    second_commit(shop)
    shop.write(shop.main, "b.txt", "b\n")
    commit(shop.main, "ours")
    assert worktree_git.merge(shop.worktree) == "merged 1 commit of fix into main"
    assert git(shop.main, "log", "-1", "--format=%s") == "Merge branch 'fix'"


def test_the_filter_of_git_lfs_is_used_wherever_it_is_set(shop: Shop) -> None:
    lfs = shop.program(shop.base, "programs/git-lfs")
    shop.set("PATH", f"{lfs.parent}:{os.environ['PATH']}")
    git(shop.main, "config", "filter.lfs.smudge", "git-lfs smudge -- %f")
    shop.write(shop.main, ".gitattributes", "*.txt filter=lfs\n")
    git(shop.main, "add", "-A")
    git(shop.main, "commit", "-q", "-m", "lfs")
    shop.begin()
    assert "git-lfs" in shop.ran.read_text()
