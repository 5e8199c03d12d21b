"""`greenroom events`: print the events of all conversations as they are stored, by long polling.

The events of a conversation are numbered without gaps, so a missing event is noticed and read from history.
"""

import time
from argparse import Namespace
from collections.abc import Iterator

from supervisor.cli import histories, ids
from supervisor.cli.arguments import number, seconds
from supervisor.cli.client import Control, Json
from supervisor.cli.problems import Problem
from supervisor.cli.show.lines import write
from supervisor.cli.words import when

AT_REST = ("idle", "parked", "archived", "failed")
WAIT_S = 20.0  # for one answer; then the request is repeated


def run(chosen: Namespace) -> int:
    types = _types(chosen.filter)
    count = number(chosen.count, "number of events") if chosen.count is not None else None
    limit_s = seconds(chosen.timeout) if chosen.timeout is not None else None
    with Control("events") as control:
        only = {ids.resolved(control, one) for one in chosen.conversation}
        since = when(chosen.since) if chosen.since is not None else None
        for envelope in _all(control, since, only, limit_s):
            if types and envelope["event"]["type"] not in types:
                continue
            write(envelope)
            count = None if count is None else count - 1
            if count == 0:
                return 0
    return 0


def _types(words: list[str]) -> set[str]:
    found: set[str] = set()
    for word in words:
        key, equals, value = word.partition("=")
        if key != "type" or not equals:
            raise Problem(f"{word!r} is not a filter", "write type=TYPE or type=TYPE,TYPE", "usage")
        found.update(value.split(","))
    return found


def _all(control: Control, since: float | None, only: set[str], limit_s: float | None) -> Iterator[Json]:
    """Events from a time on, then live: each once and, within its conversation, in order."""
    deadline = None if limit_s is None else time.monotonic() + limit_s
    cursor = control.call("events/read")["cursor"]  # first, so that no event is lost between history and present
    seen = _Seen(control, only)
    if since is not None:
        yield from sorted(seen.history(since), key=lambda envelope: envelope["ts"])
    while True:
        wait_s = WAIT_S if deadline is None else min(WAIT_S, deadline - time.monotonic())
        if wait_s <= 0:
            raise Problem("timed out while waiting for events", "give more time with -t", "timed_out")
        answer = control.call("events/read", wait_s + WAIT_S, after=cursor, wait_s=wait_s)
        if answer["lagged"]:
            yield from seen.what_was_missed()
        for envelope in answer["events"]:
            yield from seen.next(envelope)
        cursor = answer["cursor"]


class _Seen:
    """The last seq seen of each conversation. While a turn runs it is read from history: the list may lag behind."""

    def __init__(self, control: Control, only: set[str]) -> None:
        self._control = control
        self._only = only
        self._rows = {row["conversation"]: row for row in ids.everything(control)}
        self._last = {one: self._end(row) for one, row in self._rows.items()}

    def _end(self, row: Json) -> int:
        quiet = row["state"] in AT_REST or not self._wanted(row["conversation"])
        return int(row["seq"]) if quiet else histories.last_seq(self._control, row["conversation"])

    def history(self, since: float) -> Iterator[Json]:
        for one, row in self._rows.items():
            if self._wanted(one) and (row["updated"] >= since or row["state"] not in AT_REST):
                after = histories.seq_before(self._control, one, since)
                yield from histories.events(self._control, one, after, self._last[one])

    def next(self, envelope: Json) -> Iterator[Json]:
        one, seq = envelope["conversation"], envelope["seq"]
        last = self._last.get(one, 0)
        if seq <= last:
            return
        self._last[one] = seq
        if self._wanted(one):
            yield from histories.events(self._control, one, last, seq - 1)
            yield envelope

    def what_was_missed(self) -> Iterator[Json]:
        for row in ids.everything(self._control):
            one, last = row["conversation"], self._last.get(row["conversation"], 0)
            self._last[one] = max(last, self._end(row))
            if self._wanted(one):
                yield from histories.events(self._control, one, last, self._last[one])

    def _wanted(self, conversation: str) -> bool:
        return not self._only or conversation in self._only
