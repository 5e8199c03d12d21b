"""What the decoders of both wires share: JSON, coalesced deltas, one place for a failure. No I/O.

A decoder never raises. It says what it read, and keeps the failure that ended it until the news before was delivered.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from pydantic_core import from_json

from supervisor.agent.model.errors import ModelError, StreamBroken
from supervisor.agent.model.news import Delta, Finished, News, Usage

Object = dict[str, Any]

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_ENDS_IN_FIRST_HALF = re.compile("[\ud800-\udbff]$")


class Decoder(ABC):
    """One attempt's stream. `answered`: every item is finished; `done`: nothing at all is to come."""

    __slots__ = ("_delta", "_half", "_news", "_pieces", "answered", "done", "failure", "response_id", "usage")

    def __init__(self) -> None:
        self.answered = False
        self.done = False
        self.failure: ModelError | None = None
        self.response_id = ""
        self.usage: Usage | None = None
        self._news: list[News] = []
        self._delta: type[Delta] | None = None  # the kind of the deltas being gathered
        self._pieces: list[str] = []
        self._half = ""

    def read(self, events: Iterable[bytes]) -> list[News]:
        for data in events:
            if self.done or self.failure:
                break
            self._event(data)
        return self._taken()

    def end(self) -> list[News]:
        """The connection has no more. That ends an answered response and breaks any other."""
        if self.answered:
            self._finish()
        elif not self.failure:
            self._fail(StreamBroken(self._closed_early))
        return self._taken()

    _closed_early: str

    @abstractmethod
    def _event(self, data: bytes) -> None: ...

    def _object(self, data: bytes) -> Object | None:
        """None for what is skipped, or has failed."""
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

    def _say(self, kind: type[Delta], text: Any) -> None:
        if text and isinstance(text, str):
            if kind is not self._delta:
                self._flush()
                self._half = ""
                self._delta = kind
            self._pieces.append(text)

    def _tell(self, *news: News) -> None:
        self._flush()
        self._delta = None
        self._half = ""
        self._news += news

    def _fail(self, failure: ModelError) -> None:
        self._flush()
        self.failure = failure

    def _finish(self) -> None:
        if not self.done:
            self._tell(*((self.usage,) if self.usage else ()), Finished(self.response_id))
            self.answered = self.done = True

    def _flush(self) -> None:
        """What was gathered becomes one delta; a first half of a pair waits for its second."""
        if not self._pieces or not self._delta:
            return
        text = self._half + "".join(self._pieces)
        self._pieces.clear()
        self._half = ""
        if not text.isascii() and _ENDS_IN_FIRST_HALF.search(text):
            text, self._half = text[:-1], text[-1]
        if text := mended(text):
            self._news.append(self._delta(text))

    def _taken(self) -> list[News]:
        self._flush()
        news, self._news = self._news, []
        return news


def mended(text: str) -> str:
    """Halves of surrogate pairs joined, or replaced where the other half is missing: UTF-8 can't carry them."""
    if text.isascii() or not _HALF_PAIR.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def an_object(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def a_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def a_text(value: Any) -> str:
    return mended(value) if isinstance(value, str) else ""


def a_count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
