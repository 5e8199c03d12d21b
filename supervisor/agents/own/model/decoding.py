"""Shared parts of the wires' decoders: JSON, coalesced deltas, one place for a failure. No I/O.

A decoder never raises. It returns events, and keeps the failure that ended it until the events before it were
delivered. Everything from the server is bounded here, before it is used.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import chain, count
from typing import Any

from msgspec.structs import replace
from pydantic_core import from_json

from actors.vocabulary.ids import CallId
from actors.vocabulary.json_values import SMALL, has_too_many_values
from supervisor.agents.errors import BeyondBound, ModelError, StreamBroken
from supervisor.agents.own.model.stream_events import (
    CallDone,
    Delta,
    ReasoningDone,
    ResponseEnd,
    SearchDone,
    SectionBreak,
    StreamEvent,
    TextDone,
)
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.bounds import DEFAULTS, Bounds, json_size

Object = dict[str, Any]

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_ENDS_IN_FIRST_HALF = re.compile("[\ud800-\udbff]$")
LONGEST_NAME = 1024  # of a call, a tool, a response: they are repeated in many events
MOST_USD = 1e6  # of one response
MOST_TOKENS = 1 << 40  # of one response; a thousand times the window of any model, and a sum of many fits 64 bits


class Decoder(ABC):
    """The decoder of one attempt's stream. `answered`: every item is finished; `done`: nothing at all is to come."""

    __slots__ = (
        "_block",
        "_bounds",
        "_calls_told",
        "_delta",
        "_half",
        "_items",
        "_news",
        "_pieces",
        "_repeated",
        "_whole",
        "answered",
        "done",
        "failure",
        "response_id",
        "said",
        "usage",
    )

    def __init__(self, bounds: Bounds = DEFAULTS) -> None:
        self._bounds = bounds
        self.said = 0  # bytes of the model's output so far, as JSON writes them
        self._repeated = 0  # the same of its finished items, which repeat their deltas
        self._items = 0
        self._calls_told: set[str] = set()
        self.answered = False
        self.done = False
        self.failure: ModelError | None = None
        self.response_id = ""
        self.usage: TokenUsage | None = None
        self._news: list[StreamEvent] = []
        self._delta: type[Delta] | None = None  # the kind of the deltas being gathered
        self._block = 0  # of these deltas
        self._whole: GatheredText | None = None  # the item text that the deltas belong to
        self._pieces: list[str] = []
        self._half = ""

    def read(self, events: Iterable[bytes]) -> list[StreamEvent]:
        for data in events:
            if self.done or self.failure:
                break
            self._event(data)
        return self._take_news()

    def end(self) -> list[StreamEvent]:
        """Close the stream at the connection's end, which ends an answered response and breaks any other."""
        if self.answered:
            self._finish()
        elif not self.failure:
            self._fail(StreamBroken(self._closed_early))
        return self._take_news()

    _closed_early: str

    @abstractmethod
    def _event(self, data: bytes) -> None: ...

    def _object(self, data: bytes) -> Object | None:
        """Parse an event. None for an event that is skipped or has failed."""
        if len(data) > SMALL and has_too_many_values(data, self._bounds.answer_event_values):
            self._exceed_bound("answer_event_values", "an event of the model's answer has too many values")
            return None
        try:
            value = from_json(data)
        except ValueError:
            if not data.lstrip().startswith(b"{"):
                return None
            try:
                value = json.loads(data)  # accepts the halves of surrogate pairs, which from_json refuses
            except (ValueError, RecursionError):
                self._fail(StreamBroken("an event is not JSON"))
                return None
        return value if isinstance(value, dict) else None

    def _say(self, kind: type[Delta], text: Any, whole: "GatheredText | None" = None, block: int = 0) -> None:
        """Take a delta, and the item text it belongs to, if no later event repeats that text."""
        if text and isinstance(text, str):
            if kind is not self._delta or block != self._block:
                self._flush()
                self._half = ""
                self._delta, self._whole, self._block = kind, whole, block
            self._pieces.append(text)

    def _tell(self, *news: StreamEvent) -> None:
        self._flush()
        self._delta = None
        self._half = ""
        for item in news:
            if self.failure:
                break
            self._count(item)
            if not self.failure:
                self._news.append(self._with_own_id(item) if isinstance(item, CallDone) else item)

    def _with_own_id(self, call: CallDone) -> CallDone:
        """Give the call an id of its own in the answer; some servers send none, or the same again."""
        numbered = (f"{call.call_id or 'call'}_{number}" for number in count(len(self._calls_told)))
        own = next(name for name in chain([call.call_id], numbered) if name and name not in self._calls_told)
        self._calls_told.add(own)
        return call if own == call.call_id else replace(call, call_id=CallId(own))

    def _count(self, item: StreamEvent) -> None:
        match item:
            case TextDone(text):
                self._count_item(text)
            case CallDone(call_id, name, arguments, signature):
                self._count_item(call_id, name, arguments, signature)
                if max(len(call_id), len(name)) > LONGEST_NAME:
                    self._fail(
                        BeyondBound(f"the model asks for a tool with a name or id of over {LONGEST_NAME} letters")
                    )
            case ReasoningDone(reasoning, summary, raw, encrypted, signature):
                self._count_item(reasoning, *summary, raw, encrypted or "", signature)
                self._items += len(summary)
            case SearchDone(search, query, _, kept):
                self._count_item(search, query, kept)
            case SectionBreak():
                self._items += 1
            case _:
                pass
        if self._repeated > self._bounds.answer_bytes:
            self._too_long()
        elif self._items > self._bounds.answer_items:
            self._exceed_bound("answer_items", "the model's answer has too many items")

    def _count_item(self, *texts: str) -> None:
        self._items += 1
        size = sum(map(json_size, texts))
        self._repeated += size
        self.said = max(self.said, self._repeated)

    def _count_bytes(self, size: int) -> None:
        """Count more bytes of an unfinished item."""
        self.said += size
        if self.said > self._bounds.answer_bytes and not self.failure:
            self._too_long()

    def _too_long(self) -> None:
        self._exceed_bound("answer_bytes", "the model's answer is too long and was cut off")

    def _exceed_bound(self, key: str, what: str) -> None:
        self._fail(BeyondBound(self._bounds.describe_excess(key, what)))

    def _fail(self, failure: ModelError) -> None:
        """Keep the first failure."""
        self._flush()
        self.failure = self.failure or failure

    def _finish(self) -> None:
        if not self.done:
            self._tell(*((self.usage,) if self.usage else ()), ResponseEnd(self.response_id))
            self.answered = self.done = True

    def _flush(self) -> None:
        """Emit the gathered text as one delta; the first half of a surrogate pair waits for its second."""
        if not self._pieces or not self._delta:
            return
        text = "".join(self._pieces)
        self._pieces.clear()
        if self._whole is not None:
            self._whole.add(text)
        text = self._half + text
        self._half = ""
        if not text.isascii() and _ENDS_IN_FIRST_HALF.search(text):
            text, self._half = text[:-1], text[-1]
        if text := mend_surrogates(text):
            size, room = json_size(text), self._bounds.answer_bytes - self.said
            if size > room:  # the part that fits is shown
                text = text[: max(0, room) * len(text) // size]
            if text:
                self._news.append(self._delta(text, self._block))
            self._count_bytes(size)

    def _take_news(self) -> list[StreamEvent]:
        self._flush()
        news, self._news = self._news, []
        return news


def mend_surrogates(text: str) -> str:
    """Join the halves of surrogate pairs; replace single halves, which UTF-8 can't carry."""
    if text.isascii() or not _HALF_PAIR.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def an_object(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def a_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def a_text(value: Any) -> str:
    return mend_surrogates(value) if isinstance(value, str) else ""


def a_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def a_count(value: Any) -> int | None:
    """Read a number of tokens. None for a value that is too large, negative, a fraction or a word."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    number = a_number(value)
    return number if number is not None and 0 <= number <= MOST_TOKENS else None


def a_cost(value: Any) -> float | None:
    """Read an amount of money. None for one that no response costs."""
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if plain and 0 <= value <= MOST_USD else None


class GatheredText:
    """A text that comes in pieces, joined now and then: each small piece costs more than its text."""

    __slots__ = ("_joined", "_pieces")

    def __init__(self) -> None:
        self._joined: list[str] = []
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        if len(self._pieces) >= 1024:
            self._joined.append("".join(self._pieces))
            self._pieces.clear()

    def __bool__(self) -> bool:
        return bool(self._joined or self._pieces)

    def __str__(self) -> str:
        return "".join(self._joined) + "".join(self._pieces)
