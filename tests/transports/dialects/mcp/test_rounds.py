"""Turns in rounds: a stateless call that ends with a question, and is made again with the answer."""

import base64
import json
from typing import Any

import pytest

from actors.messages.conversation import AnswerApproval, ToConversation
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Decision
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, StatelessClient
from tests.transports.dialects.mcp.steps import began, nothing_open, text_of, wants_to_patch, wants_to_run
from transports.dialects.mcp.protocol.seal import seal_content

ACCEPT: Json = {"action": "accept", "content": {}}
SECRET = b"s" * 32


def asked(daemon: Daemon, client: StatelessClient) -> tuple[ConversationId, Json]:
    """A `codex` call that has ended with a question."""
    conversation = began(daemon, client, 1)
    wants_to_run(daemon, conversation)
    return conversation, client.answer(1)["result"]


def again(client: StatelessClient, question: Json, request: int, said: Any = ACCEPT, **more: Any) -> int:
    """Make the call again, with the same response to all of its questions."""
    arguments = more.pop("arguments", {"prompt": "hi"})
    responses = dict.fromkeys(question["inputRequests"], said) if said is not None else {}
    client.tool("codex", arguments, request, inputResponses=responses, requestState=question["requestState"], **more)
    return request


def finish(daemon: Daemon, conversation: ConversationId, text: str = "Done") -> None:
    daemon.finish(conversation, text)
    daemon.settle()


def refused(client: StatelessClient, request: int) -> str:
    error = client.answer(request)["error"]
    assert error["code"] == -32602
    message: str = error["message"]
    return message


def test_a_call_whose_turn_asks_something_ends_with_the_question_and_nothing_stays_open() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, result = asked(daemon, client)
    assert result["resultType"] == "input_required"
    (question,) = result["inputRequests"].values()
    assert list(result["inputRequests"]) == [f"a1@{conversation}"]
    assert question["method"] == "elicitation/create"
    params = question["params"]
    assert params["message"].startswith("Allow Codex to run `git init` in `/w`?")
    assert (params["mode"], params["requestedSchema"]) == ("form", {"type": "object", "properties": {}})
    assert (params["codex_command"], params["threadId"]) == (["git", "init"], conversation)
    assert client.methods() == ["=1"]
    assert nothing_open(client)
    assert daemon.answered == []


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        (ACCEPT, Decision.APPROVED),
        ({"action": "decline"}, Decision.DENIED),
        ({"action": "cancel"}, Decision.DENIED),
        ({"decision": "approved_for_session"}, Decision.APPROVED_FOR_SESSION),
    ],
)
def test_the_call_that_is_made_again_answers_and_returns_the_end_of_the_same_turn(
    said: Json, decision: Decision
) -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, question = asked(daemon, client)
    again(client, question, 2, said)
    assert [one.decision for one in daemon.answered] == [decision]
    assert client.answers(2) == []
    finish(daemon, conversation)
    result = client.answer(2)["result"]
    assert result["structuredContent"]["threadId"] == conversation
    assert result["content"][0]["text"] == "Done"
    assert len(result["content"]) == (3 if said == {"action": "cancel"} else 2)  # what was denied, and a link at last
    assert len(daemon.conversations) == 1
    assert nothing_open(client)


def test_a_turn_that_asks_twice_is_a_call_in_three_rounds() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, first = asked(daemon, client)
    again(client, first, 2)
    wants_to_patch(daemon, conversation, "a2")
    second = client.answer(2)["result"]
    assert list(second["inputRequests"]) == [f"a2@{conversation}"]
    again(client, second, 3)
    finish(daemon, conversation)
    assert text_of(client.answer(3)["result"]) == "Done"
    assert [one.approval for one in daemon.answered] == [f"a1@{conversation}", f"a2@{conversation}"]


def test_progress_goes_on_rising_over_the_rounds() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    token = {"_meta": {"progressToken": "p"}}
    client.tool("codex", {"prompt": "hi"}, 1, **token)
    (conversation,) = daemon.conversations
    daemon.advance(10)
    wants_to_run(daemon, conversation)
    again(client, client.answer(1)["result"], 2, **token)
    daemon.advance(10)
    assert [one["progress"] for one in client.told("notifications/progress")] == [1, 2, 3, 4]


def test_progress_names_the_conversation_as_soon_as_there_is_one() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    client.tool("codex", {"prompt": "hi"}, 1, _meta={"progressToken": "p"})
    (told,) = client.told("notifications/progress")
    assert told["_meta"] == {"requestId": 1, "threadId": next(iter(daemon.conversations))}


def test_without_progress_the_bridge_is_told_the_conversation_and_a_client_without_a_bridge_nothing() -> None:
    for bridge, times in (("b1", 1), ("", 0)):
        daemon = Daemon()
        client = StatelessClient(daemon, bridge=bridge)
        client.tool("codex", {"prompt": "hi"}, 1)
        told = client.told("notifications/greenroom/began")
        assert told == [{"_meta": {"requestId": 1, "threadId": next(iter(daemon.conversations))}}] * times


def test_a_question_without_a_response_is_asked_again() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    _, question = asked(daemon, client)
    again(client, question, 2, said=None)
    assert client.answer(2)["result"]["inputRequests"].keys() == question["inputRequests"].keys()
    assert daemon.answered == []


def test_responses_to_what_was_not_asked_mean_nothing() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, question = asked(daemon, client)
    responses = {"stranger": ACCEPT, **dict.fromkeys(question["inputRequests"], ACCEPT)}
    state = question["requestState"]
    client.tool("codex", {"prompt": "hi"}, 2, inputResponses=responses, requestState=state)
    finish(daemon, conversation)
    assert text_of(client.answer(2)["result"]) == "Done"


def test_a_state_is_good_for_one_answer() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, question = asked(daemon, client)
    again(client, question, 2)
    assert "used before" in refused(client, again(client, question, 3))
    finish(daemon, conversation)
    assert "used before" in refused(client, again(client, question, 4, {"action": "decline"}))
    assert len(daemon.answered) == 1


def test_a_question_that_was_answered_elsewhere_stays_so_and_the_call_goes_on() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, question = asked(daemon, client)
    (approval,) = question["inputRequests"]
    answer = AnswerApproval(approval, Decision.DENIED, "somebody")
    daemon.mailboxes["registry"].tell(ToConversation(conversation, answer))
    daemon.settle()
    again(client, question, 2)
    finish(daemon, conversation)
    assert text_of(client.answer(2)["result"]) == "Done"
    assert [one.decision for one in daemon.answered] == [Decision.DENIED]


def test_the_end_of_a_turn_that_ended_meanwhile_is_told() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, question = asked(daemon, client)
    StatelessClient(daemon, "c2").result("interrupt_conversation", {"threadId": conversation})
    again(client, question, 2)
    result = client.answer(2)["result"]
    assert result["isError"]
    assert text_of(result).startswith("Turn interrupted")
    assert len(daemon.turns) == 0


def tampered(state: str) -> str:
    body, _, mark = state.partition(".")
    content = json.loads(base64.urlsafe_b64decode(body))
    forged = base64.urlsafe_b64encode(json.dumps({**content, "asked": ["other"]}).encode()).decode()
    return f"{forged}.{mark}"


@pytest.mark.parametrize(
    "change", [tampered, lambda state: state + "x", lambda _: "nonsense", lambda _: "", lambda _: 5]
)
def test_a_state_that_is_not_as_it_was_given_is_refused(change: Any) -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    _, question = asked(daemon, client)
    refused(client, again(client, {**question, "requestState": change(question["requestState"])}, 2))
    assert daemon.answered == []


def test_a_state_of_another_version_is_refused() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, secret=SECRET)
    _, question = asked(daemon, client)
    other = {**question, "requestState": seal_content(SECRET, {"step": 1})}
    assert "not as it was given" in refused(client, again(client, other, 2))


def test_the_order_of_arguments_means_nothing() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    client.tool("codex", {"prompt": "hi", "model": "o3"}, 1)
    (conversation,) = daemon.conversations
    wants_to_run(daemon, conversation)
    again(client, client.answer(1)["result"], 2, arguments={"model": "o3", "prompt": "hi"})
    finish(daemon, conversation)
    assert text_of(client.answer(2)["result"]) == "Done"


def test_a_state_is_for_the_call_that_it_was_given_to() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    _, question = asked(daemon, client)
    assert "other arguments" in refused(client, again(client, question, 2, arguments={"prompt": "another"}))


@pytest.mark.parametrize("said", [12345, None, {"action": "maybe"}, {}, []])
def test_a_response_that_can_t_be_read_is_refused_and_the_question_stays(said: Any) -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, question = asked(daemon, client)
    responses = dict.fromkeys(question["inputRequests"], said)
    state = question["requestState"]
    client.tool("codex", {"prompt": "hi"}, 2, inputResponses=responses, requestState=state)
    refused(client, 2)
    again(client, question, 3)
    finish(daemon, conversation)
    assert text_of(client.answer(3)["result"]) == "Done"


def test_a_question_and_its_state_survive_the_daemon() -> None:
    daemon = Daemon()
    _, question = asked(daemon, StatelessClient(daemon, secret=SECRET))
    (approval,) = question["inputRequests"]
    conversation = ConversationId(approval.partition("@")[2])
    reborn = Daemon(daemon.journal)
    client = StatelessClient(reborn, secret=SECRET)
    again(client, question, 2)
    assert reborn.turns.keys() == {conversation}
    finish(reborn, conversation)
    assert text_of(client.answer(2)["result"]) == "Done"
    other = StatelessClient(reborn, "c2", secret=b"another")
    assert "not as it was given" in refused(other, again(other, question, 3))


def test_a_retried_call_that_is_cancelled_interrupts_the_turn_and_is_not_answered() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, question = asked(daemon, client)
    again(client, question, 2)
    client.cancel(2)
    assert conversation not in daemon.turns
    assert client.answers(2) == []
    assert nothing_open(client)


def test_a_client_without_forms_is_told_of_a_question_by_progress_and_its_call_stays_open() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, elicits=False)
    client.tool("codex", {"prompt": "hi"}, 1, _meta={"progressToken": "p"})
    (conversation,) = daemon.conversations
    wants_to_run(daemon, conversation)
    assert "waiting for an approval" in client.told("notifications/progress")[-1]["message"]
    assert client.answers(1) == []


def test_a_reply_to_a_conversation_that_waits_brings_its_question() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation, _ = asked(daemon, client)
    client.tool("codex-reply", {"threadId": conversation, "prompt": "well?"}, 2)
    assert list(client.answer(2)["result"]["inputRequests"]) == [f"a1@{conversation}"]
