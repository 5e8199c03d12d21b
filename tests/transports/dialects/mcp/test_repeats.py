"""Calls that a client says again after it has lost its daemon, or only its connection."""

from typing import Any

import pytest

from actors.messages.journal import FindRow
from actors.vocabulary.ids import ConversationId, RequestId
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, McpClient
from tests.transports.dialects.mcp.steps import finished, text_of
from transports.dialects.mcp.protocol.replay import RECONNECTED

HI = {"prompt": "hi"}


def connected(daemon: Daemon, *lost: RequestId, name: str = "next", bridge: str = "b1", **named: str) -> McpClient:
    """A bridge's connection, which names calls that went with the last."""
    client = McpClient(daemon, name, bridge=bridge)
    requests = [{"id": one, "threadId": named.get("thread")} for one in lost]
    if requests:
        client.say({"jsonrpc": "2.0", "method": RECONNECTED, "params": {"requests": requests}})
    return client


def began(daemon: Daemon, client: McpClient, name: str, arguments: Json, request: RequestId = 7) -> ConversationId:
    client.tool(name, arguments, request)
    (conversation,) = daemon.turns
    return conversation


def ended(daemon: Daemon, conversation: ConversationId, text: str) -> None:
    daemon.finish(conversation, text)
    daemon.settle()


def turns(daemon: Daemon, conversation: ConversationId) -> int:
    page = daemon.journal.read(conversation, 0, 1000)
    assert page is not None
    return sum(record.type == "task_started" for record in page.records)


@pytest.mark.parametrize("name", ["codex", "start_conversation"])
@pytest.mark.parametrize("told", [False, True])
def test_a_task_that_is_said_again_while_it_runs_is_the_same_turn(name: str, *, told: bool) -> None:
    daemon = Daemon()
    first = connected(daemon, name="first")
    conversation = began(daemon, first, name, HI)
    daemon.hang_up(first.mailbox)
    client = connected(daemon, 7, **({"thread": conversation} if told else {}))
    client.tool(name, HI, 7)
    assert daemon.conversations == [conversation]
    ended(daemon, conversation, "Done")
    result = client.answer(7)["result"]
    assert result["structuredContent"]["threadId"] == conversation
    assert turns(daemon, conversation) == 1
    if name == "codex":
        assert text_of(result) == "Done"


@pytest.mark.parametrize("name", ["codex-reply", "send"])
def test_words_that_are_said_again_are_said_once(name: str) -> None:
    daemon = Daemon()
    first = connected(daemon, name="first")
    conversation = finished(daemon, first)
    arguments = {"threadId": conversation, "prompt": "more"}
    began(daemon, first, name, arguments)
    daemon.hang_up(first.mailbox)
    client = connected(daemon, 7)
    client.tool(name, arguments, 7)
    ended(daemon, conversation, "More")
    assert turns(daemon, conversation) == 2
    assert "isError" not in client.answer(7)["result"] or not client.answer(7)["result"]["isError"]


def test_a_call_that_is_said_again_after_its_end_gets_that_end() -> None:
    daemon = Daemon()
    first = connected(daemon, name="first")
    conversation = began(daemon, first, "codex", HI)
    daemon.hang_up(first.mailbox)
    ended(daemon, conversation, "Done")
    client = connected(daemon, 7)
    client.tool("codex", HI, 7)
    assert text_of(client.answer(7)["result"]) == "Done"
    assert daemon.conversations == [conversation]
    assert turns(daemon, conversation) == 1


def test_a_call_that_is_said_again_after_its_daemon_died_learns_that_its_turn_did_too_and_how_to_go_on() -> None:
    earlier = Daemon()
    conversation = began(earlier, connected(earlier, name="first"), "codex", HI)
    daemon = Daemon(earlier.journal)
    client = connected(daemon, 7)
    client.tool("codex", HI, 7)
    result = client.answer(7)["result"]
    assert result["isError"]
    assert result["structuredContent"]["threadId"] == conversation
    assert "the daemon was stopped while the turn ran" in text_of(result)
    assert "codex-reply" in text_of(result)
    assert not daemon.turns


def test_a_call_whose_daemon_died_before_anything_was_stored_is_begun() -> None:
    daemon = Daemon()
    client = connected(daemon, 7)
    conversation = began(daemon, client, "codex", HI)
    ended(daemon, conversation, "Done")
    assert text_of(client.answer(7)["result"]) == "Done"


@pytest.mark.parametrize(
    ("request_", "arguments", "bridge"),
    [(8, HI, "b1"), ("7", HI, "b1"), (7, {"prompt": "ho"}, "b1"), (7, HI, "b2")],
    ids=["another id", "an id of another type", "other arguments", "another process"],
)
def test_a_request_that_differs_in_anything_is_another_task(
    request_: RequestId, arguments: Json, bridge: str
) -> None:
    daemon = Daemon()
    first = connected(daemon, name="first")
    conversation = began(daemon, first, "codex", HI)
    daemon.hang_up(first.mailbox)
    client = connected(daemon, request_, bridge=bridge, thread=conversation)
    client.tool("codex", arguments, request_)
    assert len(daemon.turns) == 2


def test_a_client_that_numbers_from_one_in_each_process_says_new_things() -> None:
    daemon = Daemon()
    for process in ("b1", "b2", "b3"):
        client = connected(daemon, name=process, bridge=process)
        client.tool("codex", HI, 1)
        daemon.hang_up(client.mailbox)
    assert len(daemon.turns) == 3


@pytest.mark.parametrize("again", ["the same connection", "the next connection"])
def test_a_client_that_has_one_id_for_everything_says_new_things(again: str) -> None:
    daemon = Daemon()
    client = connected(daemon, name="first")
    for number in range(3):
        client.tool("codex", HI, 1)
        (conversation,) = daemon.turns
        ended(daemon, conversation, f"Done {number}")
        reply = {"threadId": conversation, "prompt": "more"}
        for _ in range(2):
            client.tool("codex-reply", reply, 1)
            ended(daemon, conversation, "More")
        assert turns(daemon, conversation) == 3
        if again == "the next connection":
            daemon.hang_up(client.mailbox)
            client = connected(daemon, name=f"next{number}")
    assert len(daemon.conversations) == 3


def test_a_client_that_has_one_id_for_everything_says_new_things_also_to_the_next_daemon() -> None:
    earlier = Daemon()
    first = connected(earlier, name="first")
    conversation = began(earlier, first, "codex", HI)
    ended(earlier, conversation, "Done")
    daemon = Daemon(earlier.journal)
    client = connected(daemon)
    client.say({"jsonrpc": "2.0", "method": RECONNECTED, "params": {"requests": [], "tasks": []}})
    other = began(daemon, client, "codex", HI)
    ended(daemon, other, "Done again")
    assert text_of(client.answer(7)["result"]) == "Done again"
    assert other != conversation
    assert turns(daemon, conversation) == 1


def test_a_first_call_is_looked_for_nowhere() -> None:
    daemon = Daemon()
    disk = daemon.mailboxes["directory"]
    asked: list[object] = []
    handle = disk.handle

    def note(lookup: object) -> None:
        asked.append(lookup)
        handle(lookup)

    disk.handle = note
    client = connected(daemon)
    began(daemon, client, "codex", HI)
    assert not [lookup for lookup in asked if isinstance(lookup, FindRow)]


def test_of_equal_calls_under_one_id_the_last_is_the_one_that_is_said_again() -> None:
    daemon = Daemon()
    first = connected(daemon, name="first")
    conversation = finished(daemon, first)
    reply = {"threadId": conversation, "prompt": "more"}
    for text in ("one", "two"):
        began(daemon, first, "codex-reply", reply, 1)
        ended(daemon, conversation, text)
    daemon.hang_up(first.mailbox)
    client = connected(daemon, 1)
    client.tool("codex-reply", reply, 1)
    assert text_of(client.answer(1)["result"]) == "two"


def test_a_call_is_said_again_once() -> None:
    daemon = Daemon()
    first = connected(daemon, name="first")
    conversation = began(daemon, first, "codex", HI)
    ended(daemon, conversation, "Done")
    daemon.hang_up(first.mailbox)
    client = connected(daemon, 7)
    client.tool("codex", HI, 7)
    client.tool("codex", HI, 7)
    assert len(daemon.conversations) == 2


@pytest.mark.parametrize(
    "params", [None, [], {}, {"requests": 1}, {"requests": [1, {"id": True}, {"id": [1]}, {"id": 7, "threadId": 7}]}]
)
def test_a_list_of_lost_calls_that_cannot_be_read_harms_nothing(params: Any) -> None:
    daemon = Daemon()
    client = connected(daemon)
    client.say({"jsonrpc": "2.0", "method": RECONNECTED, **({} if params is None else {"params": params})})
    began(daemon, client, "codex", HI)
