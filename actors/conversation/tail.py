"""The unfinished tail of an item: deltas, coalesced, until its finished event repeats them in full."""

from typing import assert_never

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId

PIECES = 64  # joined beyond this, so that adding stays cheap and slicing too
TAIL_LIMIT = 1 << 20  # characters or bytes kept of one unfinished item; a reader further behind gets what is left

TailPlace = tuple[str, int]


class Tail(Struct, frozen=True):
    """The kept pieces of one tail, from `start` (all before was dropped) to `end`; offsets count from the beginning.

    `sample` is the last delta.
    """

    key: str
    sample: ev.Delta
    pieces: tuple[str | bytes, ...]
    start: int
    end: int
    since: int

    @property
    def place(self) -> TailPlace:
        """The key under which a reader remembers the tail: the same item may begin again."""
        return self.key, self.since

    @property
    def item(self) -> ItemId:
        return self.sample.item_id

    @property
    def is_output(self) -> bool:
        """True for the output of work, False for the model's own words."""
        return isinstance(self.sample, ev.WorkOutput)

    def text(self) -> str:
        """Everything that is kept, as text."""
        kept = join_pieces(self.pieces)
        return kept.decode(errors="replace") if isinstance(kept, bytes) else kept

    def content_after(self, offset: int) -> tuple[str | bytes, bool]:
        """The rest after an offset, and whether some of that was dropped."""
        if offset >= self.end:
            return self.pieces[0][:0], False
        missing, wanted = self.end, []
        for piece in reversed(self.pieces):
            missing -= len(piece)
            wanted.append(piece[max(0, offset - missing) :])
            if missing <= offset:
                break
        return join_pieces(tuple(reversed(wanted))), offset < self.start


def key_of(delta: ev.Delta) -> str:
    """The key of the tail that a delta belongs to."""
    match delta:
        case ev.WorkOutput():
            return f"{delta.item_id}/{delta.stream}"
        case ev.AgentMessageDelta() | ev.AgentReasoningDelta() | ev.AgentReasoningRawContentDelta():
            return f"{delta.item_id}/{delta.type}"
        case _:
            assert_never(delta)


def content_of(delta: ev.Delta) -> str | bytes:
    return delta.chunk if isinstance(delta, ev.WorkOutput) else delta.delta


def add_delta(tails: tuple[Tail, ...], delta: ev.Delta, since: int) -> tuple[Tail, ...]:
    """The tails with one more delta. `since`: the last event before a new tail begins."""
    key, content = key_of(delta), content_of(delta)
    for place, tail in enumerate(tails):
        if tail.key == key:
            return (*tails[:place], _longer(tail, delta, content), *tails[place + 1 :])
    return (*tails, Tail(key, delta, (content,), 0, len(content), since))


def without_item(tails: tuple[Tail, ...], item: ItemId) -> tuple[Tail, ...]:
    return tuple(tail for tail in tails if tail.item != item)


def delta_of(tail: Tail, content: str | bytes) -> ev.Delta:
    """One delta in place of several. A reader that keeps up gets the last delta as it came."""
    if content == content_of(tail.sample):
        return tail.sample
    return with_content(tail.sample, content)


def with_content(sample: ev.Delta, content: str | bytes) -> ev.Delta:
    return sample.model_copy(update={"chunk" if isinstance(content, bytes) else "delta": content})


def _longer(tail: Tail, delta: ev.Delta, content: str | bytes) -> Tail:
    pieces = (*tail.pieces, content)
    if len(pieces) > PIECES:
        pieces = (join_pieces(pieces),)
    start, end = tail.start, tail.end + len(content)
    if end - start > TAIL_LIMIT:
        kept = join_pieces(pieces)[-TAIL_LIMIT // 2 :]
        pieces, start = (kept,), end - len(kept)
    return Tail(tail.key, delta, pieces, start, end, tail.since)


def join_pieces(pieces: tuple[str | bytes, ...]) -> str | bytes:
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], bytes):
        return b"".join(piece for piece in pieces if isinstance(piece, bytes))
    return "".join(piece for piece in pieces if isinstance(piece, str))
