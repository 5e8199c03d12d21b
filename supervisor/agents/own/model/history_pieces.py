"""A history in the bytes of a wire: items are encoded once, and requests put together from the pieces. No I/O.

A wire may write several items as one message. So a piece has names for its two ends, and the form of the wire gives
the bytes between two ends that meet. Pieces that are joined make a piece.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from pydantic_core import PydanticSerializationError, to_json

from supervisor.agents.own.model.request import HistoryItem, HistoryPiece, ToolSpec

BLOCK = (
    512 << 10
)  # bytes; small pieces are joined up to it. Such a block has pages of its own, which are freed with it
NOTHING = HistoryPiece("", "", b"", 0)
TOOLS_KEPT = 512  # descriptions in a wire's bytes: five conversations with as many tools of servers as are offered

Separator = Callable[[str, str], bytes]


class Form(Struct, frozen=True, eq=False):
    """The way in which a wire writes a history. `between` takes two ends; "" is the whole's beginning or end.

    `encode` returns NOTHING for an item that the wire has no place for.
    """

    encode: Callable[[HistoryItem], HistoryPiece]
    separator: Separator


def encode_json(value: object) -> bytes:
    try:
        return to_json(value)
    except PydanticSerializationError:  # a lone half of a surrogate pair, as in a file name that isn't UTF-8
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def tool_list(
    in_bytes: Callable[[ToolSpec], bytes], tools: Iterable[ToolSpec], *of_provider: Mapping[str, object]
) -> bytes:
    """Put a list of tools together. `in_bytes` is the wire's, and keeps its results: tools rarely change."""
    return b"[%b]" % b",".join((*map(in_bytes, tools), *map(encode_json, of_provider)))


def join_pieces(form: Form, pieces: Iterable[HistoryPiece]) -> Iterator[HistoryPiece]:
    """Join pieces to blocks. A piece as large as a block is not copied."""
    run: list[HistoryPiece] = []
    size = 0
    for piece in pieces:
        if run and size + len(piece.data) > BLOCK:
            yield _join(form, run)
            run, size = [], 0
        if piece.data:
            run.append(piece)
            size += len(piece.data)
    if run:
        yield _join(form, run)


def _join(form: Form, pieces: list[HistoryPiece]) -> HistoryPiece:
    if len(pieces) == 1:
        return pieces[0]
    data = b"".join(_with_separators(form.separator, pieces))
    return HistoryPiece(pieces[0].begins, pieces[-1].ends, data, sum(piece.weight for piece in pieces))


def _with_separators(between: Separator, pieces: Iterable[HistoryPiece]) -> Iterator[bytes]:
    end = None
    for piece in pieces:
        if end is not None:
            yield between(end, piece.begins)
        yield piece.data
        end = piece.ends


def body(form: Form, before: bytes, items: Iterable[HistoryItem | HistoryPiece], after: bytes) -> list[bytes]:
    """Put a request's body together, as a list of byte chunks: its beginning, the items, its end."""
    pieces = (item if isinstance(item, HistoryPiece) else form.encode(item) for item in items)
    made, end = [before], ""
    for piece in pieces:
        if piece.data:
            made += (form.separator(end, piece.begins), piece.data)
            end = piece.ends
    return [*made, form.separator(end, ""), after]
