"""Prompts: their turns are told in order, and each has one answer, behind all that it is about."""

import pytest

from actors.messages.orders import Crashed, ModelFailed, OutOfBudget
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, ItemId
from actors.vocabulary.settings import BusyPolicy
from tests.support.work import command_began, command_ended
from tests.transports.dialects.acp.peer import Editor, daemon

ITEM = ItemId("i1")


def test_a_prompt_is_answered_after_the_words_of_its_turn() -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    request = editor.prompt(session)
    one = ConversationId(session)
    house.say(one, ev.AgentMessageDelta(delta="Hel", item_id=ITEM))
    house.settle()
    house.say(one, ev.AgentMessageDelta(delta="lo", item_id=ITEM))
    house.settle()
    house.say(one, ev.AgentMessage(message="Hello!", item_id=ITEM))
    house.finish(one, "Hello!")
    house.settle()
    assert editor.answer(request)["result"] == {"stopReason": "end_turn"}
    said = [one["content"]["text"] for one in editor.updates("agent_message_chunk")]
    assert said == ["Hel", "lo", "!"]
    assert {one["messageId"] for one in editor.updates("agent_message_chunk")} == {ITEM}
    assert editor.order()[-1] == f"={request}"
    assert editor.updates("user_message_chunk") == []
    assert editor.updates("session_info_update")[0]["title"] == "hi"


def test_every_update_of_a_turn_says_that_it_runs_and_those_of_its_end_do_not() -> None:
    house = daemon()
    editor, watcher = Editor(house), Editor(house, "c2")
    session = editor.new()
    watcher.result("session/resume", sessionId=session, cwd="/w")
    watcher.forget()
    editor.prompt(session)
    one = ConversationId(session)
    house.say(one, command_began("make", item=ITEM))
    house.settle()
    assert set(watcher.runs()) == {True}
    watcher.forget()
    house.finish(one, "")
    house.settle()
    assert watcher.kinds() == ["tool_call_update", "session_info_update"]
    assert watcher.runs() == [True, False]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (ModelFailed("no such model"), -32603),
        (ModelFailed("Missing environment variable: `KEY`."), -32000),
        (ModelFailed("Authentication required; `greenroom agents claude` says how to log in"), -32000),
        (Crashed("a bug"), -32603),
    ],
)
def test_a_turn_that_fails_is_an_error_with_its_words(outcome: ModelFailed, expected: int) -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    request = editor.prompt(session)
    house.end(ConversationId(session), outcome)
    house.settle()
    assert editor.answer(request)["error"]["code"] == expected
    assert editor.order()[-1] == f"={request}"


def test_a_failure_is_told_once_as_the_error_of_its_prompt_or_as_a_message_to_others() -> None:
    house = daemon()
    editor, watcher = Editor(house), Editor(house, "c2")
    session = editor.new()
    watcher.result("session/resume", sessionId=session, cwd="/w")
    request = editor.prompt(session)
    later = watcher.prompt(session, _meta={"greenroom": {"ifBusy": "enqueue"}})
    house.end(ConversationId(session), ModelFailed("no such model"))
    house.settle()
    assert editor.answer(request)["error"]["message"] == "no such model"
    assert "such model" not in editor.text()
    assert watcher.text().startswith("No such model")
    assert watcher.text().count("such model") == 1
    assert watcher.answers(later) == []
    reader = Editor(house, "c3")
    reader.result("session/load", sessionId=session, cwd="/w", mcpServers=[])
    assert reader.text().startswith("No such model")


def test_the_state_of_an_agents_session_is_told_once() -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    editor.prompt(session)
    note = "claude was ended while it waited"
    house.say(ConversationId(session), ev.BackgroundEvent(message=note))
    house.say(ConversationId(session), ev.AgentSession(agent="claude", session="s", how="resumed", note=note))
    house.settle()
    assert editor.text().lower().count(note) == 1


def test_a_budget_that_is_used_up_ends_a_prompt_after_a_message() -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    request = editor.prompt(session)
    house.end(ConversationId(session), OutOfBudget("10 requests are used up"))
    house.settle()
    assert editor.answer(request)["result"] == {"stopReason": "max_turn_requests"}
    assert "10 requests are used up" in editor.text()


def test_a_cancelled_session_answers_its_prompt_when_all_is_gone() -> None:
    house = daemon()
    house.stops_by_itself = False
    editor = Editor(house)
    session = editor.new()
    request = editor.prompt(session)
    editor.notify("session/cancel", sessionId=session)
    assert editor.answers(request) == []
    house._stop(ConversationId(session), house.turns[ConversationId(session)].turn)
    house.settle()
    assert editor.answer(request)["result"] == {"stopReason": "cancelled"}
    assert editor.order()[-1] == f"={request}"


def test_a_cancelled_session_answers_the_prompts_that_waited_for_turns_of_their_own() -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    first = editor.prompt(session)
    second = editor.prompt(session, "later", _meta={"greenroom": {"ifBusy": "enqueue"}})
    editor.notify("session/cancel", sessionId=session)
    assert editor.answer(first)["result"] == {"stopReason": "cancelled"}
    assert editor.answer(second)["result"] == {"stopReason": "cancelled"}
    assert house.turns == {}
    third = editor.prompt(session, "again")
    house.finish(ConversationId(session), "ok")
    house.settle()
    assert editor.answer(third)["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize("waits", [False, True])
def test_a_prompt_that_is_taken_back_is_cancelled(waits: bool) -> None:
    house = daemon()
    editor = Editor(house, if_busy=BusyPolicy.ENQUEUE)
    session = editor.new()
    first = editor.prompt(session)
    request = editor.prompt(session, "more") if waits else first
    editor.notify("$/cancel_request", requestId=request)
    assert editor.answer(request)["result"] == {"stopReason": "cancelled"}
    assert (ConversationId(session) in house.turns) is waits


def test_a_request_that_is_no_prompt_and_taken_back_is_answered_so() -> None:
    house = daemon()
    editor = Editor(house)
    request = editor.begin("session/new", cwd="/w", mcpServers=[], settle=False)
    editor.notify("$/cancel_request", requestId=request)
    assert editor.answer(request)["error"]["code"] == -32800
    assert house.conversations == []


def test_a_second_prompt_joins_the_turn_and_both_are_answered_at_its_end() -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    first, second = editor.prompt(session), editor.prompt(session, "and this")
    house.finish(ConversationId(session), "done")
    house.settle()
    if ConversationId(session) in house.turns:
        house.finish(ConversationId(session), "done")
        house.settle()
    assert editor.answer(first)["result"] == {"stopReason": "end_turn"}
    assert editor.answer(second)["result"] == {"stopReason": "end_turn"}


def test_a_prompt_may_be_refused_while_a_turn_runs() -> None:
    house = daemon()
    editor = Editor(house, if_busy=BusyPolicy.REJECT)
    session = editor.new()
    editor.prompt(session)
    assert "is running" in editor.answer(editor.prompt(session, "more"))["error"]["message"]


def test_steering_says_whether_it_joined_a_turn() -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    words = [{"type": "text", "text": "look here"}]
    assert editor.result("_session/steering", sessionId=session, prompt=words, idleBehavior="promptRequired") == {
        "outcome": "promptRequired",
        "reason": "noRunningTurn",
    }
    assert editor.result("_session/steering", sessionId=session, prompt=words) == {"outcome": "startedNewTurn"}
    assert editor.result("_session/steering", sessionId=session, prompt=words) == {"outcome": "injected"}


def test_the_words_of_others_and_their_turns_are_told() -> None:
    house = daemon()
    one, other = Editor(house, "one"), Editor(house, "other", info="another editor")
    session = one.new()
    other.result("session/resume", sessionId=session, cwd="/w")
    request = other.prompt(session, "from another")
    house.say(ConversationId(session), ev.AgentMessage(message="answer", item_id=ITEM))
    house.finish(ConversationId(session), "answer")
    house.settle()
    assert other.answer(request)["result"] == {"stopReason": "end_turn"}
    assert one.text() == other.text() == "answer"
    assert one.text("user_message") == "from another"
    assert other.text("user_message") == ""


def test_each_update_says_how_far_its_reader_has_come() -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    editor.prompt(session)
    one = ConversationId(session)
    house.say(
        one,
        command_began("ls", item=ITEM),
        command_ended("a\n", item=ITEM),
    )
    house.finish(one, "done")
    house.settle()
    assert editor.seqs() == sorted(editor.seqs())
    assert all(
        one["params"]["_meta"]["greenroom"]["instance"] == "i1"
        for one in editor.lines
        if one.get("method") == "session/update"
    )
