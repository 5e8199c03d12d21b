"""The line of each key in a TOML file, for error messages: tomllib keeps no positions.

Expects text that tomllib has accepted. Gives no answer rather than a wrong answer. Pure; safe from any thread.
"""

import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache

from supervisor.config.shape import KeyPath

_BLANK = " \t"
_BARE_END = ",]}#\n"


@lru_cache(maxsize=1)  # called once for each problem of a file
def key_lines(text: str) -> Mapping[KeyPath, int]:
    """The line of every key, table and array element. A table's own header wins over a key that implies the table."""
    scan = _Scan(text.replace("\r\n", "\n"))
    try:
        scan.document()
    except (IndexError, ValueError, RecursionError):
        return {}
    return {**scan.implied, **scan.said}


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.newlines = [place for place, sign in enumerate(text) if sign == "\n"]
        self.said: dict[KeyPath, int] = {}
        self.implied: dict[KeyPath, int] = {}
        self.array_lengths: dict[KeyPath, int] = {}

    def document(self) -> None:
        table: KeyPath = ()
        while self.skip(_BLANK + "\n") < len(self.text):
            if self.text.startswith("[", self.at):
                table = self.header()
            else:
                self.assignment(table)

    def header(self) -> KeyPath:
        start, is_array = self.at, self.text.startswith("[[", self.at)
        self.at += 1 + is_array
        *parents, last = self.key()
        self.at += 1 + is_array
        table: KeyPath = ()
        for name in parents:
            table = self.newest((*table, name))
            self.imply(table, start)
        table = (*table, last)
        if is_array:
            self.say(table, start)
            index = self.array_lengths.get(table, 0)
            self.array_lengths[table] = index + 1
            table = (*table, index)
        self.say(table, start)
        return table

    def newest(self, table: KeyPath) -> KeyPath:
        """The path that a header means: below an array of tables, its last element so far."""
        length = self.array_lengths.get(table)
        return table if length is None else (*table, length - 1)

    def assignment(self, table: KeyPath) -> None:
        start = self.skip(_BLANK)
        key = self.key()
        for end in range(1, len(key)):
            self.imply((*table, *key[:end]), start)
        self.say((*table, *key), start)
        self.at += 1  # the equals sign
        self.value((*table, *key))

    def key(self) -> list[str]:
        """Read a dotted key, up to the character after it."""
        parts = []
        while True:
            start = self.skip(_BLANK)
            if self.text[start] in "\"'":
                self.string()
                parts.append(str(tomllib.loads(f"key = {self.text[start : self.at]}")["key"]))
            else:
                while self.text[self.at] not in " \t.=]":
                    self.at += 1
                parts.append(self.text[start : self.at])
            if self.text[self.skip(_BLANK)] != ".":
                return parts
            self.at += 1

    def value(self, path: KeyPath) -> None:
        first = self.text[self.skip(_BLANK)]
        if first in "\"'":
            self.string()
        elif first == "[":
            self.array(path)
        elif first == "{":
            self.inline_table(path)
        elif first in _BARE_END:
            raise ValueError("no value")
        else:
            while self.at < len(self.text) and self.text[self.at] not in _BARE_END:
                self.at += 1

    def array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self.text[self.skip(_BLANK + "\n,")] != "]":
            self.say((*path, index), self.at)
            self.value((*path, index))
            index += 1
        self.at += 1

    def inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self.text[self.skip(_BLANK + "\n,")] != "}":
            self.assignment(path)
        self.at += 1

    def string(self) -> None:
        quote = self.text[self.at]
        if self.text.startswith(quote * 3, self.at):
            self.at += 3
            self.until(quote * 3, quote)
            while self.text[self.at - 3 : self.at + 1] == quote * 4 and self.at < len(self.text):
                self.at += 1  # up to two quotes may stand before the closing three
        else:
            self.at += 1
            self.until(quote, quote)

    def until(self, end: str, quote: str) -> None:
        while not self.text.startswith(end, self.at):
            if self.at >= len(self.text):
                raise ValueError("a string without an end")
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += len(end)

    def skip(self, signs: str) -> int:
        """Skip these characters, and comments if a line may end here."""
        while self.at < len(self.text):
            if self.text[self.at] == "#" and "\n" in signs:
                self.at = self.text.find("\n", self.at)
                if self.at < 0:
                    self.at = len(self.text)
            elif self.text[self.at] in signs:
                self.at += 1
            else:
                break
        return self.at

    def say(self, path: KeyPath, at: int) -> None:
        self.said.setdefault(path, bisect_right(self.newlines, at - 1) + 1)

    def imply(self, path: KeyPath, at: int) -> None:
        self.implied.setdefault(path, bisect_right(self.newlines, at - 1) + 1)
