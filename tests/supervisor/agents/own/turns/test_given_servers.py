"""MCP servers that a client gives, in whole turns: confined or asked about once, kept in memory, and ended."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, Decision, ReadOnly, WorkspaceWrite
from supervisor.agents.client_server_rules import describe_servers
from tests.faults.daemon_harness import until
from tests.supervisor.agents.acp.alive import alive, odd_seconds, wait_gone
from tests.supervisor.agents.own.mcp_client.test_http import TOKEN, listening
from tests.supervisor.agents.own.mcp_client.test_http import port as port  # noqa: PLC0414  # a fixture
from tests.supervisor.agents.own.turns.requests import check_well_formed, talk
from tests.supervisor.agents.own.turns.test_server_tools import notices, outputs, table, tools_of
from tests.supervisor.work.commands import ON_LINUX
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.given_servers import SCRIPTED, SECRET, files_with, give, program
from tests.support.model_server import ModelServer
from transports.supervisor_requests import GivenServer

ROOT = Path(__file__).parents[5]
SSE = "server-sent events as a transport were given up in 2025; give it as `http`"
ASKS = {"approval_policy": ApprovalPolicy.ON_REQUEST, "sandbox": WorkspaceWrite()}
CONFINED = {"approval_policy": ApprovalPolicy.NEVER, "sandbox": WorkspaceWrite()}


@pytest.fixture
def harness(tmp_path: Path, server: ModelServer) -> Iterator[EngineHarness]:
    with harness_at(tmp_path, server.base_url) as harness:
        yield harness


def call(tool: str, server: str = "toys", **arguments: object) -> str:
    return f"call {server}__{tool} {json.dumps(arguments)}; then; say done"


def surroundings(server: ModelServer) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(outputs(server)[-1])
    return told


def decide(one: Talk, decision: Decision, number: int = 1, *, of: str = "command") -> None:
    one.decide(one.wait(ev.ApprovalRequested, number, of=of).approval_id, decision)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_without_a_sandbox_a_given_server_is_started_unasked_and_its_tools_are_called(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk()
    give(harness, one, program(KEY=SECRET))
    one.ask(call("environment"))
    told = surroundings(server)
    assert (told["env"]["KEY"], told["cwd"]) == (SECRET, "/")
    assert one.all(ev.ApprovalRequested, of="command") == []


def test_one_question_is_asked_for_all_programs_and_it_shows_no_value(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    give(harness, one, program(KEY=SECRET), program("other"))
    begun = one.start("say hello")
    question = one.wait(ev.ApprovalRequested, of="command")
    call = question.agent_call
    assert call is not None
    assert call.title == (
        "start the MCP servers toys, other that a client gives this conversation, outside the sandbox"
    )
    assert json.loads(call.arguments)[0] == {
        "name": "toys",
        "command": f"{sys.executable} {SCRIPTED}",
        "variables": ["KEY"],
    }
    assert (question.agent, question.outside_sandbox) == ("greenroom", True)
    one.decide(question.approval_id, Decision.APPROVED)
    one.result(begun)
    assert {"toys__echo", "other__echo"} <= set(tools_of(server))
    one.ask("say more")
    give(harness, one, program(KEY=SECRET), program("other"))
    one.ask("say even more")
    assert len(one.all(ev.ApprovalRequested, of="command")) == 1, "the same servers are not asked about again"


def test_a_changed_command_or_variable_is_asked_about_anew_and_nothing_else_is(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    give(harness, one, program(), program("other"))
    begun = one.start("say hello")
    decide(one, Decision.APPROVED)
    one.result(begun)
    give(harness, one, program(LD_PRELOAD="/x.so"), program("other"))
    begun = one.start("say hello")
    question = one.wait(ev.ApprovalRequested, 2, of="command")
    assert question.agent_call is not None
    assert [each["name"] for each in json.loads(question.agent_call.arguments)] == ["toys"]
    one.decide(question.approval_id, Decision.DENIED)
    one.result(begun)
    assert "toys__echo" not in tools_of(server)
    assert "other__echo" in tools_of(server)


def test_a_no_is_told_in_a_line_and_the_turns_go_on_without(harness: EngineHarness, server: ModelServer) -> None:
    one = harness.talk(**ASKS)
    give(harness, one, program())
    begun = one.start("say hello")
    one.decide(one.wait(ev.ApprovalRequested, of="command").approval_id, Decision.DENIED, "not that one")
    assert one.result(begun).ending is Ending.COMPLETED
    one.ask("say more")
    assert notices(one) == [
        "the MCP server toys that a client gives: refused, because: not that one; the turn goes on without"
    ]
    one.change(one.settings.model_copy(update={"sandbox": DangerFullAccess()}))
    one.ask("say even more")
    assert len(one.all(ev.ApprovalRequested, of="command")) == 1
    assert "toys__echo" not in tools_of(server), "a no holds, whatever the settings are by then"


def test_calls_of_its_tools_are_asked_about_as_those_of_the_config_s(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    give(harness, one, program())
    begun = one.start(call("write", text="x"))
    decide(one, Decision.APPROVED)
    decide(one, Decision.APPROVED, of="tool")
    one.result(begun)
    assert outputs(server) == ["x"]


@ON_LINUX
def test_a_program_that_runs_outside_can_t_be_changed_from_inside_the_sandbox(
    harness: EngineHarness, server: ModelServer
) -> None:
    script = harness.workspace / "server.py"
    script.write_text(Path(SCRIPTED).read_text())
    one = harness.talk(**ASKS)
    give(harness, one, GivenServer("toys", command=(sys.executable, str(script))))
    begun = one.start('call shell ["sh", "-c", "echo pass > server.py"]; then; say done')
    decide(one, Decision.APPROVED)
    one.result(begun)
    assert "Read-only file system" in outputs(server)[0]
    assert script.read_text() == Path(SCRIPTED).read_text()


@ON_LINUX
def test_where_nobody_can_be_asked_it_runs_in_the_sandbox_and_is_called(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**CONFINED)
    give(harness, one, program(KEY=SECRET))
    one.ask(call("environment"))
    told = surroundings(server)
    assert told["env"]["KEY"] == SECRET
    assert told["cwd"] == str(harness.workspace)
    assert told["pid"] < 10, "a PID namespace of its own"
    assert one.all(ev.ApprovalRequested, of="command") == []


@ON_LINUX
def test_another_policy_is_another_sandbox_and_the_server_of_the_old_one_is_ended(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**CONFINED)
    give(harness, one, program("toys", "stays"))
    one.ask(call("environment"))
    assert harness.engine.processes.statistics()["running"] == 1
    one.change(one.settings.model_copy(update={"sandbox": ReadOnly()}))
    one.ask(call("echo", text="again"))
    assert outputs(server)[-1] == "again"
    until(lambda: harness.engine.processes.statistics()["running"] == 1, "the old one lives")


def test_a_server_that_is_not_given_any_more_is_ended(harness: EngineHarness, server: ModelServer) -> None:
    one = harness.talk()
    give(harness, one, program())
    one.ask(call("environment"))
    pid = surroundings(server)["pid"]
    give(harness, one)
    one.ask("say hello")
    assert "tools" not in server.requests[-1].body or "toys__echo" not in tools_of(server)
    until(lambda: not lives(pid), "it lives on")


def test_two_conversations_never_share_a_given_server(harness: EngineHarness, server: ModelServer) -> None:
    pids = []
    for one in (harness.talk(), harness.talk()):
        give(harness, one, program())
        one.ask(call("environment"))
        pids.append(surroundings(server)["pid"])
    assert pids[0] != pids[1]
    assert all(map(lives, pids))


def test_a_given_server_ends_when_its_conversation_is_parked_and_is_there_when_it_wakes(
    tmp_path: Path, server: ModelServer
) -> None:
    with harness_at(tmp_path, server.base_url, greenroom="idle_park_seconds = 0.05") as harness:
        one = harness.talk()
        give(harness, one, program())
        one.ask(call("environment"))
        pid = surroundings(server)["pid"]
        harness.leave()
        one.wait_parked()
        until(lambda: not lives(pid), "it lives on")
        one.attach()
        one.ask(call("echo", text="awake"))
        assert outputs(server)[-1] == "awake"


def test_the_config_s_server_wins_over_one_of_the_same_name_and_that_is_said_once(
    tmp_path: Path, server: ModelServer
) -> None:
    with harness_at(tmp_path, server.base_url, tables=table()) as harness:
        one = harness.talk()
        give(harness, one, program("toys", "dies"), GivenServer("old", kind="sse", url="http://127.0.0.1:1/sse"))
        one.ask(call("echo", text="the config's"))
        one.ask("say more")
        assert outputs(server) == ["the config's"]
        assert notices(one) == [
            "MCP server toys, which a client gives, is left out: the config has one of this name, which is used",
            f"MCP server old, which a client gives, is left out: {SSE}",
        ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (GivenServer("web", kind="http", url="http://mcp.example/x"), "is on another machine and not encrypted"),
        (GivenServer("web", kind="http", url=f"ftp://{SECRET}@x/"), "its definition can't be used"),
        (GivenServer("web", kind="http"), "no address is named"),
        (GivenServer("web"), "no program is named"),
        (GivenServer("web", command=("x" * 5000,)), "its command has more than 4096 characters"),
    ],
)
def test_an_unusable_server_is_left_out_with_a_reason_without_values(
    harness: EngineHarness, given: GivenServer, why: str
) -> None:
    one = harness.talk()
    give(harness, one, given)
    one.ask("say hello")
    (notice,) = notices(one)
    assert notice.startswith("MCP server web, which a client gives, is left out: ")
    assert why in notice
    assert SECRET not in notice


def test_an_address_is_connected_to_with_its_headers_and_nobody_is_asked_before(
    harness: EngineHarness, server: ModelServer, port: int
) -> None:
    asyncio.run(listening(port))
    one = harness.talk(**ASKS)
    url = f"http://127.0.0.1:{port}/mcp"
    give(harness, one, GivenServer("web", kind="http", url=url, headers={"Authorization": f"Bearer {TOKEN}"}))
    begun = one.start(call("double", "web", number=21))
    decide(one, Decision.APPROVED, of="tool")
    one.result(begun)
    assert outputs(server) == ["42"]
    assert one.all(ev.ApprovalRequested, of="command") == []


def test_a_question_outlives_the_daemon_and_its_answer_counts_if_the_same_is_given_again(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    give(harness, one, program(KEY=SECRET))
    one.start("say hello")
    question = one.wait(ev.ApprovalRequested, of="command")
    harness.restart()
    give(harness, one, program(KEY=SECRET))
    one.decide(question.approval_id, Decision.APPROVED)
    one.wait(ev.TaskComplete)
    assert "toys__echo" in tools_of(server)
    assert len(one.all(ev.ApprovalRequested, of="command")) == 1


def test_after_a_restart_nothing_is_started_before_it_is_given_again(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    give(harness, one, program())
    begun = one.start("say hello")
    decide(one, Decision.APPROVED)
    one.result(begun)
    harness.restart()
    one.ask("say hello")
    assert "toys__echo" not in tools_of(server)
    give(harness, one, program())
    begun = one.start("say hello")
    decide(one, Decision.DENIED, 2)
    one.result(begun)


def test_no_value_of_a_variable_or_a_header_is_stored(harness: EngineHarness) -> None:
    one = harness.talk(**ASKS)
    url = f"http://127.0.0.1:1/mcp?key={SECRET}"
    web = GivenServer("web", kind="http", url=url, headers={"Authorization": SECRET})
    give(harness, one, program(KEY=SECRET), program("sick", "dies", KEY=SECRET), web)
    begun = one.start(call("echo", text="x"))
    decide(one, Decision.APPROVED)
    decide(one, Decision.APPROVED, of="tool")
    one.result(begun)
    listed = describe_servers(harness.engine.client_servers.servers_of(one.conversation))
    assert SECRET not in str(listed)
    assert listed.servers[2].url == "http://127.0.0.1:1/mcp"
    harness.stop()
    try:
        assert files_with(harness.home, SECRET) == []
    finally:
        harness._start()


def test_a_question_of_a_conversation_that_is_put_away_is_answered_and_not_asked_again(
    tmp_path: Path, server: ModelServer
) -> None:
    with harness_at(tmp_path, server.base_url, greenroom="idle_park_seconds = 0.05") as harness:
        one = harness.talk(**ASKS)
        give(harness, one, program())
        one.start("say hello", await_end=False)
        question = one.wait(ev.ApprovalRequested, of="command")
        harness.leave()
        one.wait_parked()
        one.attach()
        one.decide(question.approval_id, Decision.APPROVED)
        one.wait(ev.TaskComplete)
        assert "toys__echo" in tools_of(server)
        assert len(one.all(ev.ApprovalRequested, of="command")) == 1


def test_an_interrupted_question_is_withdrawn_and_the_next_turn_asks_again(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    give(harness, one, program())
    begun = one.start("say hello")
    one.wait(ev.ApprovalRequested, of="command")
    one.interrupted(one.interrupt())
    assert one.result(begun).ending is Ending.INTERRUPTED
    begun = one.start("say hello")
    decide(one, Decision.APPROVED, 2)
    one.result(begun)
    assert "toys__echo" in tools_of(server)


def test_a_call_whose_server_is_taken_away_while_it_is_asked_about_fails(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    give(harness, one, program())
    begun = one.start(call("write", text="x"))
    decide(one, Decision.APPROVED)
    question = one.wait(ev.ApprovalRequested, of="tool")
    give(harness, one)
    one.decide(question.approval_id, Decision.APPROVED)
    one.result(begun)
    assert outputs(server) == ["toys write: the conversation does not have it any more"]


@ON_LINUX
def test_a_killed_daemon_leaves_no_given_server_and_no_value_in_its_log(tmp_path: Path, server: ModelServer) -> None:
    word = odd_seconds()
    command = (sys.executable, "-m", "tests.support.giving_engine", str(tmp_path), server.base_url, SECRET, word)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        try:
            assert daemon.stdout.readline() == "used\n"
            assert len([pid for pid in alive(word) if pid != daemon.pid]) >= 2
            daemon.kill()
            daemon.wait()
            wait_gone(word)
        finally:
            daemon.kill()
    assert "mcp_server" in (tmp_path / "everything.log").read_text()
    assert files_with(tmp_path, SECRET) == []


def test_the_transcript_stays_well_formed_with_a_question_before_the_first_request(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    give(harness, one, program())
    begun = one.start("say hello")
    decide(one, Decision.APPROVED_FOR_SESSION)
    one.result(begun)
    one.ask("say more")
    check_well_formed(server.requests[-1])
    assert [line[0] for line in talk(server)].count("user") >= 2
