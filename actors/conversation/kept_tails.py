"""Tails and the pieces of them on disk: which of these are of no use any more, and what is read back."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from pydantic import TypeAdapter

from actors.conversation.state import State
from actors.conversation.tail import Tail, content_of, joined
from actors.vocabulary.events import Delta
from actors.vocabulary.records import KeptText, OldText

WHOLE = 1 << 62  # no text ends behind it

_deltas: TypeAdapter[Delta] = TypeAdapter(Delta, config={"defer_build": True})


def forgotten(state: State) -> Iterator[OldText]:
    """The text on disk whose item has its event, or was given up. From here on it is not known as kept."""
    present = {tail.place for tail in state.tails}
    gone = [place for place in state.kept if place not in present]
    if gone:
        state.kept = {place: one for place, one in state.kept.items() if place in present}
    return (OldText(key, since, WHOLE) for key, since in gone)


def restored_tails(kept: Iterable[KeptText], last: int) -> tuple[Tail, ...]:
    """The tails as far as they are on disk. Text behind an event that is not stored belongs to nothing."""
    found = (one for one in kept if one.since <= last)
    return tuple(_tail(list(pieces)) for _, pieces in groupby(found, key=lambda one: (one.tail, one.since)))


def _tail(pieces: list[KeptText]) -> Tail:
    """The end of a text without gaps: a disk that was full for a while may have left one."""
    first = len(pieces) - 1
    while first > 0 and pieces[first - 1].end == pieces[first].start:
        first -= 1
    whole = pieces[first:]
    deltas = [_deltas.validate_json(one.body) for one in whole]
    content = joined(tuple(map(content_of, deltas)))
    last = whole[-1]
    return Tail(last.tail, deltas[-1], (content,), whole[0].start, last.end, last.since)
