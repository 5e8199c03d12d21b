"""Unfinished text, stored every second while it grows, so that a killed daemon loses a second of it.

A timer runs only as long as something grows. Each time the new text is stored; the event of the item, or the end of
the turn, removes it (`kept_tails`).
"""

import json

from pydantic_core import PydanticSerializationError

from actors.conversation.draft import Draft
from actors.conversation.state import KeptTail
from actors.conversation.stored_tails import END_OF_TEXT
from actors.conversation.tail import PIECES, Tail, with_content
from actors.messages.effects import SetTimer
from actors.vocabulary.events import Delta
from actors.vocabulary.records import KeptText, OldText

TIMER = "tail"
KEEP_S = 1.0  # the most that a kill may lose; to write more often costs more than such a loss
NOTHING = KeptTail(0, 0)


def watch_tails(draft: Draft) -> None:
    """Start the timer, because a tail grows."""
    draft.state.keep_timer = True
    draft.at_once(SetTimer(TIMER, KEEP_S))


def keep_tails(draft: Draft) -> None:
    """Store the text since the last time; if there is none, the next word starts the timer again."""
    state = draft.state
    state.keep_timer = False
    grown = [tail for tail in state.tails if tail.end > state.kept.get(tail.place, NOTHING).end]
    if not grown or state.storage_error is not None:
        return
    written = [_next_piece(tail, state.kept.get(tail.place, NOTHING)) for tail in grown]
    draft.keep(tuple(kept for kept, _, _ in written), tuple(old for _, old, _ in written if old))
    state.kept = {**state.kept, **{tail.place: now for tail, (_, _, now) in zip(grown, written, strict=True)}}
    state.keeps = True
    watch_tails(draft)


def _next_piece(tail: Tail, before: KeptTail) -> tuple[KeptText, OldText | None, KeptTail]:
    """The next piece, the stored text that it replaces, and the length stored then. Many pieces are made one."""
    anew = before.pieces >= PIECES or before.end < tail.start
    start = tail.start if anew else before.end
    content, _ = tail.content_after(start)
    kept = KeptText(tail.key, tail.since, start, tail.end, _body(with_content(tail.sample, content)))
    useless = END_OF_TEXT if anew else tail.start  # a long tail loses its beginning
    old = OldText(tail.key, tail.since, useless) if before.pieces and useless else None
    return kept, old, KeptTail(tail.end, 1 if anew else before.pieces + 1)


def _body(delta: Delta) -> bytes:
    try:
        return delta.model_dump_json().encode()
    except PydanticSerializationError:  # half a character, which the rest would have made whole
        return json.dumps(delta.model_dump(mode="json"), ensure_ascii=False).encode(errors="replace")
