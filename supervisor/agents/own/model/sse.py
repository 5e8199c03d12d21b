"""Server-sent events, incrementally: bytes of HTTP chunks in, the data of whole events out.

Works on a whole chunk at a time, and joins each byte at most once however the stream is cut. Only `data` is kept:
both wires repeat the type inside it.
"""

from supervisor.config.bounds import DEFAULTS

LINES = 10_000  # of one event; both wires use a single line
BOM = b"\xef\xbb\xbf"


class EventTooLarge(Exception):
    """An event exceeds the limit. The text is for people."""


class SseParser:
    """The parser of one stream. `feed` returns the data of every event that the chunk completed, in order."""

    __slots__ = ("_after_cr", "_limit", "_open", "_start")

    def __init__(self, limit: int = DEFAULTS.answer_event_bytes) -> None:
        self._limit = limit
        self._start: bytes | None = b""  # a possible byte order mark; None when that is decided
        self._after_cr = False  # the last chunk ended in CR, to which a LF at the next one's beginning belongs
        self._open = bytearray()  # the incomplete event so far

    def feed(self, chunk: bytes) -> list[bytes]:
        if self._start is not None:
            chunk = self._past_start(chunk)
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_plain_newlines(chunk)
        if not chunk:
            return []
        if b"\n\n" not in chunk and not self._ends_event(chunk):
            self._keep(chunk)
            return []
        *blocks, rest = (bytes(self._open) + chunk).split(b"\n\n")
        self._open.clear()
        self._keep(rest)
        return [data for block in blocks if block and (data := _data(block))]

    @property
    def unfinished_bytes(self) -> int:
        """Count the bytes of the event that has begun and not ended."""
        return len(self._open)

    def _past_start(self, chunk: bytes) -> bytes:
        head = (self._start or b"") + chunk
        if len(head) < len(BOM) and BOM.startswith(head):
            self._start = head
            return b""
        self._start = None
        return head.removeprefix(BOM)

    def _with_plain_newlines(self, chunk: bytes) -> bytes:
        if self._after_cr:
            if not chunk:
                return chunk
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _ends_event(self, chunk: bytes) -> bool:
        return chunk.startswith(b"\n") and self._open.endswith(b"\n")

    def _keep(self, piece: bytes) -> None:
        self._open += piece
        if len(self._open) > self._limit:
            where = "greenroom.limits.answer_event_bytes in the configuration"
            raise EventTooLarge(
                f"the model server sends an event that is too large: the bound is {self._limit} ({where})"
            )


def _data(block: bytes) -> bytes:
    if block.startswith(b"data: ") and b"\n" not in block:
        return block[6:]
    if block.count(b"\n") > LINES:
        raise EventTooLarge(f"the model server sends an event of more than {LINES} lines, which none has")
    return b"\n".join(line[5:].removeprefix(b" ") for line in block.split(b"\n") if line.startswith(b"data:"))
