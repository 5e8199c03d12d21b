"""A search of files for a pattern, for a process of its own in the sandbox: a pattern may be one that never ends.

Standard library alone, so that the process starts fast; its parent ends it.
"""

# ruff: noqa: PTH112, PTH118, PTH123 # pathlib takes a quarter of the start, and a Path for each file half the walk

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from typing import TextIO, TypedDict

from supervisor.work.files.gitignore import Rules, is_ignored, matcher, rules_above, rules_in

# The program, for `python -I -S -c`: nothing of the user's or the project's is loaded. Its arguments are the folder
# of our packages and the query.
PROGRAM = "import sys; sys.path.append(sys.argv[1]); from supervisor.work.files import searching; searching.main()"
SKIPPED = frozenset({".git", ".hg", ".svn"})
CLOSED = ("/proc", "/sys", "/dev")
FILE_BYTES = 16 << 20  # larger ones are data, and are counted as left out
BINARY_BYTES = 8 << 10
LINE_CHARACTERS = 400  # shown of one line
BAD_PATTERN = 2


class SearchOrder(TypedDict):
    """A search that is ordered. `path` is real; names are shown relative to `base`."""

    pattern: str
    path: str
    base: str
    glob: str
    ignore_case: bool
    context: int
    matches: int
    bytes: int
    hidden: list[str]
    hidden_files: list[tuple[int, int]]  # device and inode, by which hard links to them are known


class Full(Exception):
    """The reader wants no more."""


class MatchWriter:
    """A writer of matches, in the style of ripgrep, that counts them."""

    def __init__(self, query: SearchOrder, out: TextIO) -> None:
        self._query = query
        self._out = out
        self._written = 0
        self.matches = self.files = self.left_out = 0

    def write_file(self, path: str, lines: list[str], regex: re.Pattern[str]) -> None:
        context, shown, counted = self._query["context"], -1, False
        for number, line in enumerate(lines):
            if not regex.search(line):
                continue
            if self.matches >= self._query["matches"]:
                raise Full
            first = max(number - context, shown + 1)
            if context and shown >= 0 and first > shown + 1:
                self._write("--")
            for near in range(first, min(number + context + 1, len(lines))):
                mark = ":" if near == number or regex.search(lines[near]) else "-"
                self._write(f"{path}{mark}{near + 1}{mark}{_short(lines[near])}")
            shown = max(shown, min(number + context, len(lines) - 1))
            self.matches += 1
            self.files += not counted
            counted = True
        self._out.flush()

    def _write(self, line: str) -> None:
        self._written += len(line.encode()) + 1
        if self._written > self._query["bytes"]:
            raise Full
        self._out.write(f"{line}\n")


def search(query: SearchOrder, out: TextIO) -> int:
    """Search, and end with one line that says how much was found."""
    try:
        regex = re.compile(query["pattern"], re.IGNORECASE if query["ignore_case"] else 0)
    except (re.error, OverflowError, RecursionError) as error:
        out.write(f"the pattern can't be used: {error}\n")
        return BAD_PATTERN
    found, more = MatchWriter(query, out), ""
    ours = {(device, inode) for device, inode in query["hidden_files"]}
    try:
        for path in paths(query):
            lines = _lines(path, ours)
            if lines is None:
                found.left_out += 1
            elif lines:
                found.write_file(printable(os.path.relpath(path, query["base"])), lines, regex)
    except Full:
        more = ", and there are more: narrow the pattern, the path or the glob"
    left_out = f"; {found.left_out} binary or very large files were left out" if found.left_out else ""
    out.write(f"[{found.matches} matches in {found.files} files{more}{left_out}]\n")
    return 0


def paths(query: SearchOrder) -> Iterator[str]:
    """Yield the files to search, by name, without what `.gitignore` leaves out. A named file is always searched."""
    top, wanted = query["path"], matcher(query["glob"]) if query["glob"] else None
    if not os.path.isdir(top):
        yield top
        return
    closed = tuple(folder.casefold() for folder in (*query["hidden"], *CLOSED))
    for path in _files_below(top, rules_above(top), closed):
        if wanted is None or wanted.fullmatch(os.path.relpath(path, top)):
            yield path


def _files_below(top: str, rules: Rules, closed: tuple[str, ...]) -> Iterator[str]:
    waiting: list[tuple[str, bool, Rules]] = [(top, True, rules)]
    while waiting:
        path, is_folder, rules = waiting.pop()
        if is_folder:
            waiting += reversed([*_entries_of(path, rules, closed)])
        else:
            yield path


def _entries_of(folder: str, rules: Rules, closed: tuple[str, ...]) -> Iterator[tuple[str, bool, Rules]]:
    own = rules_in(folder)
    rules = (*rules, (folder, own)) if own else rules
    try:
        with os.scandir(folder) as entries:
            inside = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:  # gone, or not ours to list
        return
    for name, is_folder in inside:
        path = os.path.join(folder, name)
        if (
            path.casefold() not in closed
            and name not in SKIPPED
            and not (rules and is_ignored(path, rules, folder=is_folder))
        ):
            yield path, is_folder, rules


def _lines(path: str, ours: set[tuple[int, int]]) -> list[str] | None:
    """Return the lines of a text file, none if it is not a file; None if it is binary or very large."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY)
    except OSError:
        return []
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or (found.st_dev, found.st_ino) in ours:
            return []
        try:
            data = file.read(FILE_BYTES + 1)
        except OSError:
            return []
    if len(data) > FILE_BYTES or b"\0" in data[:BINARY_BYTES]:
        return None
    return data.decode("utf-8", "replace").removesuffix("\n").split("\n")


def _short(line: str) -> str:
    shown = "".join(
        char if char.isprintable() or char == "\t" else "\ufffd" for char in line[:LINE_CHARACTERS].rstrip("\r")
    )
    return shown + "…" if len(line) > LINE_CHARACTERS else shown


def printable(name: str) -> str:
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def main() -> None:
    with open(1, "w", encoding="utf-8", errors="replace", closefd=False) as out:
        sys.exit(search(json.loads(sys.argv[2]), out))
