"""Reads a git index: finds paths that a command must not have written, and the repositories below. Pure.

git checks names when it adds them to an index, but not when it reads them, and writes files to these paths later. An
index that can't be read here exactly as git reads it is refused. git also runs itself in each path that the index
has as a repository of its own (a gitlink). The format: gitformat-index(5).
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

HEADER, FIELDS = struct.Struct(">4sII"), struct.Struct(">H")
STAT_BYTES, MODE_AT = 40, 24  # the file's data from stat, before the hash of its content
EXTENDED, LONG = 0x4000, 0x0FFF  # flags: two more bytes of them follow; the name is longer than the field can hold
LONGEST = 4_096  # bytes of a path, as Linux has it
FOLDER_MODE = 0o040000  # a folder that is not checked out, in a sparse index
LINK_MODE = 0o160000  # a repository below, a submodule for example
SPLIT = b"link"  # the part that names the shared index on which this index is based
WORD = struct.Struct(">Q")
BLOCKS, ENTRIES_END = b"IEOT", b"EOIE"  # the positions at which git's threads begin to read
CACHES = frozenset({b"TREE", b"REUC", b"link", b"UNTR", b"FSMN", b"sdir"})
NEW_STYLE = 4  # the version in which a name leaves out the prefix that it shares with the name before
VERSIONS = frozenset({2, 3, NEW_STYLE})


class UnfitIndex(Exception):
    """The index must not become git's. The text says why."""


class Gitlink(NamedTuple):
    """A path at which the index has a repository of its own. `base`: the number of the shared entry with its name."""

    name: bytes
    base: int | None = None


class IndexContent(NamedTuple):
    """The entries' names of an index, its gitlinks, and the name of its shared index; empty if it has none."""

    names: tuple[bytes, ...]
    links: tuple[Gitlink, ...]
    shared: str


class _Entry(NamedTuple):
    at: int
    shared: int  # bytes of the name that it shares with the entry before
    name: bytes
    mode: int
    end: int


def read(data: bytes, hash_bytes: int, *, with_names: bool = False) -> IndexContent:
    """Return the repositories below that an index names. Raises Unfit if it can't be read.

    `with_names`: with the names of all entries, to which another index's links refer by number.
    """
    try:
        return _read(data, hash_bytes, with_names=with_names)
    except (struct.error, IndexError):
        raise UnfitIndex("it is cut off") from None


def _read(data: bytes, hash_bytes: int, *, with_names: bool) -> IndexContent:
    version, count = _header(data)
    names, links, nameless, end = [], [], [], HEADER.size
    for entry in _entries(data, count, hash_bytes, version):
        end = entry.end
        if with_names:
            names.append(entry.name)
        if not entry.name:
            nameless.append(entry.mode)
        elif entry.mode == LINK_MODE:
            links.append(Gitlink(entry.name))
    shared = next((body for name, body in _extensions(data[:-hash_bytes], end) if name == SPLIT), b"")
    if LINK_MODE in nameless:
        numbers = _replaced_entries(shared[hash_bytes:])
        links += [Gitlink(b"", at) for at, mode in zip(numbers, nameless, strict=False) if mode == LINK_MODE]
    return IndexContent(tuple(names), tuple(links), shared[:hash_bytes].hex())


def _replaced_entries(body: bytes) -> list[int]:
    """Return the numbers of the shared entries that are replaced: the second of two compressed bitmaps."""
    _, end = _bitmap(body, 0)
    return _bitmap(body, end)[0]


def _bitmap(body: bytes, at: int) -> tuple[list[int], int]:
    """Read a bitmap as gitformat-bitmap(5) describes it; return the numbers in it, and the position after it."""
    size, words = struct.unpack_from(">II", body, at)
    numbers: list[int] = []
    at, end, bit = at + 8, at + 8 + 8 * words, 0
    while at < end:
        (head,) = WORD.unpack_from(body, at)
        at, run, literal = at + 8, 64 * (head >> 1 & 0xFFFFFFFF), head >> 33
        if bit + run > 64 * (size // 64 + 1):
            raise UnfitIndex("it is longer than it says")
        numbers += range(bit, bit + run) if head & 1 else ()
        bit += run
        for _ in range(literal):
            (word,) = WORD.unpack_from(body, at)
            numbers += (bit + place for place in range(64) if word >> place & 1)
            at, bit = at + 8, bit + 64
    return [number for number in numbers if number < size], end + 4


def check(data: bytes, hash_bytes: int) -> None:
    """Raise Unfit for an index with paths that lead git out of the files of its work tree."""
    try:
        _check(data, hash_bytes)
    except (struct.error, IndexError):
        raise UnfitIndex("it is cut off") from None


def _check(data: bytes, hash_bytes: int) -> None:
    version, count = _header(data)
    starts: dict[int, int] = {}  # by each entry's position: the bytes of its name that it shares with the one before
    end = HEADER.size
    for entry in _entries(data, count, hash_bytes, version):
        _check_name(entry.name, entry.mode)
        starts[entry.at] = entry.shared
        end = entry.end
    if end > len(data) - hash_bytes:
        raise UnfitIndex("it is cut off")
    _check_extensions(data[: len(data) - hash_bytes], end, starts)


def _header(data: bytes) -> tuple[int, int]:
    kind, version, count = HEADER.unpack_from(data)
    if kind != b"DIRC" or version not in VERSIONS:
        raise UnfitIndex("it is not an index")
    return version, count


def _entries(data: bytes, count: int, hash_bytes: int, version: int) -> Iterator[_Entry]:
    at, before = HEADER.size, b""
    for _ in range(count):
        (flags,) = FIELDS.unpack_from(data, at + STAT_BYTES + hash_bytes)
        begins = at + STAT_BYTES + hash_bytes + FIELDS.size * (2 if flags & EXTENDED else 1)
        stripped = len(before)
        if version == NEW_STYLE:
            stripped, begins = _number(data, begins)
        if stripped > len(before):
            raise UnfitIndex("a name in it is shorter than nothing")
        stop, shared = data.find(b"\0", begins), len(before) - stripped
        if not begins <= stop <= begins + LONGEST:
            raise UnfitIndex("a name in it is too long, or cut off")
        name = before[:shared] + data[begins:stop]
        if (flags & LONG) != min(len(name), LONG) or len(name) > LONGEST:
            raise UnfitIndex("a name in it has another length than it says")
        mode = int.from_bytes(data[at + MODE_AT : at + MODE_AT + 4], "big")
        end = stop + 1 if version == NEW_STYLE else at + (stop - at + 8 & ~7)
        yield _Entry(at, shared, name, mode, end)
        at, before = end, name


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of variable length, as git writes them; return it and the position after it."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = (value + 1 << 7) + (byte & 0x7F)
        if value > len(data):
            raise UnfitIndex("a name in it is longer than all of it")
    return value, at + 1


def _check_name(name: bytes, mode: int) -> None:
    """Refuse a name that git would refuse to add."""
    if not name:
        return  # in a split index: the shared index has the name
    path = name.removesuffix(b"/") if mode == FOLDER_MODE else name
    for part in path.split(b"/"):
        plain = part.split(b":")[0].rstrip(b" .").lower()  # some file systems ignore the rest
        if part in {b"", b".", b".."} or plain in {b".git", b"git~1"}:
            shown = name[:200].decode("utf-8", "backslashreplace")
            raise UnfitIndex(f"it names {shown!a}, where git would later write that file")


def _check_extensions(data: bytes, at: int, starts: dict[int, int]) -> None:
    for name, body in _extensions(data, at):
        if name not in {*CACHES, BLOCKS, ENTRIES_END}:
            raise UnfitIndex("it has a part that is not known")
        if name == ENTRIES_END and struct.unpack_from(">I", body)[0] != at:
            raise UnfitIndex("it is read in two ways")
        if name == BLOCKS:
            _check_blocks(body, starts)


def _extensions(data: bytes, at: int) -> Iterator[tuple[bytes, bytes]]:
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at + 4)
        name, body = data[at : at + 4], data[at + 8 : at + 8 + size]
        if len(body) != size:
            raise UnfitIndex("it has a part that is not known")
        yield name, body
        at += 8 + size


def _check_blocks(body: bytes, starts: dict[int, int]) -> None:
    """Refuse blocks that don't begin at an entry with a whole name: a thread does not know the name before."""
    numbered = list(starts)
    first = 0
    for at, count in struct.iter_unpack(">II", body[4:]):
        if first >= len(numbered) or numbered[first] != at or starts[at]:
            raise UnfitIndex("it is read in two ways")
        first += count
    if first != len(numbered):
        raise UnfitIndex("it is read in two ways")
