"""The names below a folder, the shallow ones first, as many as fit. Blocking, for a worker thread.

Links are shown with their targets and never followed; `.git` is not entered.
"""

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from supervisor.work.reach.readable import Reach, open_for_listing

NAMES = 100_000  # of one folder that are read and sorted: a tenth of a second
CLOSED = frozenset({".git"})

GoOn = Callable[[], None]


class FolderListing(Struct, frozen=True):
    """Names in the order of their paths.

    `left_out` counts names that did not fit; `unseen`: there are more, in folders that were not entered for that
    reason. `unread`: folders that can't be listed.
    """

    names: tuple[str, ...]
    left_out: int
    unseen: bool
    unread: tuple[str, ...]


def list_folder(reach: Reach, name: str, depth: int, entries: int, go_on: GoOn) -> FolderListing:
    """List a folder, and so many levels below it. Raises NotReadable if it can't be listed itself."""
    with reach.folder(name) as (top, real):
        found = dict[tuple[str, ...], str]()
        unread, left_out = list[str](), 0
        waiting = deque[tuple[str, ...]]([()])
        while waiting and len(found) < entries:
            go_on()
            below = waiting.popleft()
            try:
                inside = tuple(_entries_of(top, real, below))
            except OSError:
                unread.append("/".join(below))
                continue
            for entry in inside:
                if len(found) >= entries:
                    left_out += 1
                    continue
                found[(*below, entry.name)] = entry.shown
                if entry.enter and len(below) + 1 < depth and reach.allows(str(real.joinpath(*below, entry.name))):
                    waiting.append((*below, entry.name))
    shown = tuple("/".join((*map(printable, path[:-1]), found[path])) for path in sorted(found))
    return FolderListing(shown, left_out, bool(waiting), tuple(map(printable, unread)))


class _Entry(Struct, frozen=True):
    name: str
    shown: str
    enter: bool


def _entries_of(top: int, real: Path, below: tuple[str, ...]) -> Iterator[_Entry]:
    """Yield the entries of a folder below the top, by name. OSError if it is gone, or may not be read."""
    folder = os.dup(top) if not below else open_for_listing(real.joinpath(*below))
    try:
        with os.scandir(folder) as found:
            for entry in sorted(islice(found, NAMES), key=lambda listed: listed.name):
                yield _entry(entry, folder)
    finally:
        os.close(folder)


def _entry(entry: "os.DirEntry[str]", folder: int) -> _Entry:
    shown = printable(entry.name)
    if entry.is_symlink():
        return _Entry(entry.name, f"{shown} -> {printable(_target(entry.name, folder))}", enter=False)
    if entry.is_dir(follow_symlinks=False):
        return _Entry(entry.name, f"{shown}/", enter=entry.name not in CLOSED)
    special = "" if entry.is_file(follow_symlinks=False) else _kind(entry)
    return _Entry(entry.name, shown + special, enter=False)


def _target(name: str, folder: int) -> str:
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return "?"


def _kind(entry: "os.DirEntry[str]") -> str:
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return ""
    return " (pipe)" if stat.S_ISFIFO(mode) else " (socket)" if stat.S_ISSOCK(mode) else " (device)"


def printable(name: str) -> str:
    """Return a name in which every character can be shown; bytes that are no text become escapes."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
