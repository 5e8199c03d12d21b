"""Real git of a confined agent: it commits, and gets nothing else of the repository's folder."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from actors.vocabulary.settings import ReadOnly
from tests.supervisor.agents.acp.confined_agent import Agent
from tests.supervisor.work.commands import limited
from tests.supervisor.work.place import Place, git, on_linux
from tests.supervisor.work.sandbox.test_history import IDENTITY, tree

pytestmark = on_linux


def told(directory: Path, *args: str) -> str:
    env = {"PATH": os.environ["PATH"], **IDENTITY}
    return subprocess.run(["git", *args], cwd=directory, env=env, check=True, capture_output=True, text=True).stdout


def sh(agent: Agent, *scripts: str) -> list[str]:
    async def work() -> list[str]:
        async with agent.lives() as living:
            return [await living.sh(one) for one in scripts]

    return limited(work())


@pytest.fixture
def agent(place: Place) -> Agent:
    git(place.workspace, "init")
    (place.workspace / "a").write_text("one\n")
    git(place.workspace, "add", "a")
    git(place.workspace, "commit", "-m", "first")
    return Agent(place, env=IDENTITY)


def test_an_agent_adds_commits_branches_and_reads_with_the_git_that_it_finds(place: Place, agent: Agent) -> None:
    commit, *_, login, log, inp = sh(
        agent,
        "echo two >> a && git add a && git commit -qm second",
        "git checkout -qb side && git tag v1 && mkdir sub && echo x > sub/f",
        "cd sub && git add . && git commit -qm third",
        "bash -lc 'git -C sub commit --allow-empty -qm fourth; git status --porcelain'",
        "git log --format=%s",
        "echo from-input | git commit --allow-empty -qF -",
    )
    assert "returncode=0, stdout='', stderr=''" in commit
    assert "returncode=0" in login
    assert "fourth\\nthird\\nsecond\\nfirst\\n" in log
    assert "returncode=0" in inp
    assert told(place.workspace, "log", "--format=%s") == "from-input\nfourth\nthird\nsecond\nfirst\n"
    assert told(place.workspace, "status", "--porcelain", "--branch") == "## side\n"
    assert told(place.workspace, "fsck", "--strict") == ""


def test_its_exit_code_and_words_are_gits_own(agent: Agent) -> None:
    failed, unknown, elsewhere = sh(
        agent, "git commit -m nothing", "git checkout nowhere", "cd /usr && git commit -m x"
    )
    assert "returncode=1" in failed
    assert "nothing to commit" in failed
    assert "returncode=1" in unknown
    assert "did not match any file" in unknown
    assert "not a git repository" in elsewhere


ATTACKS = [
    "echo evil > .git/hooks/post-commit",
    "git config core.fsmonitor evil",
    'git -c alias.commit="!echo evil > .git/hooks/post-commit" commit',
    "git -c core.editor='echo evil >> .git/config; true' commit --allow-empty",
    "git -c core.editor='mkdir store; echo $PWD/store > .git/commondir; true' commit --allow-empty",
    "git -c core.editor='ln -sf $HOME/.bashrc .git/logs/x; mkdir -p .git/rebase-merge; true' commit --allow-empty",
    "git -c core.editor='echo /elsewhere > .git/objects/info/alternates; true' commit --allow-empty",
    "git -c core.editor='touch .git/config.worktree .git/info/attributes; true' commit --allow-empty",
    "mv .git .git2; rmdir .git; mkdir .git; git add .",
    "ln -s /etc /dev/greenroom/asks/00000000000000000000000000000000",
    "rm -rf /dev/greenroom/*; echo evil > /dev/greenroom/program; echo evil > $(command -v git)",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_request_changes_anything_but_history(place: Place, agent: Agent, attack: str) -> None:
    folder = place.workspace / ".git"
    (folder / "hooks").mkdir(exist_ok=True)
    kept = {"config", "hooks", "info", "description", "config.worktree"}
    before = {name: one for name, one in tree(folder).items() if name.split("/")[0] in kept}
    names = {one.name for one in folder.iterdir()}
    sh(agent, attack, "git commit -q --allow-empty -m later")
    assert {name: one for name, one in tree(folder).items() if name.split("/")[0] in kept} == before
    assert {one.name for one in folder.iterdir()} - names <= {"COMMIT_EDITMSG"}
    assert not any(one.is_symlink() or one.is_fifo() for one in folder.rglob("*"))
    assert not (folder / "objects/info/alternates").exists()
    git(place.workspace, "commit", "--allow-empty", "-m", "the person's")


def test_a_git_command_asked_for_by_hand_runs_in_no_wider_sandbox(place: Place, agent: Agent) -> None:
    """A request is foreign: it may name any arguments, directory and variables."""
    outside = place.outside / "evil"
    asked = (
        "import json,os,sys;d='/dev/greenroom/';n='a'*32;"
        f"v={{'args':['-c','core.editor=touch {outside};true','commit','--allow-empty'],'cwd':os.getcwd(),"
        "'env':{'PATH':'/usr/bin:/bin','LD_PRELOAD':'x'},'input':''};"
        "open(d+'asks/'+n,'w').write(json.dumps(v));os.write(os.open(d+'bell',1),(n+chr(10)).encode())"
    )
    wait = "while ! test -e /dev/greenroom/answers/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do sleep 0.02; done"
    sh(
        agent,
        f"{os.path.realpath(sys.executable)} -c {shlex.quote(asked)}; {wait}",
        "printf '%0100d' 0 > /dev/greenroom/bell; true",
    )
    assert not outside.exists()
    assert not list((place.outside / "state/desks").iterdir())


def test_a_linked_worktree_is_committed_in(place: Place, agent: Agent) -> None:
    git(place.workspace, "worktree", "add", str(place.outside / "linked"))
    agent.cwd = place.outside / "linked"
    (said,) = sh(agent, "git commit -q --allow-empty -m linked")
    assert "returncode=0, stdout='', stderr=''" in said
    assert told(agent.cwd, "log", "-1", "--format=%s") == "linked\n"
    assert told(place.workspace, "log", "-1", "--format=%s") == "first\n"


def test_read_only_lets_nothing_into_the_history(place: Place, agent: Agent) -> None:
    agent.policy = ReadOnly()
    (said,) = sh(agent, "git commit -q --allow-empty -m x")
    assert "Read-only file system" in said
    assert told(place.workspace, "log", "--format=%s") == "first\n"


def test_the_end_of_the_agent_is_the_end_of_what_its_git_runs(place: Place, agent: Agent) -> None:
    async def work() -> None:
        async with agent.lives() as living:
            hold = "git -c core.editor='touch began; sleep 300; true' commit --allow-empty"
            await living.does(f"subprocess.Popen(['sh', '-c', {hold!r}]).pid")
            await living.does("[time.sleep(0.01) for _ in iter(lambda: os.path.exists('began'), True)]")

    limited(work())
    assert (place.workspace / "began").exists()
    git(place.workspace, "commit", "--allow-empty", "-m", "the person's")
