"""A command that may change a repository's history: real git in the real sandbox, and what it still can't do."""

import os
import subprocess
from pathlib import Path

import pytest

from supervisor.disk.folders import open_folder
from supervisor.disk.pins import pins_of
from supervisor.work.processes.command import Finished
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.git_locks import hold_lock
from supervisor.work.sandbox.history_repository import Repository
from supervisor.work.sandbox.leftovers import LeftoverLedger, clear
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.commands import INSTANCE, Watched, command, confined, limited
from tests.supervisor.work.place import CLOSED, Did, Place, Talk, git, on_linux
from tests.supervisor.work.reach.crafted_index import entry, index

pytestmark = on_linux
IDENTITY = {
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@localhost",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@localhost",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
}


def told(directory: Path, *args: str) -> str:
    env = {"PATH": os.environ["PATH"], **IDENTITY}
    return subprocess.run(["git", *args], cwd=directory, env=env, check=True, capture_output=True, text=True).stdout


class History:
    """Runs commands that may change the history of the repository they start in."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.sandbox = Sandbox(place.sandbox.protection, place.outside / "state/leftovers")

    def repository(self, start: Path | None = None) -> Repository | None:
        return self.sandbox.repository(CLOSED, self.place.workspace, start or self.place.workspace)

    def sh(self, script: str, start: Path | None = None, repository: Repository | None = None, **env: str) -> Did:
        argv = ("sh", "-c", script)
        start, workspace = start or self.place.workspace, self.place.workspace
        repository = repository or self.repository(start)
        assert repository is not None

        async def work() -> Did:
            watched, plain = Watched(), command(*argv, env={**IDENTITY, **env})
            async with Processes(self.place.outside / "ledger", INSTANCE, 0.2) as processes:
                pins = pins_of(CLOSED, workspace, None)
                with self.sandbox.confine(
                    CLOSED, workspace, argv, plain.env, start=start, pins=pins, history=repository
                ) as inside:
                    result = await processes.run(confined(plain, inside), watched.output)
            assert isinstance(result, Finished)
            said = (*inside.notices, *inside.aftermath)
            return Did(result.exit_code, watched.output.stdout.text(), watched.output.stderr.text(), said)

        return limited(work())


@pytest.fixture
def history(place: Place) -> History:
    git(place.workspace, "init")
    (place.workspace / "a").write_text("one\n")
    git(place.workspace, "add", "a")
    git(place.workspace, "commit", "-m", "first")
    return History(place)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_a_commit_is_made_in_the_sandbox_and_nothing_else_of_the_folder_changes(
    place: Place, history: History
) -> None:
    before = tree(place.workspace / ".git")
    did = history.sh("echo two >> a && git add a && git commit -qm second && git tag v1 && git checkout -qb side")
    assert (did.exit_code, did.stderr, did.said) == (0, "", ())
    assert told(place.workspace, "log", "--format=%s") == "second\nfirst\n"
    assert told(place.workspace, "status", "--porcelain", "--branch") == "## side\n"
    assert told(place.workspace, "fsck", "--strict") == ""
    after = tree(place.workspace / ".git")
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert {name.split("/")[0] for name in changed} <= {
        *("HEAD", "index", "logs", "objects", "refs", "COMMIT_EDITMSG")
    }


@pytest.mark.usefixtures("history")
def test_without_that_approval_a_commit_fails_as_before(place: Place) -> None:
    assert Talk(place, CLOSED, place.workspace, (), IDENTITY).sh("git commit --allow-empty -m x").exit_code != 0
    assert told(place.workspace, "log", "--format=%s") == "first\n"


def test_a_merge_with_a_conflict_is_there_for_the_next_command_and_for_the_person(
    place: Place, history: History
) -> None:
    history.sh("git checkout -qb side && echo side > a && git commit -qam side && git checkout -q -")
    history.sh("echo main > a && git commit -qam main; git merge side")
    assert "UU a" in told(place.workspace, "status", "--porcelain")
    did = history.sh("echo both > a && git add a && git commit -qm merged")
    assert (did.exit_code, did.said) == (0, ())
    assert not (place.workspace / ".git/MERGE_HEAD").exists()
    assert told(place.workspace, "log", "-1", "--format=%s %p").startswith("merged ")


def test_stashing_deleting_packed_branches_and_resetting_work(place: Place, history: History) -> None:
    git(place.workspace, "branch", "old")
    git(place.workspace, "pack-refs", "--all")
    did = history.sh("echo x >> a && git stash -q && git stash pop -q && git branch -q -D old && git reset -q --hard")
    assert (did.exit_code, did.said) == (0, ())
    assert "old" not in told(place.workspace, "branch")


ATTACKS = [
    "echo evil > .git/hooks/post-commit",
    "mv .git/hooks .git/h; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
    "git config core.fsmonitor evil",
    "echo '[core]\nfsmonitor = evil' > .git/config.new; mv -f .git/config.new .git/config",
    "rm -f .git/config",
    "echo '* filter=evil' > .git/info/attributes",
    "mkdir -p .git/info; echo /elsewhere > .git/objects/info/alternates",
    "mv .git/objects/info .git/objects/x",
    'mkdir store; echo "$PWD/store" > .git/commondir',
    "mkdir .git/safe",
    "echo /elsewhere > .git/COMMONDIR; cp .git/config .git/CONFIG; echo x > .git/Merge_Msg",
    "mkdir -p .git/rebase-merge; echo 'exec evil' > .git/rebase-merge/git-rebase-todo",
    "mkdir -p .git/rr-cache .git/modules/m .git/worktrees/w .git/remotes; echo x > .git/remotes/origin",
    "ln -sf $HOME/.bashrc .git/COMMIT_EDITMSG; ln -sf /tmp/x .git/logs/HEAD; ln -s /tmp .git/refs/heads/l",
    "mkfifo .git/refs/heads/f",
    "mv .git .git2; rmdir .git; mkdir .git",
    "echo 'not a head' > .git/HEAD",
    "rm .git/HEAD",
    "chmod 000 .git/refs .git/objects .git",
    "mv .git/refs .git/r; rmdir .git/refs",
    "touch .git/index.lock .git/config.lock",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_command_changes_anything_but_history(place: Place, history: History, attack: str) -> None:
    """All but history stays byte for byte, no link or pipe comes to be, and git still works."""
    folder = place.workspace / ".git"
    (folder / "hooks").mkdir(exist_ok=True)
    kept = {"config", "hooks", "info", "description"}
    before = {name: one for name, one in tree(folder).items() if name.split("/")[0] in kept}
    names = {one.name for one in folder.iterdir()}
    history.sh(attack)
    assert {name: one for name, one in tree(folder).items() if name.split("/")[0] in kept} == before
    assert {one.name for one in folder.iterdir()} - names <= {"COMMIT_EDITMSG"}
    assert not any(one.is_symlink() or one.is_fifo() for one in folder.rglob("*"))
    assert not (folder / "objects/info/alternates").exists()
    assert (folder / "HEAD").read_text() == "ref: refs/heads/main\n"
    git(place.workspace, "status")
    git(place.workspace, "commit", "--allow-empty", "-m", "the person's")


@pytest.mark.parametrize("path", [b".git/hooks/post-checkout", b"../outside/evil", b"ABSOLUTE"])
def test_an_index_that_names_files_outside_of_the_work_tree_is_not_kept(
    place: Place, history: History, path: bytes
) -> None:
    """Git would write them at the person's next `git checkout`."""
    crafted = index(entry(path.replace(b"ABSOLUTE", bytes(place.outside / "evil"))))
    (place.workspace / "crafted").write_bytes(crafted)
    before = (place.workspace / ".git/index").read_bytes()
    did = history.sh("cp crafted .git/index")
    assert "index is as it was before the command: the new one is not used: it names" in did.said[0]
    assert (place.workspace / ".git/index").read_bytes() == before
    git(place.workspace, "checkout", "--", ".")
    assert not (place.workspace / ".git/hooks/post-checkout").exists()
    assert not (place.outside / "evil").exists()


def test_a_state_of_any_size_or_number_is_not_kept(place: Place, history: History) -> None:
    before = tree(place.workspace / ".git")
    (told_of,) = history.sh("truncate -s 1T .git/index").said
    assert "larger than" in told_of
    (told_of,) = history.sh("cd .git; seq 3000 | sed 's/^/X/' | xargs touch").said
    assert "more than 2000 files" in told_of
    assert len(history.sh("cd .git; seq 100 | sed 's/^/X/' | xargs touch").said) == 11
    assert "is as it was" in history.sh("echo \"'a'; evil\" > .git/BISECT_NAMES").said[0]
    assert tree(place.workspace / ".git") == before


def test_paths_of_a_bisection_are_kept(place: Place, history: History) -> None:
    did = history.sh("git bisect start -- 'a' \"it's\"")
    assert did.said == ()
    assert "it" in (place.workspace / ".git/BISECT_NAMES").read_text()


def test_a_name_that_is_no_part_of_history_is_told_to_be_left_out(history: History) -> None:
    assert "safe was made in" in history.sh("mkdir .git/safe").said[0]
    assert "names no branch and no commit" in history.sh("echo ../../x > .git/HEAD").said[0]


def test_a_hook_of_the_users_own_runs_inside(place: Place, history: History) -> None:
    hook = place.workspace / ".git/hooks/post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch ran-here {place.outside}/ran-there\n")
    hook.chmod(0o755)
    history.sh("git commit -q --allow-empty -m x")
    assert (place.workspace / "ran-here").exists()
    assert not (place.outside / "ran-there").exists()


def test_another_git_is_waited_for_and_then_named(
    place: Place, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supervisor.work.sandbox.git_locks.WAIT_S", 0.0)
    (place.workspace / ".git/index.lock").touch()
    with pytest.raises(OSError, match=r"another git is at work .*index\.lock exists"):
        history.sh("true")
    assert (place.workspace / ".git/index.lock").exists()
    assert {one.name for one in (place.workspace / ".git").glob("*.lock")} == {"index.lock"}


def test_while_it_runs_no_other_git_changes_the_index_and_afterwards_it_may(place: Place, history: History) -> None:
    repository = history.repository()
    assert repository is not None
    with history.sandbox.confine(CLOSED, place.workspace, ("true",), {}, history=repository):
        with pytest.raises(subprocess.CalledProcessError):
            git(place.workspace, "add", "a")
        assert told(place.workspace, "log", "--format=%s") == "first\n"
    git(place.workspace, "add", "a")


def test_a_head_that_somebody_else_moved_meanwhile_stays_theirs(place: Place, history: History) -> None:
    head = place.workspace / ".git/HEAD"
    did = history.sh("git symbolic-ref HEAD refs/heads/model; true", repository=history.repository())
    assert did.said == ()
    assert head.read_text() == "ref: refs/heads/model\n"
    repository = history.repository()
    assert repository is not None
    with history.sandbox.confine(CLOSED, place.workspace, ("true",), {}, history=repository) as inside:
        (scratch,) = (history.sandbox._views or Path()).iterdir()
        (scratch / "0/HEAD").write_text("ref: refs/heads/again\n")
        head.write_text("ref: refs/heads/main\n")
    assert head.read_text() == "ref: refs/heads/main\n"
    assert "somebody else has changed it meanwhile" in inside.aftermath[0]


def test_a_lock_of_a_killed_daemon_is_removed_and_no_other(place: Place) -> None:
    ledgers, lock = place.outside / "ledgers", place.workspace / "index.lock"
    folder = open_folder(place.workspace)
    with hold_lock(folder, "index", place.workspace, LeftoverLedger(ledgers)):
        assert lock.exists()
        (file,) = ledgers.iterdir()
        noted = file.read_bytes()
        clear(ledgers)
        assert not lock.exists()
        lock.write_text("another git's")
        file.write_bytes(noted)
        clear(ledgers)
        assert lock.exists()
    assert lock.read_text() == "another git's"
    os.close(folder)


# --- which repository ----------------------------------------------------------------------------------------------


def test_a_worktree_is_committed_in_and_the_main_one_stays_as_it_is(place: Place, history: History) -> None:
    git(place.workspace, "worktree", "add", str(place.outside / "linked"))
    linked = place.outside / "linked"
    repository = history.sandbox.repository(CLOSED, linked, linked)
    assert repository == Repository(linked, place.workspace / ".git/worktrees/linked", place.workspace / ".git")
    index = (place.workspace / ".git/index").read_bytes()
    did = history.sh("git commit -q --allow-empty -m linked", start=linked, repository=repository)
    assert (did.exit_code, did.stderr, did.said) == (0, "", ())
    assert told(linked, "log", "-1", "--format=%s") == "linked\n"
    assert (place.workspace / ".git/index").read_bytes() == index
    attack = f"echo {place.outside} > $(git rev-parse --git-dir)/commondir"
    history.sh(attack, start=linked, repository=repository)
    assert (place.workspace / ".git/worktrees/linked/commondir").read_text() == "../..\n"


def test_a_submodule_is_committed_in(place: Place, history: History) -> None:
    source = place.outside / "source"
    source.mkdir()
    git(source, "init")
    git(source, "commit", "--allow-empty", "-m", "sub")
    git(place.workspace, "-c", "protocol.file.allow=always", "submodule", "add", str(source), "sub")
    sub = place.workspace / "sub"
    did = history.sh("echo x > f && git add f && git commit -qm in-sub", start=sub)
    assert (did.exit_code, did.stderr, did.said) == (0, "", ())
    assert told(sub, "log", "-1", "--format=%s") == "in-sub\n"
    assert history.repository(sub) == Repository(sub, *[place.workspace / ".git/modules/sub"] * 2)


def test_a_git_file_that_names_somebody_elses_repository_opens_nothing(place: Place, history: History) -> None:
    theirs = place.outside / "theirs"
    theirs.mkdir()
    git(theirs, "init")
    project = place.workspace / "project"
    project.mkdir()
    (project / ".git").write_text(f"gitdir: {theirs}/.git\n")
    assert history.repository(project) is None
    git(theirs, "commit", "--allow-empty", "-m", "x")
    git(theirs, "worktree", "add", str(place.outside / "w"))
    (project / ".git").write_text(f"gitdir: {theirs}/.git/worktrees/w\n")
    assert history.repository(project) is None


def test_a_repository_that_does_not_concern_the_workspace_or_is_linked_is_none(
    place: Place, history: History
) -> None:
    other = place.outside / "other"
    other.mkdir()
    git(other, "init")
    assert history.repository(other) is None
    (place.workspace / "nested").mkdir()
    (place.workspace / "nested/.git").symlink_to(other / ".git")
    assert history.repository(place.workspace / "nested") is None
    logs = place.workspace / ".git/logs"
    logs.rename(place.outside / "logs")
    logs.symlink_to(place.outside / "logs")
    assert history.repository() is None


def test_a_folder_of_a_repository_above_counts_and_no_repository_is_none(place: Place, history: History) -> None:
    (place.workspace / "sub").mkdir()
    found = history.sandbox.repository(CLOSED, place.workspace / "sub", place.workspace / "sub")
    assert found == Repository(place.workspace, *[place.workspace / ".git"] * 2)
    assert history.sandbox.repository(CLOSED, place.outside, place.outside) is None


def test_an_empty_git_folder_is_no_repository_and_hides_none(place: Place, history: History) -> None:
    """As git has it; a placeholder of another sandbox must not count."""
    (place.workspace / "sub" / ".git").mkdir(parents=True)
    found = history.sandbox.repository(CLOSED, place.workspace / "sub", place.workspace / "sub")
    assert found == Repository(place.workspace, *[place.workspace / ".git"] * 2)
