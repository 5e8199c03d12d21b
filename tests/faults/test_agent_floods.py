"""G: agents that say more than anybody could read. The daemon's memory stays what it was, and others are served."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.agent_harness import agents_of, config
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness
from tests.faults.neighbour import p99
from tests.faults.report import Row

GROWTH_MIB = 64  # a line of the longest, twice, and what the interpreter keeps
SERVED_S = 1.5  # for another client's request meanwhile, on a busy machine
GIB = 1 << 30
FLOODS = {
    "one line": "flood",
    "updates of 64 KiB": f"chunks {GIB >> 16} 65536",
    "words that are no JSON": f"babble {GIB >> 16}",
    "standard error": f"complain {GIB >> 16}",
}


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[DaemonHarness]:
    with DaemonHarness(tmp_path / "home", config()) as harness:
        yield harness


def flooded(agents: DaemonHarness, row: Row, words: str) -> None:
    caller = agents.caller("victim")
    conversation = caller.create(agent="polite")
    caller.send(conversation, "say before", wait=True)
    before, slowest = agents.peak_rss(), 0.0
    ended = caller.start("conversation/send", conversation=conversation, prompt=words, wait=True)
    neighbour = agents.caller("neighbour")
    while not ended.done():
        began = time.monotonic()
        neighbour.call("conversation/list", limit=1)
        slowest = max(slowest, time.monotonic() - began)
        threading.Event().wait(0.01)
    assert caller.send(conversation, "say after", wait=True)["ending"] == "completed"
    grown = (agents.peak_rss() - before) / 2**20
    assert grown < GROWTH_MIB, f"{grown:.0f} MiB"
    assert slowest < SERVED_S, f"others waited for {slowest:.2f} s"
    assert len(agents_of(agents)) == 1
    row.times += 1
    row.notes.append(
        f"{ended.result()['ending']}; {grown:.0f} MiB more; others waited {slowest * 1e3:.0f} ms at most"
    )


def test_a_gibibyte_in_one_line_ends_the_agent_and_costs_no_memory(agents: DaemonHarness, measure: Measure) -> None:
    with measure("G", "1 GiB in one line") as row:
        flooded(agents, row, FLOODS["one line"])


@pytest.mark.soak(takes_s=60)
@pytest.mark.parametrize("what", FLOODS)
def test_a_gibibyte_of_anything_costs_no_memory(agents: DaemonHarness, measure: Measure, what: str) -> None:
    with measure("G", f"1 GiB: {what}") as row:
        flooded(agents, row, FLOODS[what])


MISUSED = ("requests", "notifications", "extensions", "cancels", "answers", "no messages", "half messages")
WAITS_S = (
    0.3  # for a request, 99 of 100, on a busy machine; it was half a second on an idle one, for a quarter of a minute
)
LINES = 30  # of the log: the first messages, how many there were, and the agent's end


@pytest.mark.parametrize("what", [*MISUSED, "updates without any"])
def test_a_flood_of_what_nobody_can_answer_ends_the_agent_and_neither_neighbours_nor_the_log_suffer(
    agents: DaemonHarness, what: str
) -> None:
    caller, neighbour = agents.caller("victim"), agents.caller("neighbour")
    conversation = caller.create(agent="polite")
    caller.send(conversation, "say before", wait=True)
    before = list(agents.log())
    ended = caller.start("conversation/send", conversation=conversation, prompt=f"misuse 200000 {what}", wait=True)
    times = []
    while not ended.done():
        began = time.monotonic()
        neighbour.call("conversation/list", limit=1)
        times.append(time.monotonic() - began)
        threading.Event().wait(0.005)
    assert "messages that nobody can answer in one turn" in str(ended.result())
    assert p99(times) < WAITS_S, f"others waited for {p99(times):.3f} s"
    after = list(agents.log())
    assert after[: len(before)] == before
    assert len(after) - len(before) < LINES
    assert caller.send(conversation, "say after", wait=True)["ending"] == "completed"


TERMINALS, FOR_S = 32, 4
TURNS_HISTORY = 16 << 20  # bytes: what is kept of all terminals, as JSON
OF_TERMINALS_S = 0.6  # for a request, 99 of 100, while 32 commands start on a busy machine; it was twice that


def test_terminals_that_write_without_end_hold_nobody_up_and_fill_no_history(agents: DaemonHarness) -> None:
    caller, neighbour = agents.caller("victim"), agents.caller("neighbour")
    conversation = caller.create(agent="polite")
    caller.send(conversation, "say before", wait=True)
    words = f"terminals {TERMINALS} {FOR_S} yes"
    ended = caller.start("conversation/send", conversation=conversation, prompt=words, wait=True)
    times = []
    while not ended.done():
        began = time.monotonic()
        neighbour.call("conversation/list", limit=1)
        times.append(time.monotonic() - began)
        threading.Event().wait(0.005)
    assert p99(times) < OF_TERMINALS_S, f"others waited for {p99(times):.3f} s"
    stored = sum(len(json.dumps(one)) for one in caller.history(conversation))
    assert 1 << 20 < stored < TURNS_HISTORY
    assert caller.send(conversation, "say after", wait=True)["ending"] == "completed"
