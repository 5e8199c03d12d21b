"""The bridge's end towards the daemon, without either of them."""

import json

from supervisor.daemon.launch import Launch
from transports import jsonrpc
from transports.bridge.daemon_link import AGAIN_S, PATIENCE_S, DaemonLink
from transports.dialects.mcp.protocol.replay import McpReplay


class NoDaemon:
    """An address where nobody listens, and whose program to start a daemon is gone."""

    def dial(self) -> None:
        return None

    def start(self) -> Launch:
        raise ModuleNotFoundError("No module named 'supervisor.daemon.launch'")

    def left_in_order(self) -> bool:
        return True


def test_a_start_that_can_not_even_be_loaded_is_an_answer_in_the_end() -> None:
    link = DaemonLink(NoDaemon(), b"{}\n", McpReplay(), lambda _: None)
    link.take(jsonrpc.request(1, "ping"), 0.0)
    link.take(jsonrpc.request(2, "tools/list"), 0.0)
    assert link.due == AGAIN_S
    link.turn({}, PATIENCE_S)
    _, answer = map(json.loads, bytes(link.outbox).splitlines())
    assert answer["id"] == 2
    assert "supervisor.daemon.launch" in answer["error"]["message"]


def test_only_the_requests_among_what_waits_are_refused() -> None:
    link = DaemonLink(NoDaemon(), b"{}\n", McpReplay(), lambda _: None)
    for line in (jsonrpc.request(1, "tools/list"), jsonrpc.notification("x"), jsonrpc.result(2, {}), b"garbage\n"):
        link.take(line, 0.0)
    link.turn({}, PATIENCE_S)
    (answer,) = map(json.loads, bytes(link.outbox).splitlines())
    assert answer["id"] == 1
    assert answer["error"]["data"] == {"code": "daemon_unreachable", "retryable": True}
