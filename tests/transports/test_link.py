"""The bridge's end towards the daemon, without either of them."""

import json

from supervisor.launch import Launch
from transports import jsonrpc
from transports.link import AGAIN_S, PATIENCE_S, Link


class Undoor:
    """Nobody listens, and what would start somebody is not there any more."""

    def dial(self) -> None:
        return None

    def start(self) -> Launch:
        raise ModuleNotFoundError("No module named 'supervisor.launch'")


def test_a_start_that_can_not_even_be_loaded_is_an_answer_in_the_end() -> None:
    outbox = bytearray()
    link = Link(Undoor(), b"{}\n", outbox, lambda _: None)
    link.take(jsonrpc.request(1, "ping"), 0.0)
    link.take(jsonrpc.request(2, "tools/list"), 0.0)
    assert link.due == AGAIN_S
    link.turn({}, PATIENCE_S)
    _, answer = map(json.loads, bytes(outbox).splitlines())
    assert answer["id"] == 2
    assert "supervisor.launch" in answer["error"]["message"]
