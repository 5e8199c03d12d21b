"""A history in the bytes of a wire: items are encoded once, and requests put together from the pieces. No I/O.

A wire may write several items as one message. So a piece has names for its two ends, and the form of the wire says
what stands between two ends that meet. Pieces that are joined make a piece.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from pydantic_core import PydanticSerializationError, to_json

from supervisor.agents.own.model.request import HistoryItem, Piece, ToolSpec

BLOCK = 512 << 10  # bytes; small pieces are joined up to it. Such a block has pages of its own, which go back with it
NOTHING = Piece("", "", b"", 0)
TOOLS_KEPT = 512  # descriptions in a wire's bytes: five conversations with as many tools of servers as are offered

Between = Callable[[str, str], bytes]


class Form(Struct, frozen=True, eq=False):
    """The way in which a wire writes a history. `between` two ends; "" is the beginning or the end of the whole.

    `encode` returns NOTHING for an item that the wire has no place for.
    """

    encode: Callable[[HistoryItem], Piece]
    between: Between


def encoded(value: object) -> bytes:
    try:
        return to_json(value)
    except PydanticSerializationError:  # a lone half of a surrogate pair, as in a file name that isn't UTF-8
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def tool_list(
    in_bytes: Callable[[ToolSpec], bytes], tools: Iterable[ToolSpec], *of_provider: Mapping[str, object]
) -> bytes:
    """Put a list of tools together. `in_bytes` is the wire's, and keeps what it has made: tools rarely change."""
    return b"[%b]" % b",".join((*map(in_bytes, tools), *map(encoded, of_provider)))


def packed(form: Form, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Join pieces to blocks. What is as large as a block already is not copied."""
    run: list[Piece] = []
    size = 0
    for piece in pieces:
        if run and size + len(piece.data) > BLOCK:
            yield _joined(form, run)
            run, size = [], 0
        if piece.data:
            run.append(piece)
            size += len(piece.data)
    if run:
        yield _joined(form, run)


def _joined(form: Form, pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    first, last = pieces[0], pieces[-1]
    return Piece(first.begins, last.ends, b"".join(_strung(form.between, pieces)), sum(one.weight for one in pieces))


def _strung(between: Between, pieces: Iterable[Piece]) -> Iterator[bytes]:
    end = None
    for piece in pieces:
        if end is not None:
            yield between(end, piece.begins)
        yield piece.data
        end = piece.ends


def body(form: Form, before: bytes, items: Iterable[HistoryItem | Piece], after: bytes) -> list[bytes]:
    """Put a request's body together: its beginning, the items, its end, as bytes that belong one behind the other."""
    pieces = (item if isinstance(item, Piece) else form.encode(item) for item in items)
    made, end = [before], ""
    for piece in pieces:
        if piece.data:
            made += (form.between(end, piece.begins), piece.data)
            end = piece.ends
    return [*made, form.between(end, ""), after]
