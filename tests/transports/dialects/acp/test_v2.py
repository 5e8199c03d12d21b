"""Version 2, where the config has it: a prompt is answered when its message has its place, and states are told.

Each message is judged by the published schema of version 2, of which `acp_v2.json` is what we send, without words.
"""

from pathlib import Path
from typing import Any

import pytest

from actors.messages.orders import ModelFailed
from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ConversationId, ItemId
from tests.support.acp_judge import judge_second
from tests.transports.dialects.acp import peer
from tests.transports.dialects.acp.peer import Editor, Json, daemon
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.steps import wants_to_patch, wants_to_run

CALL: Any = {"call_id": CallId("c"), "item_id": ItemId("i1")}


class Newer(Editor):
    def initialize(self, can: Json | None = None, name: str = "editor") -> Json:
        info = {"name": name, "version": "1"}
        told: Json = self.result("initialize", protocolVersion=2, capabilities=can or {}, info=info)
        assert told["protocolVersion"] == 2
        return told


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> Daemon:
    monkeypatch.setattr(peer, "judge", judge_second)
    return daemon()


def newer(house: Daemon, name: str = "c1", can: Json | None = None) -> Newer:
    return Newer(house, name, can, v2=True)


def states(editor: Editor) -> list[Json]:
    return [
        {key: one for key, one in told.items() if key != "sessionUpdate"} for told in editor.updates("state_update")
    ]


def test_an_editor_that_offers_version_2_gets_1_unless_the_config_has_it() -> None:
    editor = Editor(daemon())
    told = editor.result(
        "initialize", protocolVersion=2, clientCapabilities={}, clientInfo={"name": "e", "version": ""}
    )
    assert told["protocolVersion"] == 1


def test_a_prompt_is_answered_when_its_message_has_its_place_and_its_end_is_a_state(house: Daemon) -> None:
    editor = newer(house)
    session = editor.new()
    request = editor.prompt(session, "hi")
    message = editor.answer(request)["result"]["messageId"]
    assert [one["messageId"] for one in editor.updates("user_message")] == [message]
    assert states(editor) == [{"state": "running"}]
    one = ConversationId(session)
    house.say(one, ev.AgentMessage(message="hello", item_id=ItemId("m")))
    house.finish(one, "hello")
    house.settle()
    assert editor.text() == "hello"
    assert states(editor)[-1] == {"state": "idle", "stopReason": "end_turn"}


def test_a_prompt_that_waits_is_answered_when_a_turn_takes_it(house: Daemon) -> None:
    editor = newer(house)
    session = editor.new()
    editor.prompt(session)
    second = editor.prompt(session, "later", _meta={"greenroom": {"ifBusy": "enqueue"}})
    assert editor.answers(second) == []
    house.finish(ConversationId(session), "done")
    house.settle()
    assert editor.answer(second)["result"]["messageId"]


@pytest.mark.parametrize("method", ["session/cancel", "$/cancel_request"])
def test_a_prompt_that_waits_is_taken_back(house: Daemon, method: str) -> None:
    editor = newer(house)
    session = editor.new()
    editor.prompt(session)
    second = editor.prompt(session, "later", _meta={"greenroom": {"ifBusy": "enqueue"}})
    editor.notify(method, sessionId=session, requestId=second)
    assert editor.answer(second)["error"]["code"] == -32800
    if method == "session/cancel":
        assert states(editor)[-1] == {"state": "idle", "stopReason": "cancelled"}


def test_a_turn_that_fails_is_a_state_with_the_error(house: Daemon) -> None:
    editor = newer(house)
    session = editor.new()
    editor.prompt(session)
    house.end(ConversationId(session), ModelFailed("no such model"))
    house.settle()
    last = states(editor)[-1]
    assert (last["stopReason"], last["error"]["message"]) == ("error", "no such model")
    assert editor.text() == ""


def test_a_question_needs_an_answer_and_has_a_title(house: Daemon) -> None:
    editor = newer(house)
    session = editor.new()
    editor.prompt(session)
    wants_to_run(house, ConversationId(session))
    (question,) = editor.questions()
    assert question["params"]["title"] == "git init"
    assert question["params"]["subject"]["type"] == "tool_call"
    assert states(editor)[-1] == {"state": "requires_action"}
    editor.choose(question["id"], "approved")
    assert states(editor)[-1] == {"state": "running"}


def test_a_session_runs_on_when_the_last_of_its_questions_is_answered(house: Daemon) -> None:
    editor = newer(house)
    session = editor.new()
    editor.prompt(session)
    wants_to_run(house, ConversationId(session), "a1")
    wants_to_run(house, ConversationId(session), "a2")
    first, second = editor.questions()
    editor.choose(first["id"], "approved")
    assert states(editor)[-1] == {"state": "requires_action"}
    editor.choose(second["id"], "approved")
    assert states(editor)[-1] == {"state": "running"}


def test_a_message_comes_in_pieces_or_whole_and_never_as_both(house: Daemon) -> None:
    editor = newer(house)
    session = editor.new()
    editor.prompt(session)
    one = ConversationId(session)
    house.say(one, ev.AgentMessageDelta(delta="in ", item_id=ItemId("m")))
    house.settle()
    house.say(one, ev.AgentMessage(message="in pieces", item_id=ItemId("m")))
    house.say(one, ev.AgentMessage(message="whole", item_id=ItemId("n")))
    house.settle()
    assert [one["content"]["text"] for one in editor.updates("agent_message_chunk")] == ["in ", "pieces"]
    (whole,) = editor.updates("agent_message")
    assert (whole["messageId"], [one["text"] for one in whole["content"]]) == ("n", ["whole"])


def test_the_state_of_a_resumed_session_stands_before_the_answer(house: Daemon) -> None:
    first, second = newer(house), newer(house, "second")
    session = first.new()
    first.prompt(session)
    second.forget()
    second.result("session/resume", sessionId=session, cwd="/w")
    assert "state_update" in second.order()[:-1]
    assert second.order()[-1].startswith("=")
    assert states(second) == [{"state": "running"}]


def test_files_are_shown_as_patches(house: Daemon) -> None:
    editor = newer(house)
    session = editor.new()
    editor.prompt(session)
    wants_to_patch(house, ConversationId(session))
    parts = editor.questions()[0]["params"]["subject"]["toolCall"]["content"]
    assert {one["type"] for one in parts} <= {"diff", "content"}


def test_output_is_shown_in_a_terminal_of_ours(house: Daemon) -> None:
    editor = newer(house, can={"_meta": {"terminal_output": True}})
    session = editor.new()
    editor.prompt(session)
    one = ConversationId(session)
    for event in (
        ev.ExecCommandBegin(**CALL, command=("make",), cwd=Path("/w")),
        ev.ExecCommandOutputDelta(**CALL, stream="stdout", chunk=b"out\n"),
        ev.ExecCommandEnd(**CALL, stdout="out\n", exit_code=0),
    ):
        house.say(one, event)
        house.settle()
    assert [one["data"] for one in editor.updates("terminal_output_chunk")] == ["b3V0Cg=="]
    kinds = [each for each in editor.kinds() if each.startswith(("terminal", "tool"))]
    assert kinds == [
        *("terminal_update", "tool_call_update", "terminal_output_chunk"),
        *("terminal_update", "tool_call_update"),
    ]


def test_a_session_is_resumed_with_its_history(house: Daemon) -> None:
    first = newer(house)
    session = first.new()
    first.prompt(session, "hi")
    house.finish(ConversationId(session), "done")
    house.settle()
    second = newer(house, "second")
    second.result("session/resume", sessionId=session, cwd="/w", replayFrom={"type": "start"})
    assert second.text("user_message") == "hi"
    assert states(second) == [{"state": "idle"}]
    assert second.error("session/resume", sessionId=session, cwd="/w", replayFrom={"type": "x"})["code"] == -32602
    told = second.result("session/set_config_option", sessionId=session, configId="mode", value="auto")
    assert {one["configId"] for one in told["configOptions"]} >= {"mode", "model", "agent"}
