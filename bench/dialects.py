"""The cost of a request in a dialect, from its line to the line of its answer, beside its JSON alone.

Pure code: the answers are ready, and nothing else runs.
"""

import json
import statistics
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from actors.vocabulary import answers as a
from actors.vocabulary.ids import ConnectionId, ConversationId
from actors.vocabulary.settings import Settings
from transports import jsonrpc
from transports.dialect import Action, Ask, Client, Dialect, Tell
from transports.dialects.control.dialect import ControlDialect
from transports.dialects.mcp.dialect import McpDialect
from transports.supervisor_answers import SettingsMade

ROUNDS, REQUESTS = 7, 3_000
ONE = ConversationId("11111111-1111-4111-8111-111111111111")
SETTINGS = Settings(model="m", cwd=Path("/src"))
CLIENT = Client(ConnectionId("bench"), "bench")
NAMED: dict[str, object] = {"conversation": ONE}
STOP: dict[str, object] = {"name": "interrupt_conversation", "arguments": {"threadId": ONE}}
Answering = Callable[[Tell | Ask], Any]


def answer_with(answer: object) -> Answering:
    return lambda _: answer


def control() -> Dialect:
    return ControlDialect(CLIENT)


def mcp() -> Dialect:
    dialect = McpDialect(CLIENT)
    said: dict[str, object] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "b", "version": "1"},
    }
    tuple(dialect.receive_line(line_of("initialize", said, 0)))
    return dialect


STEPS: tuple[tuple[str, Callable[[], Dialect], str, dict[str, object], Answering], ...] = (
    ("control: rename", control, "conversation/rename", {**NAMED, "name": "tea"}, answer_with(a.Done())),
    ("control: create, two questions", control, "conversation/create", {},
     lambda request: SettingsMade(SETTINGS) if isinstance(request, Ask) else a.StartedConversation(ONE, SETTINGS)),
    ("mcp: ping", mcp, "ping", {}, answer_with(None)),
    ("mcp: interrupt_conversation", mcp, "tools/call", STOP, answer_with(a.InterruptedTurn(None, None))),
)  # fmt: skip  # a row for each


def line_of(method: str, params: dict[str, object], number: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def serve_request(dialect: Dialect, line: bytes, answer: Answering) -> None:
    waiting: list[Iterable[Action]] = [dialect.receive_line(line)]
    while waiting:
        for action in waiting.pop():
            if isinstance(action, Tell | Ask):
                caller = action.caller if isinstance(action, Ask) else getattr(action.message, "caller", None)
                if caller is not None:
                    waiting.append(dialect.take_answer(caller, answer(action)))


def cost_us(work: Callable[[int], None]) -> float:
    """The cost of one request, as the median of the rounds."""
    rounds = []
    for round_ in range(ROUNDS):
        began = time.process_time()
        for number in range(REQUESTS):
            work(round_ * REQUESTS + number + 1)
        rounds.append((time.process_time() - began) / REQUESTS * 1e6)
    return statistics.median(rounds)


def request(dialect: Dialect, method: str, params: dict[str, object], answer: Answering, number: int) -> None:
    serve_request(dialect, line_of(method, params, number), answer)


def bare(method: str, params: dict[str, object], number: int) -> None:
    jsonrpc.read(line_of(method, params, number))
    jsonrpc.result(number, {})


def main() -> None:
    print(f"{'us CPU per request':<36}{'floor':>8}{'whole':>8}{'times':>8}")
    for name, make, method, params, answer in STEPS:
        whole = cost_us(partial(request, make(), method, params, answer))
        floor = cost_us(partial(bare, method, params))
        print(f"{name:<36}{floor:>8.1f}{whole:>8.1f}{whole / floor:>8.1f}")


if __name__ == "__main__":
    main()
