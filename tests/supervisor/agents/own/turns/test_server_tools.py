"""Tools of MCP servers in whole turns: offered, asked for, called, interrupted, and gone with their server."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, Decision, WorkspaceWrite
from tests.supervisor.agents.own.turns.requests import check_well_formed, talk
from tests.support import scripted_mcp_server
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.model_server import ModelServer
from tests.support.work import subject_of

SCRIPTED = str(Path(scripted_mcp_server.__file__))
ASKS = {"approval_policy": ApprovalPolicy.ON_REQUEST, "sandbox": WorkspaceWrite()}


def table(name: str = "toys", *modes: str, **more: object) -> str:
    lines = {"command": sys.executable, "args": [SCRIPTED, *modes], **more}
    return f"\n[mcp_servers.{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())


@pytest.fixture
def harness(tmp_path: Path, server: ModelServer) -> Iterator[EngineHarness]:
    with harness_at(tmp_path, server.base_url, tables=table()) as harness:
        yield harness


def tools_of(server: ModelServer, request: int = -1) -> list[str]:
    return [one["function"]["name"] for one in server.requests[request].body["tools"]]


def outputs(server: ModelServer) -> list[str]:
    check_well_formed(server.requests[-1])
    return [line[2] for line in talk(server) if line[0] == "output"]


def call(tool: str, **arguments: object) -> str:
    return f"call toys__{tool} {json.dumps(arguments)}; then; say done"


def notices(conversation: Talk) -> list[str]:
    return [one.message for one in conversation.all(ev.BackgroundEvent)]


def test_a_model_is_offered_the_tools_and_gets_what_they_answer(harness: EngineHarness, server: ModelServer) -> None:
    one = harness.talk()
    one.ask(call("echo", text="hello"))
    assert "toys__echo" in tools_of(server, 0)
    assert outputs(server) == ["hello"]
    (begun,), (ended,) = one.all(ev.WorkBegan), one.all(ev.WorkEnded)
    subject = ev.ToolSubject(server="toys", tool="echo", arguments={"text": "hello"})
    assert (begun.subject, ended.subject, ended.kind, ended.status) == (subject, subject, "tool", "completed")
    assert ended.result == {"content": [{"type": "text", "text": "hello"}], "isError": False}


def test_two_conversations_share_a_server(harness: EngineHarness, server: ModelServer) -> None:
    pids = []
    for one in (harness.talk(), harness.talk()):
        one.ask(call("environment"))
        pids.append(json.loads(outputs(server)[-1])["pid"])
    assert pids[0] == pids[1]


def test_a_call_is_asked_for_and_carried_out_when_a_person_says_yes(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    begun = one.start(call("write", text="x"))
    question = one.wait(ev.ApprovalRequested)
    assert question.subject == ev.ToolSubject(server="toys", tool="write", arguments='{"text": "x"}')
    assert question.outside_sandbox
    assert one.all(ev.WorkBegan) == []
    one.decide(question.approval_id, Decision.APPROVED_FOR_SESSION)
    assert one.result(begun).ending is Ending.COMPLETED
    one.ask(call("write", text="y"))
    assert len(one.all(ev.ApprovalRequested)) == 1, "the same tool stands approved"
    assert outputs(server)[-1] == "y"


def test_a_call_that_is_denied_never_reaches_the_server(harness: EngineHarness, server: ModelServer) -> None:
    one = harness.talk(**ASKS)
    begun = one.start(call("die"))
    one.decide(one.wait(ev.ApprovalRequested).approval_id, Decision.DENIED, "too dangerous")
    one.result(begun)
    assert outputs(server) == ["toys die rejected by user: too dangerous"]
    assert one.all(ev.WorkBegan) == []
    assert one.all(ev.ToolOutput)[-1].failed == ev.ToolFailure(
        kind="refused", message="toys die rejected by user: too dangerous"
    )


def test_a_question_on_paper_outlives_the_daemon_and_its_answer_makes_the_call(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk(**ASKS)
    one.start(call("write", text="later"))
    question = one.wait(ev.ApprovalRequested)
    harness.restart()
    one.decide(question.approval_id, Decision.APPROVED)
    one.wait(ev.TaskComplete)
    assert outputs(server) == ["later"]
    assert len(one.all(ev.ApprovalRequested)) == 1


def test_an_interrupt_ends_a_call_at_once_and_the_server_lives_on(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk()
    begun = one.start(call("sleep"))
    one.wait(ev.WorkBegan)
    one.interrupted(one.interrupt())
    assert one.result(begun).ending is Ending.INTERRUPTED
    ended = one.all(ev.WorkEnded)[-1]
    assert (ended.status, ended.result, ended.errors) == ("cancelled", None, "interrupted")
    one.ask(call("echo", text="still here"))
    assert outputs(server)[-1] == "still here"


def test_a_server_that_dies_in_a_call_fails_it_and_serves_the_next(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk()
    one.ask('call toys__die {}; then; call toys__echo {"text": "back"}; then; say done')
    died, back = outputs(server)
    assert died == "toys die: it ended with status 3, and said last: I have had enough"
    assert back == "back"
    assert any("MCP server toys is gone" in notice for notice in notices(one))


def test_a_server_that_is_not_ready_is_told_once_and_the_turn_goes_on_without_it(
    tmp_path: Path, server: ModelServer
) -> None:
    tables = table() + table("silent", "mute", startup_timeout_sec=0.3) + table("sick", "dies")
    with harness_at(tmp_path, server.base_url, tables=tables) as harness:
        one = harness.talk()
        one.ask(call("echo", text="x"))
        without = "is not available, the turn goes on without its tools: it"
        assert sorted(notices(one)) == [
            f"MCP server sick {without} ended with status 4, and said last: no licence",
            f"MCP server silent {without} was not ready within 0.3 s",
        ]
        assert outputs(server) == ["x"]


def test_tools_that_appear_in_a_turn_are_offered_with_its_next_request(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk()
    one.ask('call toys__more_tools {}; then; call toys__late {"text": "new"}; then; say done')
    assert "toys__late" not in tools_of(server, 0)
    assert "toys__late" in tools_of(server, 1)
    assert outputs(server) == ["there are more", "new"]


def test_pictures_of_a_tool_are_kept_for_the_model(harness: EngineHarness) -> None:
    one = harness.talk()
    one.ask(call("picture"))
    assert one.all(ev.ToolOutput)[-1].pictures[0].image_url.startswith("data:image/png;base64,")


def test_progress_is_shown(harness: EngineHarness) -> None:
    one = harness.talk()
    one.ask(call("progress"))
    assert notices(one) == ["toys progress: 1 of 3, step 1"], "the others came within the pause"


def test_an_error_of_a_tool_is_told_in_one_line(harness: EngineHarness, server: ModelServer) -> None:
    one = harness.talk()
    one.ask(call("fail"))
    assert outputs(server) == ["no such thing\nmore"]
    assert one.all(ev.ToolOutput)[-1].failed == ev.ToolFailure(kind="tool", message="toys fail: no such thing")


@pytest.mark.parametrize(
    ("decision", "sent"),
    [
        (Decision.APPROVED, {"action": "accept", "content": {"colour": "blue"}}),
        (Decision.DENIED, {"action": "decline"}),
    ],
)
def test_a_server_s_question_is_put_to_a_person_and_answered(
    harness: EngineHarness, server: ModelServer, decision: Decision, sent: dict[str, Any]
) -> None:
    one = harness.talk()
    begun = one.start(call("ask"))
    question = one.wait(ev.ApprovalRequested)
    form = subject_of(question, ev.FormSubject)
    assert (form.server, form.message) == ("toys", "Which colour?")
    assert form.fields == ('colour: one of red, blue; a plain yes sends "blue"',)
    one.decide(question.approval_id, decision)
    one.result(begun)
    assert json.loads(outputs(server)[0]) == sent


def test_a_server_s_form_is_filled_in_by_a_person(harness: EngineHarness, server: ModelServer) -> None:
    one = harness.talk()
    begun = one.start("call toys__ask_needed {}; then; say done")
    question = one.wait(ev.ApprovalRequested)
    one.decide(question.approval_id, Decision.APPROVED, content={"name": "Ann"})
    one.result(begun)
    assert json.loads(outputs(server)[0]) == {"action": "accept", "content": {"name": "Ann"}}
    assert one.all(ev.ApprovalResolved)[-1].content == {"name": "Ann"}


def test_a_call_of_a_tool_that_no_server_has_is_said_to_be_unknown(
    harness: EngineHarness, server: ModelServer
) -> None:
    one = harness.talk()
    one.ask(call("nothing"))
    assert outputs(server) == ["unsupported call: toys__nothing"]


def test_arguments_that_are_no_object_are_told_to_the_model(harness: EngineHarness, server: ModelServer) -> None:
    one = harness.talk()
    one.ask("call toys__echo [1]; then; say done")
    assert "no JSON object" in outputs(server)[0]


def test_a_server_that_is_switched_off_or_ourselves_is_not_started(tmp_path: Path, server: ModelServer) -> None:
    tables = (
        table("off", "dies", enabled=False) + '\n[mcp_servers.g]\ncommand = "/usr/bin/greenroom"\nargs = ["mcp"]\n'
    )
    with harness_at(tmp_path, server.base_url, tables=tables) as harness:
        one = harness.talk()
        one.ask("say hi")
        assert not any("__" in name for name in tools_of(server))
        assert notices(one) == []
