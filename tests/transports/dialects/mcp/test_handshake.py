"""initialize, ping, and what is no method."""

import json

import pytest

from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import McpClient
from tests.transports.dialects.mcp.steps import began
from transports.dialect import Write
from transports.dialects.mcp.protocol.introduction import INSTRUCTIONS


def test_the_result_of_initialize_is_the_reference_s_with_what_we_can_do_besides() -> None:
    client = McpClient(Daemon(), hello=False, version="1.2.3")
    assert client.initialize()["result"] == {
        "capabilities": {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "logging": {},
            "prompts": {},
            "completions": {},
        },
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "codex-mcp-server", "title": "Greenroom", "version": "1.2.3"},
        "instructions": "\n".join(INSTRUCTIONS.values()),
    }
    assert client.methods() == ["=0"]


@pytest.mark.parametrize("protocol", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_known_revision_is_spoken_as_offered(protocol: str) -> None:
    client = McpClient(Daemon(), hello=False, protocol=protocol)
    assert client.initialize()["result"]["protocolVersion"] == protocol


def test_an_unknown_revision_gets_our_newest() -> None:
    client = McpClient(Daemon(), hello=False, protocol="2031-01-01")
    assert client.initialize()["result"]["protocolVersion"] == "2025-11-25"


def test_a_second_initialize_is_refused() -> None:
    client = McpClient(Daemon())
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    error = client.ask("initialize", params)["error"]
    assert error == {"code": -32600, "message": "initialize called more than once"}


def test_a_malformed_initialize_is_answered_and_a_good_one_may_follow() -> None:
    client = McpClient(Daemon(), hello=False)
    assert client.ask("initialize", {"protocolVersion": 1})["error"]["code"] == -32602
    assert "result" in client.initialize()


def test_a_discovery_after_the_handshake_is_no_method() -> None:
    assert McpClient(Daemon()).ask("server/discover", {})["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["tasks/update", "subscriptions/listen", "nonsense"])
def test_an_unknown_method_is_answered_as_unknown(method: str) -> None:
    assert McpClient(Daemon()).ask(method, {})["error"]["code"] == -32601


def test_ping_is_answered_even_before_initialize() -> None:
    assert McpClient(Daemon(), hello=False).ask("ping")["result"] == {}


def test_bad_lines_are_answered_and_end_nothing() -> None:
    client = McpClient(Daemon())
    client.forget()
    client.line(b"{nonsense")
    client.line(b"[1,2]")
    client.line(b'{"id":null,"method":"ping"}')
    assert [one["error"]["code"] for one in client.lines] == [-32700, -32600, -32600]
    assert client.ask("ping")["result"] == {}


def test_too_many_open_requests_are_refused_alone() -> None:
    daemon = Daemon()
    client = McpClient(daemon, requests_in_flight=2)
    first = [client.tool("codex", {"prompt": "hi"}) for _ in range(2)]
    assert client.ask("tools/list")["error"]["data"]["code"] == "overloaded"
    for conversation in daemon.conversations:
        daemon.finish(conversation, "done")
    daemon.settle()
    assert all("result" in client.answer(request) for request in first)
    assert client.ask("tools/list")["result"]


def test_a_client_with_too_many_open_requests_can_still_end_them() -> None:
    daemon = Daemon()
    client = McpClient(daemon, requests_in_flight=1)
    conversation = began(daemon, client, 1)
    assert client.ask("ping")["result"] == {}
    ended = client.result("interrupt_conversation", {"threadId": conversation})
    assert ended["structuredContent"]["interrupted"] is True
    assert client.answer(1)["result"]["isError"]
    assert client.ask("interruptConversation", {"conversationId": began(daemon, client, 2)})["result"]


def test_an_id_that_is_still_open_is_not_taken_twice() -> None:
    client = McpClient(Daemon())
    client.tool("codex", {"prompt": "hi"}, 7)
    client.tool("codex", {"prompt": "hi"}, "7")
    client.begin("ping", None, 7)
    assert client.answer(7)["error"]["code"] == -32602
    assert client.answers("7") == []


@pytest.mark.parametrize("revision", ["2026-07-28", "2099-01-01", 5, ""])
def test_a_request_that_names_another_revision_than_the_handshake_is_refused_before_anything_runs(
    revision: object,
) -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    meta = {"io.modelcontextprotocol/protocolVersion": revision}
    error = client.answer(client.tool("codex", {"prompt": "hi"}, 1, _meta=meta))["error"]
    assert error["code"] == -32022
    assert error["data"]["supported"] == ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
    assert daemon.conversations == []


def test_an_initialize_agrees_on_a_revision_whatever_its_meta_names() -> None:
    client = McpClient(Daemon(), hello=False)
    who = {"name": "tester", "version": "1"}
    said = {"protocolVersion": "2026-07-28", "capabilities": {}, "clientInfo": who}
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert client.ask("initialize", {**said, "_meta": meta})["result"]["protocolVersion"] == "2025-11-25"


def test_a_request_that_names_a_revision_that_is_spoken_runs() -> None:
    client = McpClient(Daemon())
    meta = {"io.modelcontextprotocol/protocolVersion": "2025-11-25"}
    assert client.ask("ping", {"_meta": meta})["result"] == {}


def test_announcements_come_after_the_handshake_and_not_before() -> None:
    early = McpClient(Daemon(), hello=False)
    assert list(early.dialect.announce("the journal is gone")) == []
    client = McpClient(Daemon())
    (action,) = client.dialect.announce("the journal is gone")
    assert isinstance(action, Write)
    assert json.loads(action.data) == {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "error", "logger": "greenroom", "data": "the journal is gone"},
    }


def test_a_batch_of_the_revision_that_has_them_is_taken_message_by_message() -> None:
    client = McpClient(Daemon(), protocol="2025-03-26")
    client.forget()
    ping = {"jsonrpc": "2.0", "method": "ping"}
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    client._asked |= {1: ("ping", {}), 2: ("ping", {})}
    client.say([{**ping, "id": 1}, told, 5, {**ping, "id": 2}])  # type: ignore[arg-type]  # no single message
    assert [(one.get("id"), "result" in one) for one in client.lines] == [(1, True), (None, False), (2, True)]
    assert client.lines[1]["error"]["code"] == -32600


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_a_batch_of_another_revision_is_refused_whole(revision: str) -> None:
    client = McpClient(Daemon(), protocol=revision)
    client.forget()
    client.line(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]')
    assert [one["error"]["code"] for one in client.lines] == [-32600]


@pytest.mark.parametrize("line", [b"[]", b"[1"])
def test_an_empty_batch_and_one_that_is_no_json_are_refused_once(line: bytes) -> None:
    client = McpClient(Daemon(), protocol="2025-03-26")
    client.forget()
    client.line(line)
    assert [one["error"]["code"] for one in client.lines] == [-32600 if line == b"[]" else -32700]
