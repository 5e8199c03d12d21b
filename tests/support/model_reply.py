"""A reply of the test model server: its status, and its body as HTTP chunks and pauses. No I/O."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes that go out with one write, framed as HTTP chunks."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause; None lasts until the client goes or the server stops."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class Hold:
    """Silence until the test opens the gate."""

    gate: str


@dataclass(frozen=True, slots=True)
class Close:
    """The connection ends here, in the middle of the answer."""


@dataclass(frozen=True, slots=True)
class End:
    """The body ends here, properly."""


Step = Write | Pause | Hold | Close | End


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply. Status 0: not even a status line."""

    steps: tuple[Step, ...]
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/event-stream"),)


@dataclass(frozen=True, slots=True)
class Shape:
    """A reply's HTTP chunks. `split`: chunks and writes of so many bytes, whatever the events. `pack`: chunks of so
    many bytes at least. Neither: a chunk per event. `cut`: the connection ends after so many bytes of events.
    """

    split: int = 0
    pack: int = 0
    cut: int | None = None


def shaped(out: Iterable[bytes | Step], shape: Shape) -> Reply:
    return Reply(tuple(_steps(_cut(out, shape.cut), shape)))


def canned(body: bytes, *, status: int = 200, headers: Sequence[tuple[str, str]] = (), split: int = 0) -> Reply:
    """A reply of these very bytes."""
    kind = ("content-type", "text/event-stream" if status == 200 else "application/json")
    return Reply(tuple(_steps([body, End()], Shape(split))), status, (kind, *headers))


def _cut(out: Iterable[bytes | Step], after: int | None) -> Iterator[bytes | Step]:
    for item in out:
        if after is None or not isinstance(item, bytes):
            yield item
        elif len(item) < after:
            after -= len(item)
            yield item
        else:
            yield item[:after]
            yield Close()
            return


def _steps(out: Iterable[bytes | Step], shape: Shape) -> Iterator[Step]:
    for is_bytes, items in groupby(out, key=lambda item: isinstance(item, bytes)):
        if is_bytes:
            yield from _writes([item for item in items if isinstance(item, bytes) and item], shape)
        else:
            yield from (item for item in items if not isinstance(item, bytes))


def _writes(run: list[bytes], shape: Shape) -> Iterator[Write]:
    if shape.split:
        whole = b"".join(run)
        for at in range(0, len(whole), shape.split):
            yield Write(_chunk(whole[at : at + shape.split]))
    elif run:
        yield Write(b"".join(_chunk(packed) for packed in _packed(run, shape.pack)))


def _packed(run: list[bytes], least: int) -> Iterator[bytes]:
    waiting: list[bytes] = []
    size = 0
    for one in run:
        waiting.append(one)
        size += len(one)
        if size >= least:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
