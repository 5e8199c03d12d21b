"""Readers of events, driven by hand: after a lost connection nothing is missing and nothing comes twice."""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from greenroom import errors
from greenroom.exchange import ScriptEnded, advance
from greenroom.following import (
    ConversationReader,
    EventScript,
    EverythingReader,
    FoundEvent,
    HistoryReader,
    QuestionReader,
)
from greenroom.scripts import ApiCall, NextNotification
from greenroom.wire import Json

LOST = errors.ConnectionLost("gone")


def stored(seq: int, kind: str = "background_event", conversation: str = "c", **members: Any) -> Json:
    body = {"type": kind, "message": str(seq), **members}
    return {"conversation": conversation, "seq": seq, "ts": 1.0, "turn": None, "event": body}


def delta(text: str, item: str = "i") -> Json:
    body = {"type": "agent_message_delta", "delta": text, "item_id": item}
    return {"conversation": "c", "seq": None, "ts": 1.0, "turn": "t", "event": body}


def output(data: bytes, stream: str = "stdout") -> Json:
    chunk = b64encode(data).decode()
    body = {"type": "work_output", "chunk": chunk, "stream": stream, "item_id": "i", "call_id": "k"}
    return {"conversation": "c", "seq": None, "ts": 1.0, "turn": "t", "event": body}


def slice_of(*events: Json, **more: Any) -> Json:
    return {"method": "events", "params": {"events": events, "live": True, "lagged": False, **more}}


def attachment(name: str = "s", seq: int = 0) -> Json:
    return {"subscription": name, "seq": seq, "summary": {"conversation": "c"}}


class Driven:
    """A reader, and what it has handed out so far."""

    def __init__(self, events: EventScript) -> None:
        self._events = events
        self.out: list[Json] = []
        self.asks: Any = None
        self.give(None)

    def give(self, answer: Json | errors.GreenroomError | None) -> None:
        step = advance(self._events, answer)
        while isinstance(step, FoundEvent):
            self.out.append(step.envelope)
            step = advance(self._events)
        self.asks = step

    @property
    def text(self) -> str:
        return "".join(one["event"].get("delta", "") for one in self.out)

    @property
    def seqs(self) -> list[int | None]:
        return [one["seq"] for one in self.out]


def test_a_reader_attaches_after_its_cursor_and_takes_slice_after_slice() -> None:
    reader = ConversationReader("c", 4)
    driven = Driven(reader.events())
    assert driven.asks == ApiCall("conversation/attach", {"conversation": "c", "after": 4, "read_only": False})
    driven.give(attachment())
    assert driven.asks == NextNotification("s")
    driven.give(slice_of(stored(5), stored(6)))
    assert (driven.seqs, reader.cursor) == ([5, 6], 6)


def test_from_now_on_means_from_the_moment_it_is_attached() -> None:
    reader = ConversationReader("c", None)
    driven = Driven(reader.events())
    driven.give(attachment(seq=9))
    driven.give(LOST)
    assert driven.asks.params["after"] == 9


def test_after_a_lost_connection_it_attaches_again_by_its_cursor() -> None:
    driven = Driven(ConversationReader("c").events())
    driven.give(attachment())
    driven.give(slice_of(stored(1)))
    driven.give(LOST)
    assert (driven.asks.params["after"], driven.asks.again) == (1, True)
    driven.give(LOST)
    assert driven.asks.again
    driven.give(attachment("s2"))
    assert driven.asks == NextNotification("s2")


def test_a_new_owner_of_the_conversation_is_attached_to_at_once() -> None:
    driven = Driven(ConversationReader("c").events())
    driven.give(attachment())
    driven.give({"method": "ended", "params": {"subscription": "s", "reason": "it failed"}})
    assert driven.asks.method == "conversation/attach"
    with pytest.raises(errors.UnknownConversation):
        driven.give(errors.UnknownConversation("deleted"))


def test_the_cursor_is_that_of_the_last_event_handed_out_and_not_of_the_slice() -> None:
    reader = ConversationReader("c")
    events = reader.events()
    advance(events)
    advance(events, attachment())
    advance(events, slice_of(stored(1), stored(2)))
    assert reader.cursor == 1


def test_an_unfinished_message_that_is_said_again_is_handed_out_once() -> None:
    driven = Driven(ConversationReader("c").events())
    driven.give(attachment())
    driven.give(slice_of(delta("one "), delta("two ")))
    driven.give(LOST)
    driven.give(attachment("s2"))
    driven.give(slice_of(delta("one two three ")))
    driven.give(slice_of(delta("four")))
    assert driven.text == "one two three four"


def test_it_is_said_again_in_pieces_too_and_again_and_again() -> None:
    driven = Driven(ConversationReader("c").events())
    driven.give(attachment())
    driven.give(slice_of(delta("abcdef")))
    for _ in range(2):
        driven.give(LOST)
        driven.give(attachment())
        driven.give(slice_of(delta("abc")))
        driven.give(slice_of(delta("def")))
    driven.give(slice_of(delta("g")))
    assert driven.text == "abcdefg"


def test_each_stream_of_a_command_is_counted_by_itself_in_bytes() -> None:
    driven = Driven(ConversationReader("c").events())
    driven.give(attachment())
    driven.give(slice_of(output(b"\xffab"), output(b"x", "stderr")))
    driven.give(LOST)
    driven.give(attachment())
    driven.give(slice_of(output(b"\xffabc"), output(b"xyz", "stderr")))
    assert [b64decode(one["event"]["chunk"]) for one in driven.out] == [b"\xffab", b"x", b"c", b"yz"]


def test_an_item_of_the_same_name_that_begins_anew_is_handed_out_whole() -> None:
    driven = Driven(ConversationReader("c").events())
    driven.give(attachment())
    driven.give(slice_of(delta("first")))
    driven.give(LOST)
    driven.give(attachment())
    driven.give(slice_of(stored(1, "agent_message", item_id="i"), delta("other")))
    assert driven.text == "firstother"


def test_events_that_retention_has_removed_are_told_as_a_gap() -> None:
    reader = ConversationReader("c")
    driven = Driven(reader.events())
    driven.give(attachment())
    driven.give(slice_of(stored(8), gap=[1, 7]))
    assert [one["event"]["type"] for one in driven.out] == ["gap", "background_event"]
    assert driven.out[0]["event"] == {"type": "gap", "first": 1, "last": 7}


# --- history --------------------------------------------------------------------------------------------------------


def page(*events: Json, last: int = 0, complete: bool = True) -> Json:
    return {"events": events, "first_seq": 1, "last_seq": last, "complete": complete}


def test_history_is_read_page_by_page_and_says_what_is_missing() -> None:
    driven = Driven(HistoryReader("c", 1).events())
    driven.give(page(stored(4), stored(5), complete=False))
    assert driven.asks.params["after"] == 5
    with pytest.raises(ScriptEnded):
        driven.give(page(stored(6)))
    assert [one["event"]["type"] for one in driven.out[:2]] == ["gap", "background_event"]
    assert driven.seqs == [None, 4, 5, 6]


# --- all conversations ----------------------------------------------------------------------------------------------


def row(conversation: str, seq: int, state: str = "idle") -> Json:
    return {"conversation": conversation, "seq": seq, "state": state}


def rows(*them: Json) -> Json:
    return {"conversations": list(them), "next_cursor": None, "total": len(them)}


def news(*events: Json, cursor: int = 0, lagged: bool = False) -> Json:
    return {"events": events, "cursor": cursor, "lagged": lagged}


def followed(**after: int) -> tuple[EverythingReader, Driven]:
    reader = EverythingReader(after)
    driven = Driven(reader.events())
    assert driven.asks.method == "events/read", "the place is taken first, so that nothing happens in between"
    driven.give(news(cursor=70))
    return reader, driven


def test_following_goes_on_after_the_seq_of_each_conversation() -> None:
    reader, driven = followed(a=3, b=2)
    driven.give(rows(row("a", 3), row("b", 4), row("new", 1)))
    assert driven.asks.params["conversation"] == "b"
    driven.give(page(stored(3, conversation="b"), stored(4, conversation="b")))
    driven.give(page(stored(1, conversation="new")))
    assert (driven.asks.method, driven.asks.params["after"]) == ("events/read", 70)
    assert reader.cursor == {"a": 3, "b": 4, "new": 1}


def test_news_that_were_read_from_history_already_do_not_come_twice_and_gaps_are_filled() -> None:
    reader, driven = followed(a=3)
    driven.give(rows(row("a", 3)))
    driven.give(
        news(stored(3, conversation="a"), stored(4, conversation="a"), stored(6, conversation="a"), cursor=73)
    )
    assert (driven.asks.method, driven.asks.params["after"]) == ("conversation/history", 4)
    driven.give(page(stored(5, conversation="a"), stored(6, conversation="a")))
    assert (driven.seqs, reader.cursor) == ([4, 5, 6], {"a": 6})


@pytest.mark.parametrize("trouble", ["lost", "lagged"])
def test_events_that_the_daemon_can_no_longer_send_are_read_from_history(trouble: str) -> None:
    _, driven = followed(a=1)
    driven.give(rows(row("a", 1)))
    if trouble == "lost":
        driven.give(LOST)
        assert (driven.asks.method, driven.asks.params, driven.asks.again) == ("events/read", {}, True)
        driven.give(news(cursor=5))
    else:
        driven.give(news(cursor=99, lagged=True))
    driven.give(rows(row("a", 2, "running")))
    driven.give(page(stored(2, conversation="a")))
    assert driven.seqs == [2]


def test_a_conversation_that_is_deleted_meanwhile_is_passed_over() -> None:
    reader, driven = followed(a=1)
    driven.give(rows(row("a", 2)))
    driven.give(errors.UnknownConversation("deleted"))
    assert (driven.asks.method, reader.cursor) == ("events/read", {})


def test_from_now_on_leaves_out_what_happened_before() -> None:
    reader = EverythingReader()
    driven = Driven(reader.events())
    driven.give(news(cursor=70))
    driven.give(rows(row("a", 3), row("b", 4, "running")))
    driven.give(page(last=6))
    driven.give(
        news(stored(6, conversation="b"), stored(7, conversation="b"), stored(4, conversation="a"), cursor=73)
    )
    assert [(one["conversation"], one["seq"]) for one in driven.out] == [("b", 7), ("a", 4)]


# --- questions ------------------------------------------------------------------------------------------------------


def question(approval: str) -> Json:
    return {"type": "approval_requested", "conversation": "c", "approval_id": approval, "seq": None, "ts": None}


def test_each_question_comes_once_be_it_open_or_new_or_seen_again_after_a_reconnect() -> None:
    driven = Driven(QuestionReader().events())
    driven.give(news(cursor=1))
    driven.give({"approvals": [question("q1")]})
    asked = [stored(seq, "approval_requested", approval_id=f"q{seq}") for seq in (1, 2)]
    driven.give(news(*asked, stored(3), cursor=4))
    driven.give(LOST)
    driven.give(news(cursor=1))
    driven.give({"approvals": [question("q2"), question("q3")]})
    assert list(ids(driven.out)) == ["q1", "q2", "q3"]


def ids(envelopes: list[Json]) -> Iterator[str]:
    yield from (one["event"]["approval_id"] for one in envelopes)
