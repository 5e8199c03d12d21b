"""The line of each key in a TOML file, for error messages: tomllib keeps no positions.

Expects text that tomllib has accepted. In doubt there is no answer rather than a wrong one. Pure; any thread.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache

from supervisor.config.key_types import KeyPath

_TOKEN = re.compile(
    r"""(?P<nothing>[ \t]+|\#[^\n]*)
    | \"{3}(?:\\.|[^\\])*?\"{3,5} | '{3}.*?'{3,5} | "(?:\\.|[^"\\])*" | '[^']*'
    | [\n=.,\[\]{}] | [^\s=.,\[\]{}"'\#]+""",
    re.VERBOSE | re.DOTALL,
)
_VALUE_ENDS = frozenset({",", "]", "}", "\n", ""})


@lru_cache(maxsize=1)  # called once for each problem of a file
def key_lines(text: str) -> Mapping[KeyPath, int]:
    """The line of each key, table and array element. A table's own header wins over a key that implies the table."""
    scan = _Scan(text.replace("\r\n", "\n"))
    try:
        scan.document()
    except (IndexError, ValueError, RecursionError):
        return {}
    return {**scan.implied, **scan.written}


class _Scan:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, int]] = []
        self.at = 0
        self.written: dict[KeyPath, int] = {}
        self.implied: dict[KeyPath, int] = {}
        self.array_lengths: dict[KeyPath, int] = {}
        line = 1
        for found in _TOKEN.finditer(text):
            if not found["nothing"]:
                self.tokens.append((found[0], line))
            line += found[0].count("\n")
        self.tokens.append(("", line))

    @property
    def current(self) -> str:
        return self.tokens[self.at][0]

    @property
    def line(self) -> int:
        return self.tokens[self.at][1]

    def skip(self, *signs: str) -> str:
        while self.current in signs:
            self.at += 1
        return self.current

    def document(self) -> None:
        table: KeyPath = ()
        while first := self.skip("\n"):
            if first == "[":
                table = self.header()
            else:
                self.assignment(table)

    def header(self) -> KeyPath:
        line, is_array = self.line, self.tokens[self.at + 1][0] == "["
        self.at += 1 + is_array
        *parents, last = self.key()
        self.at += 1 + is_array
        table: KeyPath = ()
        for name in parents:
            table = self.newest((*table, name))
            self.implied.setdefault(table, line)
        table = (*table, last)
        if is_array:
            self.written.setdefault(table, line)
            index = self.array_lengths.get(table, 0)
            self.array_lengths[table] = index + 1
            table = (*table, index)
        self.written.setdefault(table, line)
        return table

    def newest(self, table: KeyPath) -> KeyPath:
        """The table that a header means: of an array of tables, its last element so far."""
        length = self.array_lengths.get(table)
        return table if length is None else (*table, length - 1)

    def assignment(self, table: KeyPath) -> None:
        line, key = self.line, self.key()
        for end in range(1, len(key)):
            self.implied.setdefault((*table, *key[:end]), line)
        self.written.setdefault((*table, *key), line)
        self.at += 1  # the equals sign
        self.value((*table, *key))

    def key(self) -> list[str]:
        """Read a dotted key, up to the token after it."""
        parts = []
        while True:
            part = self.current
            parts.append(str(tomllib.loads(f"key = {part}")["key"]) if part[0] in "\"'" else part)
            self.at += 1
            if self.current != ".":
                return parts
            self.at += 1

    def value(self, path: KeyPath) -> None:
        if self.current in _VALUE_ENDS:
            raise ValueError("no value")
        if self.current == "[":
            self.array(path)
        elif self.current == "{":
            self.inline_table(path)
        else:
            while self.current not in _VALUE_ENDS:
                self.at += 1

    def array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self.skip("\n", ",") != "]":
            self.written.setdefault((*path, index), self.line)
            self.value((*path, index))
            index += 1
        self.at += 1

    def inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self.skip("\n", ",") != "}":
            self.assignment(path)
        self.at += 1
