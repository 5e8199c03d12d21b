"""The two eras of MCP on one door: which of them a connection speaks, and what the stateless one requires."""

from pathlib import Path
from typing import Any

import pytest

from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, McpClient, StatelessClient, envelope
from tests.transports.dialects.mcp.steps import created
from transports.dialects.mcp.protocol import introduction
from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS, discovery_result
from transports.supervisor_answers import SettingsMade
from transports.supervisor_requests import AlterSettings

REVISION, CAPABILITIES = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"
HELLO: Json = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def bare(daemon: Daemon) -> McpClient:
    return McpClient(daemon, hello=False, protocol="2026-07-28")


def without(name: str) -> Json:
    return {key: value for key, value in envelope().items() if key != name}


def test_a_client_learns_what_is_spoken_and_what_there_is_without_a_handshake() -> None:
    result = StatelessClient(Daemon(), version="1.2.3").ask("server/discover")["result"]
    assert result["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    assert set(result["capabilities"]) == {"tools", "resources", "prompts", "completions", "extensions"}
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] == "1.2.3"
    assert result == discovery_result("1.2.3", LISTED_TOOLS)


@pytest.mark.parametrize("meta", [None, without(REVISION), without(CAPABILITIES), {**envelope(), CAPABILITIES: []}])
def test_a_discovery_without_a_required_member_is_refused(meta: Json | None) -> None:
    error = bare(Daemon()).ask("server/discover", None if meta is None else {"_meta": meta})["error"]
    assert error["code"] == -32602
    assert "io.modelcontextprotocol/" in error["message"]


@pytest.mark.parametrize("revision", ["2099-01-01", "2025-11-25", 5, ""])
def test_a_request_of_a_revision_that_is_not_spoken_without_a_handshake_runs_nothing(revision: Any) -> None:
    daemon = Daemon()
    client = bare(daemon)
    meta = {**envelope(), REVISION: revision}
    error = client.answer(client.tool("codex", {"prompt": "hi"}, 1, _meta=meta))["error"]
    assert (error["code"], error["data"]["requested"]) == (-32022, str(revision))
    assert error["data"]["supported"][0] == "2026-07-28"
    assert daemon.conversations == []


def test_after_a_discovery_a_client_may_still_shake_hands() -> None:
    client = bare(Daemon())
    assert "result" in client.ask("server/discover", {"_meta": envelope()})
    client.protocol = "2025-11-25"
    assert client.initialize()["result"]["protocolVersion"] == "2025-11-25"
    assert client.ask("ping")["result"] == {}


def test_the_first_request_that_introduces_itself_makes_the_connection_stateless() -> None:
    client = bare(Daemon())
    assert client.ask("tools/list", {"_meta": envelope()})["result"]["resultType"] == "complete"
    assert client.ask("tools/list", {})["error"]["code"] == -32602
    refused = client.ask("initialize", HELLO)["error"]
    assert (refused["code"], refused["data"]["supported"]) == (-32022, ["2026-07-28"])


@pytest.mark.parametrize(
    "gone", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "nonsense"]
)
def test_methods_that_the_stateless_revision_lacks_are_unknown(gone: str) -> None:
    assert StatelessClient(Daemon()).ask(gone, HELLO)["error"]["code"] == -32601


def test_results_say_how_long_they_are_good_and_for_whom() -> None:
    client = StatelessClient(Daemon())
    for name in ("tools/list", "resources/list", "resources/templates/list"):
        result = client.ask(name)["result"]
        assert result["ttlMs"] >= 0
        assert result["cacheScope"] == "private"


def test_a_resource_that_is_not_there_has_the_number_of_its_revision() -> None:
    uri = {"uri": "greenroom://conversation/00000000-0000-0000-0000-000000000000"}
    assert StatelessClient(Daemon()).ask("resources/read", uri)["error"]["code"] == -32602
    assert McpClient(Daemon()).ask("resources/read", uri)["error"]["code"] == -32002


@pytest.mark.parametrize("name", ["tools/list", "resources/list", "resources/templates/list"])
def test_a_cursor_that_is_none_of_ours_is_refused(name: str) -> None:
    assert StatelessClient(Daemon()).ask(name, {"cursor": "nonsense"})["error"]["code"] == -32602


def test_both_eras_write_changed_settings_alike() -> None:
    daemon = Daemon()
    daemon.serve[AlterSettings] = lambda request: SettingsMade(
        request.current.model_copy(update=dict(request.values)), fields=tuple(request.values)
    )
    for client in (McpClient(daemon), StatelessClient(daemon, "c2")):
        conversation = created(client)
        arguments = {"threadId": conversation, "model": "another"}
        result = client.answer(client.tool("set_conversation", arguments))["result"]
        (change,) = result["structuredContent"]["changed"]
        assert (change["name"], change["after"]) == ("model", "another")


def test_the_client_is_known_by_the_name_that_its_request_gives() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    client.ask("tools/list")
    assert client.dialect._state.client.label == "tester[4711]"


def test_answers_that_a_bridge_gives_alone_import_nothing_installed() -> None:
    lines = Path(introduction.__file__).read_text().splitlines()
    assert [line for line in lines if line.startswith(("import", "from"))] == [
        "from __future__ import annotations",
        "from transports import SERVER",
    ]
