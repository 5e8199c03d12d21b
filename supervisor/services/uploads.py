"""Lines of imports that come in several requests: on disk until the last request, and bounded in total.

The files have no name, so nothing of them outlives the daemon. Each belongs to a connection and
ends with it. Worker threads; the caller keeps each upload to one thread at a time.
"""

import marshal
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import structlog

from actors.vocabulary.errors import InvalidInput, Overloaded
from actors.vocabulary.ids import ConnectionId, TurnId
from actors.vocabulary.records import Record
from actors.vocabulary.shortening import outline

log = structlog.get_logger()

HEADER = 64 << 20  # bytes of the first line: a checkpoint with all the inputs that wait, as base64
PIECE = 64 << 10  # bytes of a long line that are looked at together

Key = tuple[ConnectionId, str]


class Upload:
    """Lines that can be read any number of times. The last may be unfinished.

    `whole`: the largest event, in bytes, that is held in memory. A larger event is shortened: each of its long texts
    keeps its beginning, and says so.
    """

    def __init__(self, directory: Path, whole: int) -> None:
        from tempfile import TemporaryFile

        self._file: IO[bytes] = TemporaryFile(dir=directory)  # noqa: SIM115  # see close
        self._whole = whole
        self.lines = 0
        self.size = 0
        self.partial = False

    def write(self, lines: tuple[str, ...], *, partial: bool) -> None:
        for line in lines:
            text = line.replace("\n", " ")  # the same in JSON; here a line break would end the line
            self._file.write(text.encode())
            self.size += len(text)
            self.lines += not self.partial
            self.partial = partial and line is lines[-1]
            if not self.partial:
                self.size += self._file.write(b"\n")

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        limit, number = max(HEADER, self._whole), 1
        while line := self._file.readline(limit + 1):
            if len(line) <= limit or line.endswith(b"\n"):
                yield line.removesuffix(b"\n")
            else:
                start = self._file.tell() - len(line)
                del line
                yield self._shortened_line(number, start)
            limit, number = self._whole, number + 1

    def _shortened_line(self, number: int, start: int) -> bytes:
        """The line that begins at `start`, shortened without ever being in memory whole."""
        self._file.seek(start)
        short = outline(self._pieces(), self._whole) if number > 1 else None
        size = self._file.tell() - start
        if short is None:
            raise InvalidInput(f"line {number}: of {size} bytes, it is too long, and no text can be shortened")
        log.warning("import.shortened", line=number, size=size)
        return short.removesuffix(b"\n")

    def _pieces(self) -> Iterator[bytes]:
        while piece := self._file.readline(PIECE):
            yield piece
            if piece.endswith(b"\n"):
                return

    def close(self) -> None:
        self._file.close()


class Uploads:
    """`most`: characters of all uploads together. `whole`: see Upload."""

    def __init__(self, directory: Path, most: int, whole: int = 18 << 20) -> None:
        self._directory = directory
        self._whole = whole
        self._most = most
        self._lock = threading.Lock()
        self._under_way: dict[Key, Upload] = {}

    def add(self, key: Key, lines: tuple[str, ...], *, partial: bool = False) -> int:
        """Add lines; return their number so far. An upload that exceeds a limit is dropped as a whole."""
        with self._lock:
            upload = self._under_way.get(key)
            if upload is None:
                upload = self._under_way[key] = Upload(self._directory, self._whole)
            others = sum(other.size for other in self._under_way.values()) - upload.size
        size = sum(map(len, lines)) + upload.size
        if size > self._most:
            self.drop(key)
            raise InvalidInput(f"an upload of more than {self._most} characters (greenroom.limits.import_bytes)")
        if others + size > self._most:
            self.drop(key)
            raise Overloaded(
                f"other uploads take {others} of {self._most} characters (greenroom.limits.import_bytes); try later"
            )
        try:
            upload.write(lines, partial=partial)
        except BaseException:
            self.drop(key)
            raise
        return upload.lines

    def take(self, key: Key) -> Upload:
        """Hand an upload over to the caller, who closes it."""
        with self._lock:
            return self._under_way.pop(key)

    def drop(self, key: Key) -> None:
        with self._lock:
            upload = self._under_way.pop(key, None)
        if upload is not None:
            upload.close()

    def keep_only(self, connections: Iterable[ConnectionId]) -> None:
        """Drop the uploads of all other connections, which have ended."""
        here = set(connections)
        with self._lock:
            gone = [key for key in self._under_way if key[0] not in here]
        for key in gone:
            self.drop(key)

    @property
    def characters(self) -> int:
        with self._lock:
            return sum(upload.size for upload in self._under_way.values())


class SpooledRecords:
    """Events of an import on disk until the journal stores them, as they may not fit into memory."""

    def __init__(self, directory: Path) -> None:
        from tempfile import TemporaryFile

        self._file: IO[bytes] = TemporaryFile(dir=directory)  # noqa: SIM115  # see close

    def append(self, record: Record) -> None:
        marshal.dump((record.seq, record.ts, record.turn, record.type, record.body), self._file)

    def __iter__(self) -> Iterator[Record]:
        self._file.seek(0)
        while True:
            try:
                seq, ts, turn, type_, body = marshal.load(self._file)  # noqa: S302  # ours, of a moment ago
            except EOFError:
                return
            yield Record(seq, ts, None if turn is None else TurnId(turn), type_, body)

    def close(self) -> None:
        self._file.close()
