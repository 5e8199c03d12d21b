"""The answers that a bridge gives before there is a daemon are those of the daemon, byte for byte."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from actors.vocabulary.ids import ConnectionId
from tests.support.bridge import encoded, request
from tests.transports.dialects.mcp.peer import envelope
from transports.bridge.messages import answer, message_line
from transports.dialect import Client, Write
from transports.dialects.codex.methods import METHODS
from transports.dialects.mcp.dialect import McpDialect
from transports.dialects.mcp.protocol.introduction import HANDSHAKE, LISTED_TOOLS, SUPPORTED
from transports.dialects.mcp.protocol.offline_answers import OfflineAnswers
from transports.dialects.mcp.protocol.options import McpOptions
from transports.dialects.mcp.protocol.replay import McpReplay
from transports.dialects.mcp.protocol.tools import BY_NAME

CHOICES = (LISTED_TOOLS, ("codex",), (), tuple(reversed([*BY_NAME])), ("codex", "nonsense", "answer_approval"))
CLIENT = {"name": "é", "version": "1"}


def introduction(revision: str, **more: object) -> dict[str, Any]:
    return request(0, "initialize", protocolVersion=revision, capabilities={}, clientInfo=CLIENT, **more)


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in envelope().items() if not key.endswith(name)}


ANSWERED = [
    *(introduction(revision) for revision in (*SUPPORTED, "2031-01-01")),
    introduction("2025-11-25", _meta={"io.modelcontextprotocol/protocolVersion": "2031-01-01"}),
    {"id": "a", "method": "ping"},
    {"jsonrpc": "2.0", "id": 2, "method": "ping", "params": None},
    request(3, "tools/list"),
    request(4, "tools/list", cursor=None, more=True),
    request("5", "resources/templates/list"),
    request(4, "tools/list", _meta={"progressToken": 1}),
    request(6, "server/discover"),
    request(6, "server/discover", _meta=envelope()),
    request(6, "server/discover", _meta=without("clientCapabilities")),
    request(6, "tools/list", _meta=without("clientCapabilities")),
    request(1, "ping", _meta={"io.modelcontextprotocol/protocolVersion": "2031-01-01"}),
    request(1, "tools/call", _meta={"io.modelcontextprotocol/protocolVersion": "2025-11-25"}),
    request(6, "tools/list", _meta=envelope(), more=True),
    request(6, "resources/templates/list", _meta=envelope()),
    request(7, "nö/such\n"),
]
LEFT_TO_THE_DAEMON = [
    introduction("2025-11-25") | {"params": []},
    request(0, "initialize"),
    request(0, "initialize", protocolVersion=1, capabilities={}, clientInfo=CLIENT),
    request(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "n"}),
    request(1, "ping") | {"jsonrpc": "1.0"},
    request(1, "ping") | {"params": 7},
    request(1, "ping", _meta=[]),
    request(1, "ping", _meta=envelope()),
    introduction("2025-11-25", _meta=envelope()),
    request(2, "tools/list", cursor="x"),
    request(2, "tools/list", cursor="x", _meta=envelope()),
    request(2, "prompts/list"),
    request(2, "prompts/get", name="x"),
    request(2, "tasks/get", taskId="x"),
    request(2, "subscriptions/listen"),
    request(3, "tools/call", name="codex", arguments={}),
    request(4, "resources/list"),
    request(5, "newConversation"),
    {"jsonrpc": "2.0", "id": 6, "method": 7},
]


def daemons_answer(message: dict[str, Any], tools: Sequence[str]) -> bytes:
    dialect = McpDialect(
        Client(ConnectionId("c"), "mcp", "1", 1), lambda: McpOptions(version="1.2.3", tools=tuple(tools)), METHODS
    )
    return b"".join(action.data for action in dialect.receive_line(encoded(message)) if isinstance(action, Write))


def replay(tools: Sequence[str] | None = LISTED_TOOLS) -> McpReplay:
    return McpReplay(OfflineAnswers("1.2.3", lambda: tools))


@pytest.mark.parametrize("tools", CHOICES)
@pytest.mark.parametrize("message", ANSWERED)
def test_the_bytes_are_those_of_the_daemon(message: dict[str, Any], tools: Sequence[str]) -> None:
    outcome = replay(tools).answer_alone(message)
    assert outcome is not None
    assert message_line(answer(message["id"], outcome)) == daemons_answer(message, tools)


@pytest.mark.parametrize("message", LEFT_TO_THE_DAEMON)
def test_unusual_requests_are_left_to_the_daemon(message: dict[str, Any]) -> None:
    assert replay().answer_alone(message) is None


def test_a_second_introduction_is_left_to_the_daemon_which_refuses_it() -> None:
    said = replay()
    assert said.answer_alone(introduction("2025-11-25")) is not None
    said.note_sent(introduction("2025-11-25"), {})
    assert said.answer_alone(introduction("2025-11-25")) is None


@pytest.mark.parametrize("message", [request(6, "server/discover"), request(6, "tools/list", _meta=envelope())])
def test_requests_that_the_handshake_rules_out_are_left_to_the_daemon_and_refused(message: dict[str, Any]) -> None:
    said = replay()
    said.note_sent(introduction("2025-11-25"), {})
    assert said.answer_alone(message) is None


def test_without_the_daemon_nobody_says_which_tools_a_config_lists_that_can_not_be_read() -> None:
    unsure = replay(None)
    assert unsure.answer_alone(request(1, "tools/list")) is None
    assert unsure.answer_alone(introduction("2025-11-25")) is None
    assert unsure.answer_alone(request(1, "server/discover", _meta=envelope())) is None
    assert unsure.answer_alone(request(1, "ping")) == {"result": {}}


def test_nothing_is_answered_past_a_daemon_that_is_there() -> None:
    assert all(replay().answer_at_once(message) is None for message in ANSWERED)


def test_the_icon_is_a_picture_only_where_clients_know_icons() -> None:
    for revision in HANDSHAKE:
        info = json.loads(daemons_answer(introduction(revision), LISTED_TOOLS))["result"]["serverInfo"]
        assert [icon["mimeType"] for icon in info.get("icons", ())] == (
            ["image/svg+xml"] if revision == HANDSHAKE[-1] else []
        )
