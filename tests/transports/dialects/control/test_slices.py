"""From slices to `events` notifications: what they say, and that many readers share one encoding."""

import json

import pytest

from actors.messages.effects import Deliver, EndSubscription, Slice, Unsubscribed
from actors.vocabulary.events import AgentMessageDelta
from actors.vocabulary.ids import ConnectionId, ItemId, SubscriptionId, TurnId
from actors.vocabulary.records import Record
from tests.support.work import command_asked
from tests.transports.dialects.control.scripted import ONE, Scripted
from transports.dialects.control.api import results

READERS = 100


def record(seq: int, text: str = "no") -> Record:
    return Record(seq, 2.5, TurnId("t"), "error", json.dumps({"type": "error", "message": text}).encode())


def deliver(slice_: Slice, subscription: str = "c/1") -> Deliver:
    return Deliver(ConnectionId("c"), SubscriptionId(subscription), slice_)


def said(slice_: Slice) -> dict[str, object]:
    daemon = Scripted()
    (write,) = daemon.deliver(deliver(slice_))
    assert write.ready == "c/1", "the reader is ready when these bytes have left"
    (message,) = daemon.lines
    assert message["method"] == "events"
    params: dict[str, object] = message["params"]
    return params


def test_stored_events_come_in_their_envelopes_and_deltas_without_a_number() -> None:
    delta = AgentMessageDelta(delta="wor\u2028d \U0001f600", item_id=ItemId("i"))
    slice_ = Slice(ONE, (record(4), record(5)), (delta,), live=True, ts=9.0, turn=TurnId("t"))
    assert said(slice_) == {
        "subscription": "c/1",
        "events": [
            {"conversation": ONE, "seq": 4, "ts": 2.5, "turn": "t", "event": {"type": "error", "message": "no"}},
            {"conversation": ONE, "seq": 5, "ts": 2.5, "turn": "t", "event": {"type": "error", "message": "no"}},
            {"conversation": ONE, "seq": None, "ts": 9.0, "turn": "t", "event": delta.model_dump(mode="json")},
        ],
        "live": True,
        "lagged": False,
    }


def test_a_slice_without_events_still_says_that_it_is_live_and_what_is_asked() -> None:
    request = command_asked("rm", approval=f"a@{ONE}")
    params = said(Slice(ONE, (), live=True, pending=(request,)))
    assert params["events"] == []
    assert params["pending"] == [{"conversation": ONE, **request.model_dump(mode="json")}]


def test_a_slice_says_which_events_were_pruned_and_that_its_reader_lagged() -> None:
    params = said(Slice(ONE, (record(9),), lagged=True, gap=(1, 8)))
    assert params["gap"] == [1, 8]
    assert params["lagged"] is True


def test_a_body_goes_out_as_it_was_stored() -> None:
    body = b'{"type":"error","message":"\xc3\xa9","of_tomorrow":{"a":[1.50]}}'
    daemon = Scripted()
    (write,) = daemon.dialect.take_slice(deliver(Slice(ONE, (Record(1, 1.0, None, "error", body),))))
    assert body in getattr(write, "data", b"")


def test_an_ended_subscription_is_told_and_forgotten() -> None:
    daemon = Scripted()
    daemon.request("conversation/attach", {"conversation": ONE})
    name = SubscriptionId(daemon.answer()["result"]["subscription"])
    daemon.end(EndSubscription(ConnectionId("c"), Unsubscribed(name, "it is being deleted")))
    assert daemon.lines[-1]["params"] == {"subscription": name, "reason": "it is being deleted"}
    assert "error" in (daemon.request("conversation/detach", {"subscription": name}, 2) or {})


def test_a_hundred_readers_share_one_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Slice] = []
    real = results.encode_slice

    def counting(slice_: Slice) -> bytes:
        counted.append(slice_)
        return real(slice_)

    monkeypatch.setattr(results, "encode_slice", counting)
    slice_ = Slice(ONE, tuple(record(seq) for seq in range(1, 50)))
    made = [results.events_of(slice_) for _ in range(READERS)]
    assert counted == [slice_]
    assert len({id(one) for one in made}) == 1, "the very same bytes"
