"""`greenroom events`: print the events of all conversations as they are stored."""

import time
from argparse import Namespace
from collections.abc import Iterator
from itertools import chain

from greenroom.answers import ConversationRow
from greenroom.errors import ConnectionLost, GreenroomError
from greenroom.errors import error_of as refused
from greenroom.exchange import advance
from greenroom.following import AT_REST, EverythingReader, FoundEvent
from greenroom.scripts import ANSWER_S, ApiCall
from supervisor.cli.kit import histories, ids, reconnecting
from supervisor.cli.kit.client import Control, DaemonLost, Json, RequestRefused
from supervisor.cli.kit.formatting import parse_time
from supervisor.cli.kit.json_output import write_event
from supervisor.cli.kit.problems import Problem


def run(chosen: Namespace) -> int:
    types = _types(chosen.filter)
    count: int | None = chosen.count
    with Control("events") as control:
        only = {ids.resolve_id(control, reference) for reference in chosen.conversation}
        since = parse_time(chosen.since) if chosen.since is not None else None
        for envelope in _all(control, since, only, chosen.timeout):
            if types and envelope["event"]["type"] not in types:
                continue
            write_event(envelope)
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
    rows = control.conversations(archived=True)
    ends = {row.conversation: _end(control, row) for row in rows}
    if since is not None:
        named = [row for row in rows if row.updated >= since or row.state not in AT_REST]
        found = (
            _history(control, row.conversation, since, ends) for row in named if _is_wanted(row.conversation, only)
        )
        yield from sorted(chain.from_iterable(found), key=lambda envelope: envelope["ts"])
    for envelope in _live_events(control, EverythingReader(ends), deadline):
        if envelope["seq"] is not None and _is_wanted(envelope["conversation"], only):
            yield envelope


def _is_wanted(conversation: str, only: set[str]) -> bool:
    return not only or conversation in only


def _end(control: Control, row: ConversationRow) -> int:
    """The last seq of a conversation. While a turn runs it is read from history: the list may lag behind."""
    return row.seq if row.state in AT_REST else histories.last_seq(control, row.conversation)


def _history(control: Control, conversation: str, since: float, ends: dict[str, int]) -> Iterator[Json]:
    after = histories.seq_before(control, conversation, since)
    return histories.events(control, conversation, after, ends[conversation])


def _live_events(control: Control, reader: EverythingReader, deadline: float | None) -> Iterator[Json]:
    happenings = reader.events()
    step = advance(happenings)
    while True:
        if isinstance(step, FoundEvent):
            yield step.envelope
            step = advance(happenings)
        elif isinstance(step, ApiCall):
            step = advance(happenings, _answer(control, step, deadline))


def _answer(control: Control, request: ApiCall, deadline: float | None) -> Json | GreenroomError:
    wait_s = request.wait_s or ANSWER_S
    left_s = wait_s if deadline is None else deadline - time.monotonic()
    try:
        return control.take_result(control.begin(request.method, **request.params), min(wait_s, left_s))
    except RequestRefused as refusal:
        return refused(refusal.error)
    except DaemonLost as lost:
        reconnecting.await_return(lost, reconnecting.say, lambda: _insist_on_time(deadline))
        return ConnectionLost(lost.message)  # the reader asks again from where it was
    except Problem as problem:
        if problem.code == "timed_out":
            _insist_on_time(deadline)
        raise


def _insist_on_time(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() >= deadline:
        raise Problem("timed out while waiting for events", "give more time with -t", "timed_out")
