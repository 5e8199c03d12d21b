"""`notifications/cancelled`, at every moment, and interrupts from elsewhere."""

import pytest

from actors.messages.conversation import Interrupt, ToConversation
from actors.messages.orders import InputWanted
from actors.vocabulary.ids import ConversationId
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import McpClient
from tests.transports.dialects.mcp.steps import (
    began,
    created,
    finished,
    nothing_open,
    sent,
    text_of,
    wants_to_run,
)
from transports import supervisor_requests as ask

INTERRUPTED = "Turn interrupted"
NOT_BEGUN = "Turn interrupted by its caller before it began"


def interrupt(daemon: Daemon, conversation: ConversationId) -> None:
    daemon.mailboxes["registry"].tell(ToConversation(conversation, Interrupt("somebody")))
    daemon.settle()


def test_a_cancelled_call_sees_the_abort_and_then_its_result() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    client.cancel(1)
    assert client.events()[-1] == {"type": "turn_aborted", "reason": "interrupted"}
    assert client.methods()[-1] == "=1"
    said = "Turn interrupted by tester[4711]"
    assert client.answer(1)["result"] == {
        "content": [{"text": said, "type": "text"}],
        "isError": True,
        "structuredContent": {"threadId": conversation, "sessionId": conversation, "content": said},
        "error": INTERRUPTED,
    }
    assert nothing_open(client)


def test_a_cancelled_reply_is_answered_like_a_cancelled_first_call_and_the_next_goes_on() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    client.cancel(1)
    for request in ("r2", "r3"):
        client.tool("codex-reply", {"sessionId": conversation, "prompt": "again"}, request)
        client.cancel(request)
        assert client.answer(request)["result"]["error"] == INTERRUPTED
    assert client.types().count("turn_aborted") == 3
    assert nothing_open(client)


def test_with_the_switch_off_a_cancelled_call_has_no_answer_but_its_events() -> None:
    daemon = Daemon()
    client = McpClient(daemon, answer_cancelled=False)
    began(daemon, client, 1)
    client.cancel(1)
    assert client.types()[-1] == "turn_aborted"
    assert client.answers(1) == []
    assert nothing_open(client)


def test_with_the_switch_off_an_interrupt_from_elsewhere_is_answered_all_the_same() -> None:
    daemon = Daemon()
    client = McpClient(daemon, answer_cancelled=False)
    interrupt(daemon, began(daemon, client, 1))
    assert text_of(client.answer(1)["result"]) == "Turn interrupted by somebody"


def test_an_interrupted_call_says_by_whom_and_why_and_its_error_stays_to_the_letter() -> None:
    daemon = Daemon()
    client, other = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = began(daemon, client, 1)
    other.result("interrupt_conversation", {"threadId": conversation, "reason": "wrong directory"})
    result = client.answer(1)["result"]
    assert text_of(result) == "Turn interrupted by tester[4711]: wrong directory"
    assert result["structuredContent"]["content"] == text_of(result)
    assert result["error"] == INTERRUPTED


def test_a_call_whose_turn_made_room_for_another_message_says_so() -> None:
    daemon = Daemon()
    client, other = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = began(daemon, client, 1)
    other.tool("codex-reply", {"threadId": conversation, "prompt": "no, this", "if-busy": "interrupt"})
    said = "Turn interrupted by tester[4711]: a new message took its place"
    assert text_of(client.answer(1)["result"]) == said


def test_an_interrupt_from_elsewhere_ends_the_call_with_the_same_result() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    interrupt(daemon, began(daemon, client, 1))
    assert client.types()[-1] == "turn_aborted"
    assert client.answer(1)["result"]["error"] == INTERRUPTED


def test_an_abort_decision_ends_the_call_with_the_same_result() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    wants_to_run(daemon, conversation)
    client.respond(0, {"decision": "abort"})
    assert client.answer(1)["result"]["error"] == INTERRUPTED


def test_a_cancel_before_the_settings_are_made_starts_nothing() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    client.tool("codex", {"prompt": "hi"}, 1, settle=False)
    client.cancel(1, settle=False)
    daemon.settle()
    assert text_of(client.answer(1)["result"]) == NOT_BEGUN
    assert daemon.conversations == []
    assert nothing_open(client)


def test_a_cancel_before_the_conversation_stands_starts_no_turn() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    client.tool("codex", {"prompt": "hi"}, 1, settle=False)
    while not any(isinstance(one, ask.RememberEnvironment) for one in daemon.asked):
        daemon.run_one(min(daemon.busy(), key=lambda one: one.waiting[0][0]))
    client.cancel(1, settle=False)
    daemon.settle()
    assert text_of(client.answer(1)["result"]) == NOT_BEGUN
    assert daemon.turns == {}
    assert nothing_open(client)
    assert client.result("list_conversations")["structuredContent"] == {"conversations": []}


@pytest.mark.parametrize("steps", range(0, 24, 2))
def test_a_cancel_at_any_moment_leaves_no_turn_and_one_answer(steps: int) -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    client.tool("codex", {"prompt": "hi"}, 1, settle=False)
    for _ in range(steps):
        if daemon.busy():
            daemon.run_one(min(daemon.busy(), key=lambda one: one.waiting[0][0]))
    client.cancel(1, settle=False)
    daemon.settle()
    assert client.answer(1)["result"]["error"] == INTERRUPTED
    assert daemon.turns == {}
    assert client.types().count("task_started") == client.types().count("turn_aborted")
    assert nothing_open(client)


def test_the_type_of_the_id_matters() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    began(daemon, client, 1)
    client.cancel("1")
    assert client.answers(1) == []
    assert len(daemon.turns) == 1


def test_a_cancel_of_nothing_and_a_malformed_one_do_nothing() -> None:
    client = McpClient(Daemon())
    client.cancel(99)
    client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": None}})
    client.say({"jsonrpc": "2.0", "method": "notifications/cancelled"})
    assert client.methods() == ["=0"]


def test_cancelling_what_a_turn_has_not_taken_withdraws_it_alone() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    client.tool("codex-reply", {"threadId": conversation, "prompt": "also"}, 2)
    client.cancel(2)
    assert client.answer(2)["result"]["error"] == INTERRUPTED
    assert client.answers(1) == []
    daemon.say(conversation, InputWanted())
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert [one.inputs for one in daemon.given] == [()]
    assert text_of(client.answer(1)["result"]) == "Done"


def test_cancelling_what_a_turn_has_taken_interrupts_the_turn_that_is_shared() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    client.tool("codex-reply", {"threadId": conversation, "prompt": "also"}, 2)
    daemon.say(conversation, InputWanted())
    daemon.settle()
    client.cancel(2)
    assert [client.answer(one)["result"]["error"] for one in (1, 2)] == [INTERRUPTED, INTERRUPTED]


def test_a_cancel_hits_its_own_turn_and_no_other() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    began(daemon, client, 1)
    other = began(daemon, client, 2)
    client.cancel(1)
    assert client.answers(2) == []
    assert list(daemon.turns) == [other]


def test_a_second_cancel_and_one_after_the_end_do_nothing() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    client.cancel(1)
    client.cancel(1)
    client.tool("codex-reply", {"threadId": conversation, "prompt": "next"}, 2)
    client.cancel(1)
    assert len(daemon.turns) == 1
    assert client.answers(2) == []


def test_a_reused_id_means_the_new_call() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    began(daemon, client, 1)
    client.cancel(1)
    client.forget()
    conversation = began(daemon, client, 1)
    client.cancel(1)
    assert client.answer(1)["result"]["structuredContent"]["threadId"] == conversation


def test_an_accepted_message_can_be_cancelled_until_its_turn_ends() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    assert sent(client, conversation, request=5) == {
        "content": [{"text": '{"status":"ok"}', "type": "text"}],
        "isError": False,
        "structuredContent": {"status": "ok"},
    }
    assert conversation in daemon.turns
    client.cancel(5)
    assert daemon.turns == {}
    assert len(client.answers(5)) == 1


def test_an_accepted_message_whose_turn_has_ended_cancels_nothing() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    sent(client, conversation, request=5)
    daemon.finish(conversation, "Done")
    daemon.settle()
    sent(client, conversation, request=6)
    client.cancel(5)
    assert conversation in daemon.turns


def test_a_finished_call_leaves_nothing_behind() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    for _ in range(5):
        finished(daemon, client)
    assert nothing_open(client)
    assert not any(daemon.state(one).subscribers for one in daemon.conversations)


def test_an_id_in_use_again_no_longer_means_the_message_it_once_was() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    sent(client, conversation, request=5)
    client.begin("ping", None, 5)
    client.cancel(5)
    assert conversation in daemon.turns
