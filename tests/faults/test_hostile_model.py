"""H: hostile model servers: endless, nested, packed, odd answers. Their turns end; other clients don't notice."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

import pytest

from tests.faults.caller import Caller
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, served_by, until
from tests.faults.follower import judge
from tests.faults.pinging import Pings, pinging
from tests.faults.report import Row
from tests.support.hostile_server import DRIPS, KINDS, RESPONSES, SLOW, hostile_server

pytestmark = pytest.mark.long(takes_s=35)

MIB = 1 << 20
ROOM = 200 * MIB  # what one server may cost while it does its worst
WAIT_S = 30.0
STOP_S = 3.0  # for an interrupt, on a machine that is busy
IDLE_MS = 1500  # the provider's time-out, so that what goes on and on in drops ends
FAST_S = 1.0  # most answers end by then; what is large, and comes in small pieces, is interrupted
MANY = 8  # conversations at once
ROUNDS = 10  # for each of them; then others, for theirs have become long


@pytest.fixture(params=["chat"])
def hostile(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[DaemonHarness]:
    with hostile_server() as url:
        config = served_by(url, "limits.refusal_seconds = 0.5", retries=0)
        patient = "stream_max_retries = 0"
        wire = f'stream_idle_timeout_ms = {IDLE_MS}\nwire_api = "{request.param}"'
        config = config.replace(patient, f"{patient}\n{wire}")
        with DaemonHarness(tmp_path / "home", config) as harness:
            yield harness
            assert harness.complaints() == []


def ended(answer: Future[Any]) -> dict[str, Any]:
    result: dict[str, Any] = answer.result(WAIT_S)
    assert result["ending"] in {"error", "completed", "interrupted", "budget"}, result
    assert result["ending"] != "error" or result["message"], "an error without words"
    return result


def suffered(caller: Caller, kind: str) -> None:
    """Run a turn with this server, then the conversation's next message."""
    conversation = caller.create()
    ended(caller.start("conversation/send", conversation=conversation, prompt=f"hostile {kind}", wait=True))
    assert caller.send(conversation, "hi", wait=True)["message"] == "fine"
    judge(caller.history(conversation))
    caller.delete(conversation)


def interrupted(caller: Caller, kind: str) -> None:
    conversation = caller.create()
    answer = caller.start("conversation/send", conversation=conversation, prompt=f"hostile {kind}", wait=True)
    until(lambda: caller.call("conversation/get", conversation=conversation)["turn"], "no turn began")
    time.sleep(0.05)  # into the middle of it; where exactly is nobody's promise
    began = time.monotonic()
    caller.call("conversation/interrupt", conversation=conversation)
    assert time.monotonic() - began < STOP_S, f"{kind} holds an interrupt up"
    ended(answer)
    assert caller.send(conversation, "hi", wait=True)["message"] == "fine"


def test_whatever_a_server_sends_without_end_its_turn_ends_and_the_next_one_works(
    hostile: DaemonHarness, measure: Measure
) -> None:
    with measure("H", "one of each kind of endless, packed or odd answer") as row:
        caller = hostile.caller()
        before = hostile.rss()
        with pinging(hostile) as pings:
            for kind in sorted(KINDS.keys() - set(SLOW)):
                suffered(caller, kind)
                row.times += 1
                assert hostile.rss() - before < ROOM, f"{kind} costs {(hostile.rss() - before) // MIB} MiB"
        assert pings.p50 < 25.0, "everybody waits for one bad server"


@pytest.mark.parametrize("hostile", ["responses"], indirect=True)
def test_on_the_other_wire_too_every_turn_ends_and_the_next_one_works(
    hostile: DaemonHarness, measure: Measure
) -> None:
    with measure("H", "one of each kind of endless or odd answer, responses") as row:
        caller = hostile.caller()
        before = hostile.rss()
        for kind in sorted(RESPONSES):
            suffered(caller, kind)
            row.times += 1
            assert hostile.rss() - before < ROOM, f"{kind} costs {(hostile.rss() - before) // MIB} MiB"


def test_an_interrupt_reaches_a_turn_whatever_its_server_sends(hostile: DaemonHarness, measure: Measure) -> None:
    with measure("H", "an interrupt while a server drips, or floods in the smallest pieces") as row:
        caller = hostile.caller()
        for kind in (*DRIPS, *SLOW):
            interrupted(caller, kind)
            row.times += 1


@pytest.mark.parametrize("kind", ["drip-head", "drip-continue", "drip-refusal"])
def test_an_answer_in_endless_drops_ends_by_its_time_out(hostile: DaemonHarness, kind: str) -> None:
    began = time.monotonic()
    suffered(hostile.caller(), kind)
    assert time.monotonic() - began < 10 * IDLE_MS / 1000


def fuzzed(harness: DaemonHarness, row: Row, count: int, seed: int) -> None:
    """Give random answers to several conversations at once, interrupt some; each ends, each history is whole."""
    chance = random.Random(seed)
    caller = harness.caller()
    before = harness.rss()
    while row.times < count:
        conversations = [caller.create() for _ in range(MANY)]
        for _ in range(ROUNDS):
            fuzzed_once(caller, conversations, chance)
            row.times += MANY
            assert harness.rss() - before < 2 * ROOM, "memory grows"
        for conversation in conversations:
            assert caller.send(conversation, "hi", wait=True)["message"] == "fine"
            judge(caller.history(conversation))
            caller.delete(conversation)


def fuzzed_once(caller: Caller, conversations: list[str], chance: random.Random) -> None:
    answers = []
    for conversation in conversations:
        prompt = f"hostile random {chance.randrange(1 << 30)}"
        answers.append(caller.start("conversation/send", conversation=conversation, prompt=prompt, wait=True))
    for conversation, answer in zip(conversations, answers, strict=True):
        if chance.random() > 0.2:
            wait([answer], FAST_S)
        if not answer.done():
            caller.call("conversation/interrupt", conversation=conversation)
        ended(answer)


def test_random_answers_end_every_turn(hostile: DaemonHarness, measure: Measure) -> None:
    with measure("H", "random answers, eight at once") as row:
        fuzzed(hostile, row, 40, seed=1)


@pytest.mark.soak(takes_s=300)
def test_random_answers_end_every_turn_for_long(hostile: DaemonHarness, measure: Measure) -> None:
    with measure("H", "random answers, eight at once") as row:
        fuzzed(hostile, row, 800, seed=2)


@pytest.mark.soak(takes_s=120)
@pytest.mark.quiet
def test_a_neighbour_does_not_notice_a_server_that_does_its_worst(hostile: DaemonHarness, measure: Measure) -> None:
    with measure("H", "each kind again and again, beside a neighbour who asks small things") as row:
        caller = hostile.caller()
        suffered(caller, "text")
        with pinging(hostile) as idle:
            time.sleep(5)
        before, most = hostile.rss(), 0
        all_of_it = Pings()
        for kind in sorted(KINDS):
            until_s = time.monotonic() + 1.5
            with pinging(hostile) as pings:
                while time.monotonic() < until_s:
                    conversation = caller.create()
                    send = caller.start("conversation/send", conversation=conversation, prompt=f"hostile {kind}")
                    send.result(WAIT_S)
                    time.sleep(0.1)
                    most = max(most, hostile.rss() - before)
                    caller.call("conversation/interrupt", conversation=conversation)
                    row.times += 1
            all_of_it.took_ms += pings.took_ms
        row.notes.append(
            f"a ping: {idle.p50:.1f} ms at the median and {idle.p99:.1f} at p99 before, "
            f"{all_of_it.p50:.1f} and {all_of_it.p99:.1f} meanwhile; memory +{most // MIB} MiB at most"
        )
        assert most < ROOM
        assert all_of_it.p99 <= 5 * max(idle.p99, 10.0)
