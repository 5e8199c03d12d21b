"""Rules for a whole answer on both wires: any split gives the same events, any cut is an error."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.agents.errors import StreamBroken
from supervisor.agents.own.model import wire as wires
from supervisor.agents.own.model.sse import SseParser
from supervisor.agents.own.model.stream_events import (
    CallDone,
    ReasoningDone,
    ResponseEnd,
    StreamEvent,
    TextDelta,
    TextDone,
)
from supervisor.config.shared_keys import WireApi
from tests.supervisor.agents.own.model.reading import BOTH, decoded
from tests.support.model_script import SPEAKERS
from tests.support.model_wire import Call, Tokens, event

WORDS = ["Grüße ", "an ", "alle 😀", "\n\n", "data: x"]
CALLS = [Call("c1", "shell", '{"command":["echo","€\\n\\n"]}'), Call("c2", "update_plan", '{"plan":[]}')]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.dictionaries(
    st.sampled_from(
        ["content", "tool_calls", "reasoning", "index", "id", "function", "name", "arguments", "summary"]
    ),
    ANY_JSON,
)


def answer(wire: WireApi) -> bytes:
    speaker = SPEAKERS[wire.value]("r1")
    events = (
        *speaker.begin(),
        *speaker.summary(["Hmm, first.", "Then second."]),
        *speaker.text(WORDS),
        *speaker.calls(CALLS),
        *speaker.finish("tool_calls", Tokens(7, 5, 3, 1)),
    )
    return b"".join(events)


def items(news: list[StreamEvent]) -> list[StreamEvent]:
    return [one for one in news if isinstance(one, TextDone | CallDone | ReasoningDone)]


@pytest.mark.parametrize("wire", BOTH)
def test_an_answer_cut_in_two_at_any_byte_gives_the_same_news(wire: WireApi) -> None:
    stream = answer(wire)
    whole, failure = decoded(wire, stream)
    assert failure is None
    assert TextDone("".join(WORDS)) in whole
    assert [(one.call_id, one.name, one.arguments) for one in whole if isinstance(one, CallDone)] == [
        (call.id, call.name, call.arguments) for call in CALLS
    ]
    for at in range(len(stream) + 1):
        assert decoded(wire, stream[:at], stream[at:]) == (whole, None), at


@pytest.mark.parametrize("wire", BOTH)
def test_an_answer_in_single_bytes_gives_the_same_news(wire: WireApi) -> None:
    stream = answer(wire)
    assert decoded(wire, *(stream[at : at + 1] for at in range(len(stream)))) == decoded(wire, stream)


@pytest.mark.parametrize("wire", BOTH)
def test_an_answer_that_ends_early_at_any_byte_breaks_and_is_never_shortened(wire: WireApi) -> None:
    stream = answer(wire)
    whole = items(decoded(wire, stream)[0])
    broken = 0
    for at in range(len(stream)):
        news, failure = decoded(wire, stream[:at])
        finished = items(news)
        assert finished == whole[: len(finished)]
        if failure is None:
            assert finished == whole
            assert isinstance(news[-1], ResponseEnd)
        else:
            broken += 1
            assert isinstance(failure, StreamBroken)
            assert not any(isinstance(one, ResponseEnd) for one in news)
            assert wire is WireApi.RESPONSES or not finished, "no item of a chat answer is finished before its reason"
    assert broken > len(stream) // 2


@pytest.mark.parametrize("wire", BOTH)
@given(st.lists(ANY_JSON, max_size=4))
def test_no_json_whatever_makes_a_decoder_raise(wire: WireApi, values: list[Any]) -> None:
    decoded(wire, *(event(value) for value in values))


@given(MEMBERS, st.lists(MEMBERS, max_size=3))
def test_no_members_of_any_type_make_a_decoder_raise(delta: dict[str, Any], pieces: list[dict[str, Any]]) -> None:
    calls = [{"function": piece, **piece} for piece in pieces]
    choice = {"delta": {**delta, "tool_calls": calls}, "finish_reason": "stop"}
    decoded(WireApi.CHAT, event({"choices": [choice], "usage": delta, "id": delta}))
    for kind in ("message", "reasoning", "function_call"):
        item = {"type": "response.output_item.done", "item": {**delta, "type": kind}}
        completed = {"type": "response.completed", "response": {**delta, "usage": delta}}
        decoded(WireApi.RESPONSES, event(item), event(completed))


@pytest.mark.parametrize("wire", BOTH)
def test_all_deltas_of_a_chunk_are_one_batch_and_one_delta(wire: WireApi) -> None:
    speaker = SPEAKERS[wire.value]("r1")
    decoder = wires.decoder(wire)
    events = b"".join(one for one in speaker.text(["a", "b", "c"]) if b".done" not in one)
    assert decoder.read(SseParser().feed(events)) == [TextDelta("abc")]
