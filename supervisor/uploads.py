"""Lines of imports that come in several requests: on disk until the last of them, and bounded in total.

In files without a name, so that nothing is left of them whatever ends the daemon. Each belongs to a connection and
goes with it. Worker threads; the caller sees to it that one upload is in one thread at a time.
"""

import marshal
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from actors.errors import InvalidInput, Overloaded
from actors.ids import ConnectionId, TurnId
from actors.records import Record

LONGEST_LINE = 256 << 20  # characters: one event, which is in memory several times while it is read

Key = tuple[ConnectionId, str]


class Upload:
    """Lines that can be gone through any number of times. The last may be unfinished."""

    def __init__(self, directory: Path) -> None:
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=directory)  # noqa: SIM115  # see close
        self.lines = 0
        self.size = 0
        self._line = 0  # characters of the last one
        self.partial = False

    def write(self, lines: tuple[str, ...], *, partial: bool) -> None:
        for line in lines:
            text = line.replace("\n", " ")  # which is the same in JSON, and here the end of a line
            self._line = len(text) + (self._line if self.partial else 0)
            if self._line > LONGEST_LINE:
                raise InvalidInput(f"an event of more than {LONGEST_LINE} characters can't be imported")
            self.size += self._file.write(text)
            self.lines += not self.partial
            self.partial = partial and line is lines[-1]
            if not self.partial:
                self.size += self._file.write("\n")

    def __iter__(self) -> Iterator[str]:
        self._file.seek(0)
        return (line.removesuffix("\n") for line in self._file)

    def close(self) -> None:
        self._file.close()


class Uploads:
    """`most`: characters of all uploads together."""

    def __init__(self, directory: Path, most: int) -> None:
        self._directory = directory
        self._most = most
        self._lock = threading.Lock()
        self._under_way: dict[Key, Upload] = {}

    def add(self, key: Key, lines: tuple[str, ...], *, partial: bool = False) -> int:
        """How many lines there are now. What is too much is forgotten from its beginning."""
        with self._lock:
            upload = self._under_way.get(key)
            if upload is None:
                upload = self._under_way[key] = Upload(self._directory)
            others = sum(one.size for one in self._under_way.values()) - upload.size
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
        """It is the caller's from here on, who closes it."""
        with self._lock:
            return self._under_way.pop(key)

    def drop(self, key: Key) -> None:
        with self._lock:
            upload = self._under_way.pop(key, None)
        if upload is not None:
            upload.close()

    def keep_only(self, connections: Iterable[ConnectionId]) -> None:
        """The others are gone, and nobody will finish what they began."""
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
    """Events on their way into the journal, on disk: all of them may be more than fits into memory."""

    def __init__(self, directory: Path, records: Iterable[Record]) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115  # see close
        try:
            for record in records:
                marshal.dump((record.seq, record.ts, record.turn, record.type, record.body), self._file)
        except BaseException:
            self.close()
            raise

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
