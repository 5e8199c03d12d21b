"""Readers of events: each keeps its place, and goes on from there, also after a reconnect.

They are scripts as in `greenroom.scripts` that also yield events. `cursor` is a reader's place: given to another
reader as `after`, it goes on with the very next event. Pure.
"""

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from greenroom.errors import ConnectionLost, UnknownConversation
from greenroom.record import Event
from greenroom.scripts import (
    ANSWER_S,
    QUESTION,
    ApiCall,
    NextNotification,
    Request,
    Script,
    all_rows,
    page,
    question_event,
)
from greenroom.unfinished import UnfinishedItems
from greenroom.wire import Json

E = TypeVar("E", bound=Event)
C = TypeVar("C")
PAGE = 256
POLL_S = 20.0  # for one answer while nothing happens; then it is asked for again
# States in which the list has the last seq.
AT_REST = frozenset({"idle", "parked", "archived", "failed", "denied", "lost", "over-budget"})


class FoundEvent(NamedTuple):
    envelope: Json


EventScript = Generator[Request | FoundEvent, Json, None]


class EventReader(Generic[E, C]):
    """A reader of events of the class E; `cursor` is its place."""

    cursor: C
    endless = True  # it never ends by itself

    def events(self) -> EventScript:
        raise NotImplementedError


class HistoryReader(EventReader[Event, int]):
    """The stored events of one conversation after a seq, to its end as it is when the reader gets there."""

    endless = False

    def __init__(self, conversation: str, after: int = 0) -> None:
        self.cursor = after
        self._conversation = conversation

    def events(self) -> EventScript:
        return _read_stored(self._conversation, self.cursor, partial(setattr, self, "cursor"))


class ConversationReader(EventReader[Event, int | None]):
    """One conversation: the stored events after a seq (None: none), then all that happens, deltas included."""

    def __init__(self, conversation: str, after: int | None = 0, *, read_only: bool = False) -> None:
        self.cursor = after
        self._conversation = conversation
        self._read_only = read_only
        self._unfinished = UnfinishedItems()

    def events(self) -> EventScript:
        again = False
        while True:
            try:
                params = {"conversation": self._conversation, "after": self.cursor, "read_only": self._read_only}
                found = yield ApiCall("conversation/attach", params, again=again)
                self._conversation = found["summary"]["conversation"]
                self.cursor = found["seq"] if self.cursor is None else self.cursor
                self._unfinished.begin_attachment()
                yield from self._slices(found["subscription"])
            except ConnectionLost:
                again = True

    def _slices(self, subscription: str) -> EventScript:
        """Slices until the subscription ends; attaching again tells whether the conversation is still there."""
        while True:
            message = yield NextNotification(subscription)
            slice_ = message["params"]
            if message["method"] == "ended":
                return
            if slice_["lagged"]:
                self._unfinished.note_lag()
            if gap := slice_.get("gap"):
                self.cursor = gap[1]
                yield FoundEvent(_gap(self._conversation, *gap))
            for envelope in slice_["events"]:
                if envelope["seq"] is None:
                    if (fresh := self._unfinished.new_part(envelope)) is not None:
                        yield FoundEvent(fresh)
                else:
                    self._unfinished.finish(envelope["event"])
                    self.cursor = envelope["seq"]
                    yield FoundEvent(envelope)


class EverythingReader(EventReader[Event, Mapping[str, int]]):
    """All conversations: the stored events after the seq of each (None: none), then each new one, without deltas.

    Those that `after` does not name are new. Events come in order within each conversation.
    """

    def __init__(self, after: Mapping[str, int] | None = None) -> None:
        self.cursor: dict[str, int] = dict(after or {})
        self._from_now_on = after is None

    def events(self) -> EventScript:
        return _news(self._catch_up, self._take)

    def _go_to_the_end(self) -> Script[None]:
        """Start at the end of the history, as the list may lag behind a conversation that has a turn."""
        for row in (yield from all_rows(archived=True)):
            conversation = row["conversation"]
            at_rest = row["state"] in AT_REST
            self.cursor[conversation] = (
                row["seq"] if at_rest else (yield from page(conversation, row["seq"], 1))["last_seq"]
            )
        self._from_now_on = False

    def _catch_up(self) -> EventScript:
        if self._from_now_on:
            return (yield from self._go_to_the_end())
        for row in (yield from all_rows(archived=True)):
            if row["state"] not in AT_REST or row["seq"] > self.cursor.get(row["conversation"], 0):
                yield from self._catch_up_with(row["conversation"])

    def _take(self, envelope: Json) -> EventScript:
        conversation, seq = envelope["conversation"], envelope["seq"]
        last = self.cursor.get(conversation, 0)
        if seq > last + 1:
            yield from self._catch_up_with(conversation)
        elif seq == last + 1:
            self.cursor[conversation] = seq
            yield FoundEvent(envelope)

    def _catch_up_with(self, conversation: str) -> EventScript:
        last = self.cursor.get(conversation, 0)
        try:
            yield from _read_stored(conversation, last, partial(self.cursor.__setitem__, conversation))
        except UnknownConversation:
            self.cursor.pop(conversation, None)  # deleted meanwhile


class QuestionReader(EventReader[Any, None]):
    """The questions that wait for an answer, then each new one, of all conversations."""

    def __init__(self) -> None:
        self.cursor = None
        self._told: set[str] = set()

    def events(self) -> EventScript:
        return _news(self._open, self._if_new)

    def _open(self) -> EventScript:
        found = yield ApiCall("approvals/list", {})
        for question in found["approvals"]:
            yield from self._if_new(question_event(question))

    def _if_new(self, envelope: Json) -> EventScript:
        body = envelope["event"]
        if body["type"] == QUESTION and body["approval_id"] not in self._told:
            self._told.add(body["approval_id"])
            yield FoundEvent(envelope)


def _news(catch_up: Callable[[], EventScript], each: Callable[[Json], EventScript]) -> EventScript:
    """Events as they are stored in any conversation, by long polling; `catch_up` first, and after each gap."""
    again = False
    while True:
        try:
            place = (yield ApiCall("events/read", {}, again=again))["cursor"]  # first, so that nothing is between
            yield from catch_up()
            while True:
                news = yield ApiCall("events/read", {"after": place, "wait_s": POLL_S}, POLL_S + ANSWER_S)
                if news["lagged"]:
                    yield from catch_up()
                for envelope in news["events"]:
                    yield from each(envelope)
                place = news["cursor"]
        except ConnectionLost:
            again = True


def _read_stored(conversation: str, after: int, moved: Callable[[int], object]) -> EventScript:
    """The stored events after a seq, and a gap where some are missing; `moved` is told the place after each."""
    while True:
        found = yield from page(conversation, after, PAGE)
        for envelope in found["events"]:
            if envelope["seq"] > after + 1:
                moved(envelope["seq"] - 1)
                yield FoundEvent(_gap(conversation, after + 1, envelope["seq"] - 1))
            after = envelope["seq"]
            moved(after)
            yield FoundEvent(envelope)
        if found["complete"] or not found["events"]:
            return


def _gap(conversation: str, first: int, last: int) -> Json:
    """One event in place of those that retention has removed."""
    event = {"type": "gap", "first": first, "last": last}
    return {"conversation": conversation, "seq": None, "ts": 0.0, "turn": None, "event": event}
