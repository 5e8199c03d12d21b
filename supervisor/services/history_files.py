"""Files of exports and imports, which clients name by their paths. Blocking.

The file of an export is made by the client: one that is there and empty is filled, and none is made or replaced, so
that a path reaches nothing that the client could not have written itself.
"""

import marshal
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import structlog

from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.ids import TurnId
from actors.vocabulary.records import Record
from actors.vocabulary.shortening import outline

log = structlog.get_logger()

HEADER = 64 << 20  # bytes of the first line: a checkpoint with all the inputs that wait, as base64
PIECE = 64 << 10  # bytes of a long line that are looked at together


def fill_file(path: str, texts: Iterable[str]) -> int:
    """Write the texts into an empty file, and return the number of lines. After a failure it is empty again."""
    file = _open(path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        found = os.fstat(file.fileno())
        if found.st_uid != os.geteuid() or found.st_nlink != 1 or found.st_size:
            raise InvalidInput(f"file: {path!a} is not an empty file of yours; make one, and name that")
        try:
            return _write_texts(file, texts)
        except BaseException as error:
            os.ftruncate(file.fileno(), 0)
            if isinstance(error, OSError):
                raise InvalidInput(f"file: {path!a} can't be written: {error.strerror}") from error
            raise
    finally:
        with suppress(OSError):  # reported above: it tries once more to write the rest
            file.close()


def _write_texts(file: IO[bytes], texts: Iterable[str]) -> int:
    count = 0
    for text in texts:
        file.write(text.encode())
        count += text.count("\n")
    file.flush()
    return count


def _open(path: str, flags: int) -> IO[bytes]:
    """Open an ordinary file: a pipe could block for ever."""
    if not Path(path).is_absolute():
        raise InvalidInput(f"file: {path!a} is relative; say the whole path")
    try:
        handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(f"file: {path!a} can't be opened: {reason}") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidInput(f"file: {path!a} is not a file")
    return os.fdopen(handle, "wb" if flags & os.O_WRONLY else "rb")


class HistoryFile:
    """The lines of a file that is imported, without blank ones. They can be read any number of times.

    `most`: bytes of the file at most. `whole`: the largest event, in bytes, that is held in memory. A larger event is
    shortened: each of its long texts keeps its beginning, and says so.
    """

    def __init__(self, path: str, most: int, whole: int) -> None:
        self._file = _open(path, os.O_RDONLY)
        self._whole = whole
        if os.fstat(self._file.fileno()).st_size > most:
            self.close()
            raise InvalidInput(f"file: {path!a} has more than {most} bytes (greenroom.limits.import_bytes)")

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        limit, number = max(HEADER, self._whole), 1
        while line := self._file.readline(limit + 1):
            if len(line) > limit and not line.endswith(b"\n"):
                start = self._file.tell() - len(line)
                del line
                yield self._shortened_line(number, start)
            elif line.isspace():
                continue
            else:
                yield line.rstrip(b"\r\n")
            limit, number = self._whole, number + 1

    def _shortened_line(self, number: int, start: int) -> bytes:
        """The line that begins at `start`, shortened without ever being in memory whole."""
        self._file.seek(start)
        short = outline(self._pieces(), self._whole) if number > 1 else None
        size = self._file.tell() - start
        if short is None:
            raise InvalidInput(f"line {number}: of {size} bytes, it is too long, and no text can be shortened")
        log.warning("import.shortened", line=number, size=size)
        return short.rstrip(b"\r\n")

    def _pieces(self) -> Iterator[bytes]:
        while piece := self._file.readline(PIECE):
            yield piece
            if piece.endswith(b"\n"):
                return

    def close(self) -> None:
        self._file.close()


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
