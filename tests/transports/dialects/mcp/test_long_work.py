"""`start_conversation`, `send` and `wait_conversation`: work that is longer than a client waits."""

from typing import Any

import pytest

from actors.messages.orders import InputWanted, ModelFailed
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, ItemId
from actors.vocabulary.settings import Decision
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, McpClient
from tests.transports.dialects.mcp.steps import link_to, nothing_open, wants_to_run
from transports import supervisor_requests as ask
from transports.supervisor_answers import ApprovalPlaces


def started(client: McpClient, **arguments: Any) -> tuple[ConversationId, int]:
    """The conversation of a task that was begun, and the cursor behind what was said first."""
    told = client.result("start_conversation", {"prompt": "hi", **arguments})["structuredContent"]
    return ConversationId(told["threadId"]), told["after"]


def waits(client: McpClient, conversation: str, after: int | None = None, **arguments: Any) -> int | str:
    given = {"threadId": conversation, **({} if after is None else {"after": after}), **arguments}
    return client.tool("wait_conversation", given)


def heard(client: McpClient, request: int | str) -> Json:
    structure: Json = client.answer(request)["result"]["structuredContent"]
    return structure


def says(daemon: Daemon, conversation: ConversationId, text: str) -> None:
    daemon.say(conversation, ev.AgentMessage(message=text, item_id=ItemId(text)))
    daemon.settle()


def ends(daemon: Daemon, conversation: ConversationId, text: str) -> None:
    daemon.finish(conversation, text)
    daemon.settle()


def asked_for(daemon: Daemon) -> None:
    """The supervisor finds questions in the journal, as the real one does."""

    def found(request: ask.FindApprovalPlaces) -> ApprovalPlaces:
        return ApprovalPlaces(tuple(place(*one) for one in request.questions))

    def place(conversation: ConversationId, approval: str) -> tuple[int, float] | None:
        page = daemon.journal.read(conversation, 0, 1000)
        assert page is not None
        named = (one for one in page.records if approval.encode() in one.body)
        return next(((one.seq, one.ts) for one in named), None)

    daemon.serve[ask.FindApprovalPlaces] = found


def test_a_task_is_begun_and_answered_at_once_with_where_to_wait() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    result = client.result("start_conversation", {"prompt": "hi", "model": "o3", "cwd": "sub"})
    told = result["structuredContent"]
    assert told["threadId"] in daemon.turns
    assert not told["waits"]
    assert f"wait_conversation with threadId {told['threadId']} and after {told['after']}" in told["note"]
    assert result["content"][1:] == [link_to(told["threadId"])]
    (made,) = [one for one in daemon.asked if isinstance(one, ask.MakeSettings)]
    assert (made.model, made.cwd) == ("o3", "sub")
    assert nothing_open(client)


def test_a_task_goes_on_when_its_client_has_left() -> None:
    daemon = Daemon()
    client = McpClient(daemon, gone_s=1.0)
    conversation, _ = started(client)
    daemon.hang_up(client.mailbox)
    daemon.advance(60)
    assert conversation in daemon.turns


def test_a_task_without_words_is_refused() -> None:
    result = McpClient(Daemon()).result("start_conversation", {"prompt": " "})
    assert result["isError"]


def test_a_wait_returns_at_the_end_with_what_was_said_and_the_last_words() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    request = waits(client, conversation, after)
    says(daemon, conversation, "I look around")
    assert client.answers(request) == []
    ends(daemon, conversation, "Done")
    told = heard(client, request)
    assert (told["state"], told["ending"], told["content"]) == ("idle", "completed", "Done")
    assert told["text"] == "**Agent**\n\nI look around"
    assert told["complete"]
    assert nothing_open(client)
    assert not client.dialect._state.waits
    result = client.answer(request)["result"]
    assert result["content"][0]["text"] == f"{told['text']}\n\n{told['note']}"
    assert result["content"][1:] == [link_to(conversation)]


def test_a_wait_leaves_out_what_was_said_on_the_agents_own_account() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    request = waits(client, conversation, after)
    surroundings = ev.UserMessage(message="the directory is /w", kind=ev.MessageKind.ENVIRONMENT_CONTEXT)
    daemon.say(conversation, surroundings)
    says(daemon, conversation, "fine")
    ends(daemon, conversation, "fine")
    assert heard(client, request)["text"] == "**Agent**\n\nfine"


def test_a_wait_for_what_is_over_returns_at_once_and_says_how_it_ended() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    daemon.end(conversation, ModelFailed("no credit"))
    daemon.settle()
    told = heard(client, waits(client, conversation, after))
    assert (told["ending"], told["content"]) == ("error", "no credit")
    assert "*Error: no credit*" in told["text"]


def test_a_wait_returns_when_its_time_is_over_and_the_next_goes_on_behind_it() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    request = waits(client, conversation, after, seconds=30)
    says(daemon, conversation, "one")
    daemon.advance(29)
    assert client.answers(request) == []
    daemon.advance(1)
    told = heard(client, request)
    assert (told["state"], told["text"]) == ("running", "**Agent**\n\none")
    assert "ending" not in told
    assert f"after {told['after']}" in told["note"]
    again = waits(client, conversation, told["after"])
    says(daemon, conversation, "two")
    ends(daemon, conversation, "Done")
    assert heard(client, again)["text"] == "**Agent**\n\ntwo"
    daemon.advance(300)
    assert len(client.answers(again)) == 1


def test_a_message_that_is_being_written_is_told_when_the_time_is_over() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    request = waits(client, conversation, after, seconds=1)
    for word in ("It is ", "not done"):
        daemon.say(conversation, ev.AgentMessageDelta(delta=word, item_id=ItemId("i")))
        daemon.settle()
    daemon.advance(1)
    assert heard(client, request)["text"] == "**Agent**, unfinished\n\nIt is not done"


def test_without_a_cursor_a_wait_tells_what_comes_from_then_on() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, _ = started(client)
    says(daemon, conversation, "before")
    request = waits(client, conversation)
    says(daemon, conversation, "after")
    ends(daemon, conversation, "Done")
    assert heard(client, request)["text"] == "**Agent**\n\nafter"


def test_no_seconds_at_all_is_a_look_that_waits_for_nothing() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    request = waits(client, conversation, after, seconds=0)
    daemon.advance(0)
    assert heard(client, request)["state"] == "running"


@pytest.mark.parametrize("seconds", [-1, 241, "x"])
def test_a_time_that_no_client_waits_for_is_refused(seconds: object) -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, _ = started(client)
    assert client.result("wait_conversation", {"threadId": conversation, "seconds": seconds})["isError"]


def test_a_wait_returns_at_a_question_and_says_what_is_asked_and_how_to_answer() -> None:
    daemon = Daemon()
    asked_for(daemon)
    client = McpClient(daemon, elicits=False)
    conversation, after = started(client)
    request = waits(client, conversation, after)
    approval = wants_to_run(daemon, conversation)
    told = heard(client, request)
    (question,) = told["questions"]
    assert question["approvalId"] == approval
    assert "git init" in question["asks"]
    assert f"answer_approval, approvalId {approval}" in told["note"]
    assert told["note"] in client.answer(request)["result"]["content"][0]["text"]
    client.result("answer_approval", {"approvalId": approval, "decision": "approved"})
    assert [one.decision for one in daemon.answered] == [Decision.APPROVED]


def test_a_question_that_was_told_is_no_reason_to_return_again() -> None:
    daemon = Daemon()
    asked_for(daemon)
    client = McpClient(daemon)
    conversation, after = started(client)
    approval = wants_to_run(daemon, conversation)
    first = heard(client, waits(client, conversation, after))
    assert [one["approvalId"] for one in first["questions"]] == [approval]
    again = waits(client, conversation, first["after"], seconds=20)
    assert client.answers(again) == []
    client.result("answer_approval", {"approvalId": approval, "decision": "denied"})
    assert client.answers(again) == []
    ends(daemon, conversation, "Not done")
    assert heard(client, again)["content"] == "Not done"


def test_a_wait_goes_on_while_another_turn_follows_at_once() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    queued = client.result("send", {"threadId": conversation, "prompt": "then this", "ifBusy": "enqueue"})
    assert queued["structuredContent"]["waits"]
    request = waits(client, conversation, after)
    ends(daemon, conversation, "first")
    assert client.answers(request) == []
    ends(daemon, conversation, "second")
    assert heard(client, request)["content"] == "second"


def test_messages_that_an_interrupt_holds_are_named_when_nothing_runs() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    client.result("send", {"threadId": conversation, "prompt": "then this", "ifBusy": "enqueue"})
    client.result("interrupt_conversation", {"threadId": conversation})
    told = heard(client, waits(client, conversation, after))
    assert told["ending"] == "interrupted"
    assert "then this" in told["note"]


def test_a_sent_message_joins_the_running_turn_or_begins_one() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, _ = started(client)
    joined = client.result("send", {"threadId": conversation, "prompt": "also"})["structuredContent"]
    assert joined["waits"]
    daemon.say(conversation, InputWanted())
    daemon.settle()
    assert [one.inputs[0].id for one in daemon.given] == [joined["inputId"]]
    ends(daemon, conversation, "Done")
    begun = client.result("send", {"threadId": conversation[:13], "prompt": "more"})["structuredContent"]
    assert (begun["threadId"], begun["waits"]) == (conversation, False)
    assert client.result("send", {"threadId": "nobody", "prompt": "x"})["isError"]


def test_a_cancelled_wait_is_not_answered_and_its_turn_goes_on() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    request = waits(client, conversation, after)
    client.cancel(request)
    assert client.answers(request) == []
    assert conversation in daemon.turns
    assert nothing_open(client)
    assert not client.dialect._state.waits


def test_two_clients_wait_for_the_same_end() -> None:
    daemon = Daemon()
    one, other = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation, after = started(one)
    both = [(client, waits(client, conversation, after)) for client in (one, other)]
    ends(daemon, conversation, "Done")
    assert [heard(client, request)["content"] for client, request in both] == ["Done", "Done"]


def test_a_long_history_is_told_page_by_page_without_waiting() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation, after = started(client)
    for number in range(300):
        daemon.say(conversation, ev.AgentMessage(message=f"<{number}>", item_id=ItemId(str(number))))
    daemon.settle()
    first = heard(client, waits(client, conversation, after))
    assert not first["complete"]
    assert "there is more to read" in first["note"]
    request = waits(client, conversation, first["after"])
    ends(daemon, conversation, "Done")
    text = first["text"] + heard(client, request)["text"]
    assert all(f"<{number}>" in text for number in range(300))


def test_a_wait_for_a_conversation_that_nobody_knows_is_refused_and_leaves_nothing() -> None:
    client = McpClient(Daemon())
    unknown = "67e55044-10b1-426f-9247-bb680e5fe0c8"
    assert client.result("wait_conversation", {"threadId": unknown})["isError"]
    assert nothing_open(client)
    assert not client.dialect._state.waits
