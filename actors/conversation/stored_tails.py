"""Stored pieces of unfinished text: which can be deleted, and how a tail is rebuilt from them."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from pydantic import TypeAdapter

from actors.conversation.state import State
from actors.conversation.tail import Tail, content_of, join_pieces
from actors.vocabulary.events import Delta
from actors.vocabulary.records import KeptText, OldText

END_OF_TEXT = 1 << 62  # no text is as long

_deltas: TypeAdapter[Delta] = TypeAdapter(Delta, config={"defer_build": True})


def forget_finished_tails(state: State) -> Iterator[OldText]:
    """Return the stored text whose item has its event or was given up, and forget that it is stored."""
    present = {tail.place for tail in state.tails}
    gone = [place for place in state.kept if place not in present]
    if gone:
        state.kept = {place: kept for place, kept in state.kept.items() if place in present}
    return (OldText(key, since, END_OF_TEXT) for key, since in gone)


def restored_tails(kept: Iterable[KeptText], last: int) -> tuple[Tail, ...]:
    """The tails as far as they are on disk. Text that came after an event which was not stored is left out."""
    found = (piece for piece in kept if piece.since <= last)
    return tuple(_tail(list(pieces)) for _, pieces in groupby(found, key=lambda piece: (piece.tail, piece.since)))


def _tail(pieces: list[KeptText]) -> Tail:
    """The end of a text without gaps: a disk that was full for a while may have left a gap."""
    first = len(pieces) - 1
    while first > 0 and pieces[first - 1].end == pieces[first].start:
        first -= 1
    whole = pieces[first:]
    deltas = [_deltas.validate_json(piece.body) for piece in whole]
    content = join_pieces(tuple(map(content_of, deltas)))
    last = whole[-1]
    return Tail(last.tail, deltas[-1], (content,), whole[0].start, last.end, last.since)
