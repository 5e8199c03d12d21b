"""MCP servers that a client gives, and a third-party agent in a whole engine: what its session is begun with."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, Decision
from tests.supervisor.agents.acp.scripted import NAME, agent_table, scripted, talk_with
from tests.supervisor.agents.acp.test_sessions import beginnings, last_words, notes
from tests.supervisor.work.place import CLOSED, on_linux
from tests.support.engine_harness import EngineHarness, Talk
from tests.support.given_servers import SCRIPTED, SECRET, files_with, give, program
from transports.supervisor_requests import GivenServer

WEB = GivenServer("web", kind="http", url="https://mcp.example/x", headers={"Authorization": SECRET})
AS_TOLD = {
    "name": "toys",
    "command": sys.executable,
    "args": [SCRIPTED],
    "env": [{"name": "KEY", "value": SECRET}],
}


@contextmanager
def confined(home: Path, *options: str) -> Iterator[EngineHarness]:
    table = agent_table(*options).replace('confine = "none"\n', "")
    with EngineHarness(home, f"[greenroom]\ninterrupt_grace_ms = 150\n{table}") as harness:
        yield harness


def servers(talk: Talk) -> list[dict[str, Any]]:
    """Ask the agent for the servers of its session."""
    talk.ask("servers")
    told: list[dict[str, Any]] = json.loads(last_words(talk))
    return told


def questions(talk: Talk) -> list[ev.ApprovalRequested]:
    return talk.all(ev.ApprovalRequested)


def test_without_a_sandbox_an_agent_is_handed_programs_and_the_addresses_that_it_knows(tmp_path: Path) -> None:
    with scripted(tmp_path, "http") as harness:
        talk = talk_with(harness)
        sse = GivenServer("old", kind="sse", url="https://mcp.example/sse")
        give(harness, talk, program(KEY=SECRET), WEB, sse)
        headers = [{"name": "Authorization", "value": SECRET}]
        web = {"type": "http", "name": "web", "url": "https://mcp.example/x", "headers": headers}
        assert servers(talk) == [AS_TOLD, web]
        servers(talk)
        assert notes(talk) == [
            "MCP server old, which a client gives, is left out: the agent does not know MCP over SSE",
        ]


@pytest.mark.parametrize(("option", "how"), [("", "resumed"), ("no-resume", "loaded")])
def test_a_session_that_is_taken_up_is_handed_them_when_they_are_given_again(
    tmp_path: Path, option: str, how: str
) -> None:
    options = [f"sessions={tmp_path / 'kept'}", *([option] if option else [])]
    with scripted(tmp_path, *options) as harness:
        talk = talk_with(harness)
        give(harness, talk, program(KEY=SECRET))
        assert servers(talk) == [AS_TOLD]
        harness.restart()
        give(harness, talk, program(KEY=SECRET))
        assert servers(talk) == [AS_TOLD]
        assert beginnings(talk) == ["new", how]


def test_other_servers_start_the_agent_anew_and_the_same_do_not(tmp_path: Path) -> None:
    with scripted(tmp_path, f"sessions={tmp_path / 'kept'}") as harness:
        talk = talk_with(harness)
        talk.ask("say hello")
        give(harness, talk, program(KEY=SECRET))
        assert servers(talk) == [AS_TOLD]
        give(harness, talk, program(KEY=SECRET))
        talk.ask("say hello")
        assert beginnings(talk) == ["new", "resumed"]
        assert notes(talk) == ["scripted is started anew: its servers changed"]


@on_linux
def test_an_agent_in_its_sandbox_is_handed_them_unasked_and_they_run_in_there(tmp_path: Path) -> None:
    with confined(tmp_path) as harness:
        talk = talk_with(harness, sandbox=CLOSED)
        give(harness, talk, program(KEY=SECRET))
        assert servers(talk) == [AS_TOLD]
        talk.ask("serve")
        assert int(last_words(talk)) < 100, "a PID namespace of its own"
        assert questions(talk) == []


@on_linux
def test_an_agent_without_its_sandbox_is_handed_programs_after_one_question(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, sandbox=CLOSED)
        give(harness, talk, program(KEY=SECRET), program("other"))
        begun = talk.start("servers")
        question = talk.wait(ev.ApprovalRequested)
        assert question.agent == "greenroom"
        assert SECRET not in question.model_dump_json()
        talk.decide(question.approval_id, Decision.APPROVED)
        talk.result(begun)
        assert [one["name"] for one in json.loads(last_words(talk))] == ["toys", "other"]
        talk.ask("say hello")
        assert len(questions(talk)) == 1


@on_linux
def test_an_agent_that_nothing_confines_is_handed_no_program_where_a_person_says_no_or_nobody_can_be_asked(
    tmp_path: Path,
) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, sandbox=CLOSED)
        give(harness, talk, program())
        begun = talk.start("servers")
        talk.decide(talk.wait(ev.ApprovalRequested).approval_id, Decision.DENIED)
        talk.result(begun)
        assert json.loads(last_words(talk)) == []
        assert notes(talk) == ["the MCP server toys that a client gives: refused; the turn goes on without"]

        other = talk_with(harness, sandbox=CLOSED, approval_policy=ApprovalPolicy.NEVER)
        give(harness, other, program())
        assert servers(other) == []
        assert "nothing confines the agent, and the approval policy is never" in notes(other)[0]


@on_linux
def test_a_question_about_them_outlives_the_daemon_and_is_no_question_of_the_agent_s(tmp_path: Path) -> None:
    with scripted(tmp_path, f"sessions={tmp_path / 'kept'}") as harness:
        talk = talk_with(harness, sandbox=CLOSED)
        give(harness, talk, program(KEY=SECRET))
        talk.start("servers")
        question = talk.wait(ev.ApprovalRequested)
        harness.restart()
        give(harness, talk, program(KEY=SECRET))
        talk.decide(question.approval_id, Decision.APPROVED)
        talk.wait(ev.TaskComplete)
        assert len(questions(talk)) == 1
        assert not any("a question of yours" in one or "start the MCP" in one for one in heard(tmp_path / "kept"))
        assert servers(talk) == [AS_TOLD]


def heard(kept: Path) -> list[str]:
    return [one for session in json.loads(kept.read_text()).values() for one in session]


def test_the_config_s_server_of_an_agent_wins_over_one_of_the_same_name(tmp_path: Path) -> None:
    table = 'mcp_servers = ["toys"]\n[mcp_servers.toys]\ncommand = "toys-of-the-config"'
    with scripted(tmp_path, table=table) as harness:
        talk = talk_with(harness)
        give(harness, talk, program(KEY=SECRET))
        assert [one["command"] for one in servers(talk)] == ["toys-of-the-config"]
        assert notes(talk) == [
            "MCP server toys, which a client gives, is left out: the config has one of this name, which is used"
        ]


def test_no_value_is_stored(tmp_path: Path) -> None:
    with scripted(tmp_path, "http") as harness:
        talk = talk_with(harness, NAME)
        give(harness, talk, program(KEY=SECRET), WEB)
        talk.ask("say hello")
        harness.stop()
        try:
            assert files_with(tmp_path, SECRET) == []
        finally:
            harness._start()
