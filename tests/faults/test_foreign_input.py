"""F: malformed frames, sizes at every limit, and wrong types for every field of the API."""

import json
import random
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.faults.caller import Message, dial
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness
from tests.faults.report import Row

SILENCE_S = 8.0  # without an answer
LIMIT = 1024 * 1024  # of a line, in this harness's config
MEANT_TO_STOP = {"daemon/down", "clients/kill", "daemon/reload"}
ERRORS = {-32700, -32600, -32601, -32602}
GOOD = b'{"jsonrpc":"2.0","id":"good","method":"conversation/list","params":{}}\n'


class Wire:
    """A connection of raw bytes, in both directions."""

    def __init__(self, harness: DaemonHarness) -> None:
        self.sock, _ = dial(harness.socket, "fuzz", harness.home)
        self._stream = self.sock.makefile("rb")

    def say(self, data: bytes) -> None:
        self.sock.sendall(data)

    def hear(self) -> Message:
        line = self._stream.readline()
        assert line, "hung up on"
        message: Message = json.loads(line)
        return message

    def until_good(self) -> list[Message]:
        """Send GOOD; all answers before its own."""
        self.say(GOOD)
        answers: list[Message] = []
        while (answer := self.hear()).get("id") != "good":
            answers.append(answer)
        assert "result" in answer
        return answers

    def close(self) -> None:
        self._stream.close()
        self.sock.close()


def broken_frames(chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield frames for ever, each with whether it must be answered with an error."""
    whole = b'{"jsonrpc":"2.0","id":1,"method":"conversation/get","params":{"conversation":"none at all"}}'
    makers: dict[str, Callable[[], bytes]] = {
        "cut": lambda: whole[: chance.randrange(1, len(whole))],
        "flipped": lambda: _flipped(whole, chance),
        "noise": lambda: _no_newlines(chance.randbytes(chance.randint(1, 3000))),
        "half a character": lambda: whole.replace(b"none", "nön\u20ac".encode()[: chance.choice((2, 4, 5))]),
        "surrogate": lambda: whole.replace(b"none", b"\\ud800"),
        "nul": lambda: whole.replace(b"none", b"\0"),
        "deep list": lambda: b"[" * chance.randint(100, 100_000),
        "deep object": lambda: b'{"a":' * chance.randint(100, 20_000) + b"1" + b"}" * 100,
        "huge number": lambda: b'{"jsonrpc":"2.0","id":%b,"method":"no"}' % (b"9" * chance.randint(20, 5000)),
        "float id": lambda: b'{"jsonrpc":"2.0","id":1e999,"method":"schema"}',
        "nan": lambda: b'{"jsonrpc":"2.0","id":NaN,"method":"schema","params":{"a":Infinity}}',
        "batch": lambda: b"[" + whole + b"," + whole + b"]",
        "no method": lambda: b'{"jsonrpc":"2.0","id":1}',
        "number method": lambda: b'{"jsonrpc":"2.0","id":1,"method":7}',
        "attribute": lambda: b'{"jsonrpc":"2.0","id":1,"method":"__class__"}',
        "list params": lambda: b'{"jsonrpc":"2.0","id":1,"method":"conversation/get","params":[1,2]}',
        "scalar": lambda: chance.choice((b"1", b"null", b'"x"', b"true", b"[]", b"{}")),
        "other version": lambda: whole.replace(b"2.0", b"1.0"),
        "double key": lambda: b'{"jsonrpc":"2.0","id":1,"id":2,"method":"nothing/at/all"}',
        "hello again": lambda: b'{"greenroom":{"protocol":1,"dialect":"control"}}',
    }
    names = sorted(makers)
    while True:
        name = chance.choice(names)
        yield name, makers[name]()


def _flipped(frame: bytes, chance: random.Random) -> bytes:
    out = bytearray(frame)
    for _ in range(chance.randint(1, 4)):
        out[chance.randrange(len(out))] = chance.randrange(256)
    return _no_newlines(bytes(out))


def _no_newlines(data: bytes) -> bytes:
    return data.replace(b"\n", b"_").replace(b"\r", b"_") or b"_"


def malformed(harness: DaemonHarness, row: Row, frames: int) -> None:
    neighbour = harness.caller("neighbour")
    quiet = neighbour.create()
    wire = Wire(harness)
    source = broken_frames(random.Random(frames))
    rss = 0
    for number in range(frames):
        name, frame = next(source)
        wire.say(frame + b"\n")
        if frame.strip():
            for answer in wire.until_good():
                assert "error" in answer or name == "flipped", f"{name}: {str(answer)[:300]}"
                assert "result" in answer or answer["error"]["code"] in ERRORS or "code" in answer["error"]["data"]
        row.times += 1
        if number == frames // 4:
            rss = harness.rss()
        if number % 500 == 0:
            assert neighbour.send(quiet, "say x", wait=True)["ending"] == "completed"
    wire.close()
    assert harness.rss() - rss < 16 * 1024 * 1024, "malformed frames stay in memory"
    neighbour.delete(quiet)


def every_silent_frame_is_answered(harness: DaemonHarness) -> None:
    """Assert that each kind of malformed frame gets an error, not silence."""
    wire = Wire(harness)
    chance = random.Random(1)
    seen: dict[str, bytes] = {}
    source = broken_frames(chance)
    while len(seen) < 20:
        name, frame = next(source)
        seen.setdefault(name, frame)
    for name, frame in seen.items():
        wire.say(frame + b"\n")
        answers = wire.until_good()
        assert answers or name == "flipped", f"{name} was met with silence: {frame[:80]!r}"
    wire.close()


def sizes(harness: DaemonHarness, row: Row, pieces: int) -> None:
    """Send lines round the sizes of buffers and round the limit, byte-exact in any pieces."""
    wire = Wire(harness)
    caller = harness.caller()
    around = [base + offset for base in (4096, 65536, LIMIT) for offset in (-2, -1, 0, 1, 2)]
    for size in around:
        for end in (b"\n", b"\r\n"):
            frame = _request_of(size)
            assert len(frame) == size
            _in_pieces(wire.sock, frame + end, pieces)
            answers = wire.until_good()
            assert len(answers) == 1, (size, answers)
            if size <= LIMIT:
                assert str(size) in answers[0]["error"]["message"], "what was said came back otherwise"
            else:
                assert answers[0]["error"]["code"] == -32600
            row.times += 1
    wire.say(b"x" * (8 * LIMIT))
    wire.say(b"\n")
    (answer,) = wire.until_good()
    assert str(8 * LIMIT) in answer["error"]["message"]
    wire.close()
    assert caller.call("daemon/status")["clients"] >= 1


def _request_of(size: int) -> bytes:
    """A request of this length, named in its method, which the error repeats."""
    head = b'{"jsonrpc":"2.0","id":1,"method":"of/%d","params":{"a":"' % size
    return head + b"a" * (size - len(head) - 3) + b'"}}'


def _in_pieces(sock: socket.socket, data: bytes, pieces: int) -> None:
    step = max(1, len(data) // pieces)
    for at in range(0, len(data), step):
        sock.sendall(data[at : at + step])


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
ODD = JSON | st.sampled_from(
    [10**30, -1, 0, 2**63, "", "x" * 300, "\0", "../../etc/passwd", [[]], {}, -0.0, 1e308, "null", "\ud7ff"]
)


def mutated(schema: dict[str, Any], known: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """A method, and parameters of which one or more have wrong values."""

    def params(name: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
        properties = schema["methods"][name]["params"].get("properties", {})
        fields = {
            field: ODD | (st.just(known) if field in {"conversation", "reference"} else ODD) for field in properties
        }
        given_fields = st.fixed_dictionaries({}, optional={**fields, "surplus": ODD})
        return st.tuples(st.just(name), given_fields)

    names = sorted(set(schema["methods"]) - MEANT_TO_STOP)
    return st.sampled_from(names).flatmap(params)


def wrong_types(harness: DaemonHarness, row: Row, examples: int) -> None:
    """Try every field of every method, by the daemon's own schema. No answer may be an internal error."""
    caller = harness.caller()
    schema = caller.call("schema")
    before = len(harness.complaints())

    @settings(
        max_examples=examples,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        name, params = data.draw(mutated(schema, known[0]))
        asked = caller.start(name, **params)
        try:
            answer = asked.exception(SILENCE_S)
        except TimeoutError:
            raise AssertionError(f"{name} {params} was never answered") from None
        code = getattr(answer, "code", 0)
        assert code != -32603, f"{name} {params}: {answer}"
        if name == "conversation/delete" and answer is None:
            known[0] = caller.create()
        row.times += 1

    known = [caller.create()]
    run()
    assert harness.complaints()[before:] == []
    assert caller.call("daemon/status")["pid"] == harness.pid


def test_malformed_frames_are_answered_and_neighbours_served(harness: DaemonHarness, measure: Measure) -> None:
    every_silent_frame_is_answered(harness)
    with measure("F", "malformed frames") as row:
        malformed(harness, row, 400)


def test_sizes_round_every_limit_are_byte_exact(harness: DaemonHarness, measure: Measure) -> None:
    with measure("F", "lines of sizes round 4 KiB, 64 KiB and the limit") as row:
        sizes(harness, row, pieces=7)


def test_wrong_types_in_any_field_are_refused_politely(harness: DaemonHarness, measure: Measure) -> None:
    with measure("F", "wrong types for every field, from the API's own schema") as row:
        wrong_types(harness, row, 200)


@pytest.mark.soak
def test_ten_thousand_malformed_frames(harness: DaemonHarness, measure: Measure) -> None:
    with measure("F", "malformed frames") as row:
        malformed(harness, row, 10_000)


@pytest.mark.soak(takes_s=100)
def test_ten_thousand_calls_with_wrong_types(harness: DaemonHarness, measure: Measure) -> None:
    with measure("F", "wrong types for every field, from the API's own schema") as row:
        wrong_types(harness, row, 10_000)


@pytest.mark.soak
def test_sizes_in_a_thousand_pieces(harness: DaemonHarness, measure: Measure) -> None:
    with measure("F", "lines of sizes round 4 KiB, 64 KiB and the limit") as row:
        sizes(harness, row, pieces=1000)
