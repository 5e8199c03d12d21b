"""Requests that listen: what is acknowledged, what is told, under which name, and how they end."""

from typing import Any

from actors.vocabulary.ids import RequestId
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, StatelessClient
from tests.transports.dialects.mcp.steps import began, finished
from transports.dialects.mcp.protocol.options import McpOptions

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
UPDATED = "notifications/resources/updated"
TOOLS = "notifications/tools/list_changed"
LIST = "notifications/resources/list_changed"


def listens(client: StatelessClient, request: RequestId, **wanted: Any) -> Json:
    """Listen; return the acknowledgement."""
    client.begin("subscriptions/listen", {"notifications": wanted}, request)
    last = client.told(ACKNOWLEDGED)[-1]
    assert last["_meta"] == {"io.modelcontextprotocol/subscriptionId": request}
    told: Json = last["notifications"]
    return told


def under(client: StatelessClient, method: str) -> list[RequestId]:
    """The requests under which this was told."""
    return [one["_meta"]["io.modelcontextprotocol/subscriptionId"] for one in client.told(method)]


def test_only_existing_subscriptions_of_those_asked_for_are_acknowledged() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    known = f"greenroom://conversation/{finished(daemon, client)}"
    unknown = "greenroom://conversation/00000000-0000-0000-0000-000000000000"
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": False}
    told = listens(client, 7, **wanted, resourceSubscriptions=[known, unknown, "file:///etc/passwd"])
    assert told == {"toolsListChanged": True, "resourceSubscriptions": [known]}
    assert client.answers(7) == []


def test_every_request_hears_what_it_asked_for_under_its_own_name() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    listens(client, 7, toolsListChanged=True)
    listens(client, "8", toolsListChanged=True)
    listens(client, 9)
    options = McpOptions(tools=("codex",))
    client.dialect._state._fresh = lambda: options
    written = [getattr(one, "data", b"") for one in client.dialect.reconfigure()]
    assert len(written) == 2
    assert all(TOOLS.encode() in line for line in written)


def test_a_conversation_that_goes_on_is_told_to_who_listens_for_it_and_not_after_the_cancel() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    conversation = finished(daemon, client)
    uri = f"greenroom://conversation/{conversation}"
    listens(client, 7, resourceSubscriptions=[uri])
    listens(client, 8, resourceSubscriptions=[f"{uri}/events"])
    client.tool("codex-reply", {"threadId": conversation, "prompt": "more"}, 1)
    assert {(one["uri"]) for one in client.told(UPDATED)} == {uri, f"{uri}/events"}
    assert set(under(client, UPDATED)) == {7, 8}
    client.cancel(7)
    client.forget()
    daemon.advance(5)
    daemon.finish(conversation, "Done")
    daemon.settle()
    daemon.advance(5)
    assert set(under(client, UPDATED)) == {8}
    client.cancel(8)
    assert client.answers(7) == client.answers(8) == []
    assert client.statistics()["requests"] == client.statistics()["readers"] == 0


def test_a_list_that_changes_is_told_to_who_listens_alone() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    client.ask("resources/list")
    began(daemon, client)
    assert client.told(LIST) == []
    listens(client, 7, resourcesListChanged=True)
    began(daemon, client)
    assert under(client, LIST) == [7]
    client.cancel(7)
    client.forget()
    daemon.advance(5)
    began(daemon, client)
    assert client.told(LIST) == []


def test_listening_for_nothing_is_acknowledged() -> None:
    assert listens(StatelessClient(Daemon()), 7) == {}
