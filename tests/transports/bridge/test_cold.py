"""A client that speaks before there is a daemon: what the bridge answers at once, and what the daemon hears later."""

from pathlib import Path

import pytest

from supervisor.version import VERSION
from tests.support.bridge import Client, FakeDaemon, answer, request, wait_until
from tests.transports.dialects.mcp.peer import envelope
from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS

SLOW = "import os, sys, time; os.write(3, b'busy: loading\\n'); time.sleep(60)"  # a daemon that is on its way up
REPLAYED = "greenroom/replayed-initialize"
OF_MCP = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "n", "version": "1"}}
OF_ACP = {"protocolVersion": 1, "clientCapabilities": {}}


@pytest.mark.parametrize(("verb", "params"), [("mcp", OF_MCP), ("acp", OF_ACP)])
def test_an_introduction_is_answered_while_the_daemon_starts(
    verb: str, params: dict[str, object], tmp_path: Path
) -> None:
    with Client(tmp_path, "--launch", SLOW, "--verb", verb) as client:
        result = client.ask(0, "initialize", **params)["result"]
        assert result["protocolVersion"] == params["protocolVersion"]
        assert (result.get("serverInfo") or result["agentInfo"])["version"] == VERSION


@pytest.mark.parametrize(("verb", "params"), [("mcp", OF_MCP), ("acp", OF_ACP)])
def test_an_introduction_is_answered_although_no_daemon_can_start(
    verb: str, params: dict[str, object], tmp_path: Path
) -> None:
    with Client(tmp_path, "--verb", verb) as client:
        wait_until(lambda: "no daemon in this test" in client.log, "the start has not failed")
        assert "result" in client.ask(0, "initialize", **params)
        assert "no daemon in this test" in client.ask(1, "session/list")["error"]["message"] or verb == "mcp"
        assert "no daemon in this test" in client.ask(2, "resources/list")["error"]["message"]


def test_lists_of_mcp_are_answered_while_the_daemon_starts(tmp_path: Path) -> None:
    with Client(tmp_path, "--launch", SLOW) as client:
        client.ask(0, "initialize", **OF_MCP)
        assert [one["name"] for one in client.ask(1, "tools/list")["result"]["tools"]] == list(LISTED_TOOLS)
        assert client.ask(2, "ping") == answer(2)
        assert client.ask(3, "nonsense")["error"]["code"] == -32601


def test_the_stateless_revision_is_discovered_and_listed_while_the_daemon_starts(tmp_path: Path) -> None:
    with Client(tmp_path, "--launch", SLOW) as client:
        found = client.ask(0, "server/discover", _meta=envelope())["result"]
        assert found["supportedVersions"][0] == "2026-07-28"
        assert client.ask(1, "tools/list", _meta=envelope())["result"]["resultType"] == "complete"
        refused = client.ask(2, "tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2031-01-01"})
        assert refused["error"]["code"] == -32022


def test_the_tools_are_those_of_the_command_line_and_of_the_config(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[greenroom.mcp]\ntools = ["codex-reply"]\n')
    with Client(tmp_path, "--launch", SLOW) as client:
        assert [one["name"] for one in client.ask(1, "tools/list")["result"]["tools"]] == ["codex-reply"]
    with Client(tmp_path, "--launch", SLOW, "-c", 'greenroom.mcp.tools=["codex"]') as client:
        assert [one["name"] for one in client.ask(1, "tools/list")["result"]["tools"]] == ["codex"]
        assert "instructions" not in client.ask(2, "initialize", **OF_MCP)["result"]


def test_the_daemon_hears_the_introduction_before_all_else_and_its_answer_is_not_told(tmp_path: Path) -> None:
    with FakeDaemon(tmp_path) as daemon, Client(tmp_path, "--verb", "acp") as client:
        client.ask(0, "initialize", **OF_ACP)
        client.say(request(1, "session/list"))
        talk = daemon.greet()
        assert talk.message() == request(REPLAYED, "initialize", **OF_ACP)
        assert talk.message() == request(1, "session/list")
        talk.say(answer(REPLAYED, protocolVersion=1), answer(1, sessions=[]))
        assert client.message() == answer(1, sessions=[])


def test_a_daemon_that_is_there_hears_a_late_introduction_between_the_lines_around_it(tmp_path: Path) -> None:
    with FakeDaemon(tmp_path) as daemon, Client(tmp_path, "--verb", "acp") as client:
        talk = daemon.greet()
        client.say(request(9, "is it there"))
        talk.line()
        client.say(request(1, "first"), request(0, "initialize", **OF_ACP), request(2, "second"))
        assert client.message()["id"] == 0
        assert [talk.message()["id"] for _ in range(3)] == [1, REPLAYED, 2]


def test_a_client_of_mcp_asks_a_daemon_that_is_there(tmp_path: Path) -> None:
    with FakeDaemon(tmp_path) as daemon, Client(tmp_path) as client:
        talk = daemon.greet()
        client.say(request(0, "initialize", **OF_MCP), request(1, "tools/list"))
        assert [talk.message()["id"] for _ in range(2)] == [0, 1]


def test_a_daemon_that_was_stopped_is_started_for_a_new_client_and_not_for_its_lists(tmp_path: Path) -> None:
    with FakeDaemon(tmp_path) as daemon, Client(tmp_path) as client:
        daemon.greet()
        daemon.vanish()
        wait_until(lambda: "went away" in client.log, "the bridge noticed nothing")
        assert client.ask(1, "tools/list")["result"]["tools"]
        assert "no daemon in this test" not in client.log
        assert "result" in client.ask(0, "initialize", **OF_MCP)
        wait_until(lambda: "no daemon in this test" in client.log, "no daemon was started")


def test_a_client_that_only_introduces_itself_leaves_at_once(tmp_path: Path) -> None:
    with Client(tmp_path, "--launch", SLOW, "--verb", "acp") as client:
        client.ask(0, "initialize", **OF_ACP)
        assert client.leave() < 0.4
