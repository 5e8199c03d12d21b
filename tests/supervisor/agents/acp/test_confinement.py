"""A whole agent process in its sandbox: what it can and can't do in hours of life, whatever it tries."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from actors.vocabulary.settings import DangerFullAccess, ReadOnly, WorkspaceWrite
from supervisor.agents.acp.confinement import NotConfined, confine_agent
from supervisor.agents.acp.launching import fingerprint
from supervisor.work.reach.agent_homes import HOMES
from supervisor.work.reach.known_agents import KNOWN_AGENTS
from supervisor.work.sandbox.leftovers import clear
from supervisor.work.sandbox.order import Availability
from tests.supervisor.agents.acp.confined_agent import WITH_TMP, Agent, did, refused, write
from tests.supervisor.work.commands import ON_LINUX, limited
from tests.supervisor.work.place import Place, git, on_linux

pytestmark = on_linux


def descendants(pid: int) -> list[int]:
    """List the keeper of the only sandbox among a process's children, and all below it."""
    children = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    ours = pid != os.getpid()
    below = [one for one in children if ours or Path(f"/proc/{one}/cmdline").read_bytes().count(b"bwrap")]
    return [found for child in below for found in (child, *descendants(child))]


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_an_agent_writes_in_its_workspace_and_in_its_own_directories_and_nowhere_else(place: Place) -> None:
    agent = Agent(place)
    workspace, own, shell, outside = did(
        agent,
        write(place.workspace / "made"),
        write(agent.home / ".claude/projects/p/session.jsonl"),
        write(agent.home / ".bashrc"),
        write(place.outside / "secret"),
    )
    assert (place.workspace / "made").exists(), workspace
    assert (agent.home / ".claude/projects/p/session.jsonl").exists(), own
    assert refused(shell)
    assert refused(outside)
    assert not (agent.home / ".bashrc").exists()


def test_read_only_opens_nothing_of_the_workspace_but_the_agent_runs_with_a_tmp_of_its_own(place: Place) -> None:
    agent = Agent(place, policy=ReadOnly())
    outside = Path("/tmp") / f"greenroom-{os.getpid()}-of-the-agent"
    workspace, own, tmp, named = did(
        agent,
        write(place.workspace / "made"),
        write(agent.home / ".claude/projects/history"),
        write(outside),
        "__import__('tempfile').mkstemp()[1]",
    )
    assert refused(workspace)
    assert (agent.home / ".claude/projects/history").exists(), own
    assert tmp.startswith("(None"), "it can't work without"
    assert named.startswith("'/tmp/")
    assert not outside.exists()
    assert not Path(named.strip("'")).exists()


def test_a_tmp_that_the_policy_opens_is_the_real_one(place: Place) -> None:
    made = Path("/tmp") / f"greenroom-{os.getpid()}-of-all"
    try:
        did(Agent(place, policy=WITH_TMP), write(made))
        assert made.exists()
    finally:
        made.unlink(missing_ok=True)


def test_full_access_and_an_agent_that_its_person_left_unconfined_have_no_sandbox(place: Place) -> None:
    for agent in (Agent(place, policy=DangerFullAccess()), Agent(place, confine="none")):
        with agent.confined() as inside:
            assert inside.argv == agent.definition.argv
            assert not inside.keeper


def test_without_bubblewrap_it_is_not_started_and_what_to_do_is_said(place: Place) -> None:
    agent = Agent(place)
    agent.sandbox.availability = Availability(ok=False, reason="bwrap is not installed", how_to_get="install it")
    said = "bwrap is not installed; install it, or `--sandbox danger-full-access`"
    with pytest.raises(NotConfined, match=said), agent.confined():
        pass
    agent.policy = DangerFullAccess()
    with agent.confined() as inside:
        assert inside.argv == agent.definition.argv


# --- what is Greenroom's ------------------------------------------------------------------------------------------


def test_no_agent_answers_its_own_questions(place: Place) -> None:
    agent = Agent(place)
    path = agent.ours / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        there, family, config, env = did(
            agent,
            f"os.listdir({str(agent.ours)!r})",
            "socket.socket(socket.AF_UNIX)",
            write(agent.home / ".codex/config.toml"),
            "[one for one in os.environ if one.startswith('GREENROOM_SOCKET')]",
        )
    assert there == "[]"
    assert "PermissionError" in family
    assert refused(config) or "Error" in config
    assert not (agent.home / ".codex/config.toml").exists()
    assert env == "[]"


@pytest.mark.parametrize("what", ["program", "cwd", "own", "closed"])
def test_an_agent_that_needs_what_is_greenrooms_is_refused_by_that_name(place: Place, what: str) -> None:
    agent = Agent(place)
    ours = agent.ours / "inside"
    ours.mkdir()
    if what == "cwd":
        agent.cwd = ours
    elif what == "own":
        agent.own = (ours,)
    elif what == "closed":
        agent.own = (agent.home / ".codex/config.toml",)
        agent.own[0].parent.mkdir()
        agent.own[0].touch()
    else:
        (ours / "agent").write_text("#!/bin/sh\n")
        (ours / "agent").chmod(0o755)
    definition = agent.definition
    if what == "program":
        definition = replace(definition, argv=(str(ours / "agent"),))
    with (
        pytest.raises(NotConfined, match=r"no agent can reach; move it elsewhere, and name that place in \[agents\."),
        confine_agent(agent.sandbox, agent.settings, definition, agent.environment, agent.pins()),
    ):
        pass


# --- its life -----------------------------------------------------------------------------------------------------


def test_the_workspace_is_what_it_was_at_the_start_wherever_its_name_leads_later(place: Place) -> None:
    agent = Agent(place)
    precious = place.outside / "precious"
    precious.mkdir()

    async def work() -> tuple[str, str]:
        async with agent.lives() as living:
            own = await living.does(f"os.rename({str(place.workspace)!r}, {str(place.workspace) + '2'!r})")
            place.workspace.rename(place.outside / "moved")
            place.workspace.symlink_to(precious)
            return own, await living.does("Path('made').write_text('x')")

    own, written = limited(work())
    assert "Error" in own
    assert (place.outside / "moved/made").exists(), written
    assert not list(precious.iterdir())


def test_when_its_keeper_is_killed_all_that_it_started_is_gone(place: Place) -> None:
    agent = Agent(place)
    stubborn = "trap '' INT TERM HUP; sleep 300"

    async def work() -> list[int]:
        async with agent.lives() as living:
            start = f"subprocess.Popen(['sh', '-c', {stubborn!r}], start_new_session=True, env={{}}).pid"
            await living.does(start)
            await living.does(start)
            keeper, *pids = descendants(os.getpid())
            os.kill(keeper, signal.SIGKILL)
            await living.over()
            return pids

    pids = limited(work())
    assert len(pids) > 4
    assert not any(map(is_there, pids))


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.supervisor.agents.acp.confined_agent import Agent
from tests.supervisor.work.place import Place
with Agent(Place(Path(sys.argv[1]), Path(sys.argv[2]))).confined():
    print(sorted(one.name for one in Path(sys.argv[1]).iterdir()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@ON_LINUX
def test_placeholders_of_a_killed_daemon_round_an_agent_are_removed_by_the_next(place: Place) -> None:
    argv = (sys.executable, "-c", KILLED, str(place.workspace), str(place.outside))
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert ".git" in done.stdout
    assert clear(place.outside / "state/leftovers") == 1
    assert not list(place.workspace.iterdir())
    home = HOMES["claude"][0]
    assert {one.name for one in (place.outside / "home/.claude").iterdir()} == {*home.folders, *home.empty_files}


def test_another_sandbox_directory_or_program_needs_a_new_start_and_is_named(place: Place) -> None:
    agent = Agent(place)
    now = fingerprint(agent.settings, agent.definition)
    assert now == fingerprint(agent.settings, agent.definition)
    settings = agent.settings
    other = fingerprint(settings.model_copy(update={"sandbox": ReadOnly()}), agent.definition)
    assert now.name_changes(other) == "its sandbox"
    more = settings.model_copy(update={"sandbox": WorkspaceWrite(writable_roots=(place.outside,))})
    assert now.name_changes(fingerprint(more, agent.definition)) == "its sandbox"
    moved = settings.model_copy(update={"cwd": place.outside, "sandbox": ReadOnly()})
    assert now.name_changes(fingerprint(moved, agent.definition)) == "its sandbox and its directories"
    keyed = replace(agent.definition, env={"TOKEN": "secret"})
    assert now.name_changes(fingerprint(settings, keyed)) == "its program"
    assert "secret" not in repr(fingerprint(settings, keyed))


# --- network ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", [True, False])
def test_the_network_is_open_unless_the_person_said_otherwise(place: Place, network: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        said = did(Agent(place, network=network), f"socket.create_connection({server.getsockname()!r}).close()")[0]
    assert (said == "None") is network


# --- git ----------------------------------------------------------------------------------------------------------


def test_the_repository_can_be_read_and_not_changed(place: Place) -> None:
    git(place.workspace, "init")
    git(place.workspace, "commit", "--allow-empty", "-m", "first")
    before = {one: one.read_bytes() for one in (place.workspace / ".git").rglob("*") if one.is_file()}

    async def work() -> list[str]:
        async with Agent(place).lives() as living:
            attacks = ("git commit --allow-empty -m x", "echo x > .git/hooks/pre-commit", "mv .git .g; mkdir .git")
            return [await living.sh("git status"), *[await living.sh(one) for one in attacks]]

    status, *attacks = limited(work())
    assert "returncode=0" in status
    assert all("returncode=0" not in one for one in attacks)
    assert {one: one.read_bytes() for one in (place.workspace / ".git").rglob("*") if one.is_file()} == before


def test_every_known_agent_can_be_confined(place: Place) -> None:
    for name in KNOWN_AGENTS:
        agent = Agent(place, name=name)
        with agent.confined() as inside:
            assert inside.keeper
            assert not inside.notices
        for own in agent.definition.own:
            assert own.exists() or own.suffix, own
