"""Each event type is told or left out on purpose, and whatever is told fits the schema."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.vocabulary import events as ev
from actors.vocabulary.ids import TurnId
from actors.vocabulary.records import Record
from actors.vocabulary.settings import AbortReason
from tests.support.acp_judge import judge
from tests.support.any_event import event_of
from transports import jsonrpc
from transports.dialects.acp.event_translator import DELTAS, LEFT_OUT, LOST_TEXT, EventTranslator, question
from transports.dialects.acp.shown_calls import CALL_EVENTS, ShownCalls
from transports.dialects.acp.shown_texts import ShownTexts
from transports.dialects.acp.update_json import write_update
from transports.dialects.acp.updates import Remark, Update

TOLD = set(EventTranslator.HANDLERS) | CALL_EVENTS | DELTAS | ev.TERMINAL


def teller(*, screens: bool = False, continues: bool = False) -> EventTranslator:
    texts = ShownTexts({})
    return EventTranslator(lambda: "editor", texts, ShownCalls(texts, screens=screens, continues=continues))


def record(event: ev.DurableEvent, seq: int = 7) -> Record:
    return Record(seq, 1.0, TurnId("t"), ev.type_of(type(event)), event.model_dump_json().encode())


def judged(update: Update) -> list[dict[str, Any]]:
    """The update as it is written, which its schema allows."""
    written: list[dict[str, Any]] = json.loads(jsonrpc.to_json(write_update(update)))
    for one in written:
        judge({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": one}})
    return written


def test_each_type_of_event_is_told_or_left_out_with_a_reason() -> None:
    known = {ev.type_of(kind) for kind in ev.EVENTS}
    left_out = set(map(ev.type_of, LEFT_OUT))
    assert TOLD | left_out == known
    assert left_out & TOLD == set()


def test_a_lost_turn_says_once_what_happened_and_what_to_do() -> None:
    telling = teller()
    why = "the daemon was stopped while the turn ran"
    ended = (ev.ErrorEvent(message=why), ev.TurnAborted(reason=AbortReason.LOST, message=why))
    told = [update for event in ended for update in telling.take(record(event))]
    assert [one.text for one in told if isinstance(one, Remark)] == [LOST_TEXT]


@pytest.mark.parametrize("kind", ev.DURABLE_EVENTS, ids=ev.type_of)
@settings(max_examples=8, deadline=None)
@given(data=st.data(), screens=st.booleans(), continues=st.booleans(), replays=st.booleans())
def test_whatever_is_told_of_an_event_fits_the_schema(
    kind: type[ev.DurableEvent], data: st.DataObject, screens: bool, continues: bool, replays: bool
) -> None:
    telling = teller(screens=screens, continues=continues)
    telling.replays = replays
    told = [one for update in telling.take(record(data.draw(event_of(kind)))) for one in judged(update)]
    if kind in LEFT_OUT and not replays:
        assert told == []
    judged_after = [one for update in telling.calls.end_all() for one in judged(update)]
    assert telling.calls.open == {}
    assert all(one["status"] == "failed" for one in judged_after)
    assert json.dumps(told)


@pytest.mark.parametrize("kind", ev.DELTAS, ids=ev.type_of)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_whatever_is_told_of_a_delta_fits_the_schema(kind: type[Any], data: st.DataObject) -> None:
    telling = teller(continues=True)
    for update in [*telling.delta(data.draw(event_of(kind))), *telling.calls.tail_updates()]:
        judged(update)


@settings(max_examples=32, deadline=None)
@given(request=event_of(ev.ApprovalRequested))
def test_each_question_has_a_call_of_its_own(request: ev.ApprovalRequested) -> None:
    telling = teller()
    (first,) = [one for update in telling.asks(request) for one in judged(update)]
    assert first["sessionUpdate"] == "tool_call"
    assert first["status"] == "pending"
    assert question(request).title
    assert list(telling.asks(request)) == []
