"""A page of a text file: numbered lines from a given one on, as many as fit. Blocking, for a worker thread."""

import os
from collections.abc import Callable
from io import BufferedReader

from msgspec import Struct

from supervisor.disk.ordinary_files import NotReadable
from supervisor.formats.picture_kinds import kind_of

BINARY_BYTES = 8 << 10  # of the beginning; a NUL in it means that a file is no text, as git decides it
CHUNK = 1 << 20
LINE_BYTES = 2_000  # of one line; longer ones are data, and the rest is counted
SKIPPED_BYTES = 1 << 30  # before the first line that is wanted: a second of work; commands go further
COUNTED_BYTES = 64 << 20  # after the last line that is shown, to count the others
UNPRINTABLE = {code: "\ufffd" for code in (*range(32), 127) if chr(code) not in "\t\n\x1b"}

GoOn = Callable[[], None]


class FilePage(Struct, frozen=True):
    """Lines with their numbers, the numbers of the first and the last, and how many the file has, if counted."""

    text: str
    first: int
    last: int
    total: int | None

    @property
    def extent(self) -> str:
        if self.total == 0:
            return "empty"
        of = f" of {self.total}" if self.total is not None else ""
        return f"lines {self.first}-{self.last}{of}"

    @property
    def ends_early(self) -> bool:
        return self.total is None or self.last < self.total


def read_page(file: BufferedReader, first: int, lines: int, max_bytes: int, go_on: GoOn) -> FilePage:
    """Read up to so many lines and bytes. Raises NotReadable for binary files, and after the end."""
    _refuse_binary(file)
    if not _skip(file, first - 1, SKIPPED_BYTES, go_on):
        raise NotReadable(f"line {first} is too far into the file; a command, such as sed -n, can show it")
    shown, size = list[str](), 0
    while len(shown) < lines:
        before = file.tell()
        line = _line(file, go_on)
        if line is None:
            break
        numbered = f"{first + len(shown):6}\t{line}\n"
        size += len(numbered.encode())
        if size > max_bytes and shown:
            file.seek(before)
            break
        shown.append(numbered)
    if not shown and first > 1:
        file.seek(0)
        raise NotReadable(f"the file has {_count(file, go_on)} lines, and none from {first} on")
    last = first + len(shown) - 1
    rest = _count(file, go_on)
    return FilePage("".join(shown), first, last, None if rest is None else last + rest)


def _refuse_binary(file: BufferedReader) -> None:
    head = file.read(BINARY_BYTES)
    file.seek(0)
    if kind := kind_of(head):
        raise NotReadable(f"it is a picture ({kind}): look at it with view_image")
    if b"\0" in head:
        size = os.fstat(file.fileno()).st_size
        raise NotReadable(f"it holds binary data, {size} bytes; a command, such as file or xxd, can look at it")


def _skip(file: BufferedReader, lines: int, max_bytes: int, go_on: GoOn) -> bool:
    """Move past so many line ends, or to the end of the file; False if neither is near enough."""
    while lines > 0 and (chunk := file.read(CHUNK)):
        go_on()
        found = chunk.count(b"\n")
        if found >= lines:
            at = -1
            for _ in range(lines):
                at = chunk.index(b"\n", at + 1)
            file.seek(at + 1 - len(chunk), os.SEEK_CUR)
            return True
        lines -= found
        if (max_bytes := max_bytes - len(chunk)) <= 0:
            return False
    return True


def _line(file: BufferedReader, go_on: GoOn) -> str | None:
    """Read one line without its end; of a long one the beginning, and how much follows. None at the end."""
    go_on()
    raw = file.readline(LINE_BYTES)
    if not raw:
        return None
    text = raw.rstrip(b"\r\n").decode("utf-8", "replace").translate(UNPRINTABLE)
    if raw.endswith(b"\n") or len(raw) < LINE_BYTES:
        return text
    began = file.tell()
    more = f"{file.tell() - began}" if _skip(file, 1, COUNTED_BYTES, go_on) else f"more than {COUNTED_BYTES}"
    return f"{text} [the line goes on for {more} bytes]"


def _count(file: BufferedReader, go_on: GoOn) -> int | None:
    """Count the lines from here to the end; None if there is too much."""
    if os.fstat(file.fileno()).st_size - file.tell() > COUNTED_BYTES:
        return None
    lines, last = 0, b"\n"
    while chunk := file.read(CHUNK):
        go_on()
        lines += chunk.count(b"\n")
        last = chunk[-1:]
    return lines + (last != b"\n")
