"""An argv as the command line that a person reads, quoted as Codex clients do. Pure. `shlex.quote` differs."""

import re
from collections.abc import Iterator, Sequence
from enum import Flag, auto

BARE = re.compile(r"[A-Za-z0-9+./:@\]_-]")
NOT_IN_SINGLE = frozenset("'^\\")
NOT_IN_DOUBLE = frozenset("`$!^")
DOUBLE_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\"})


class _Way(Flag):
    """A way of writing a piece. Where several will do, the first is taken."""

    BARE = auto()
    SINGLE = auto()
    DOUBLE = auto()


def quote_command(argv: Sequence[str]) -> str:
    if any("\0" in word for word in argv):
        return " ".join(argv)
    return " ".join(map(quote_word, argv))


def quote_word(word: str) -> str:
    return "".join(_pieces(word)) if word else "''"


def _pieces(word: str) -> Iterator[str]:
    """Split into pieces, each as long as one way of quoting can carry it."""
    while word:
        ways, length = ~_Way(0), 0
        for character in word:
            left = ways & _ways(character, first=length == 0)
            if not left:
                break
            ways, length = left, length + 1
        yield _quote_piece(word[:length], ways)
        word = word[length:]


def _ways(character: str, *, first: bool) -> _Way:
    if character == "^" and first:
        return _Way.SINGLE  # a caret stands nowhere but right after an opening single quote
    ways = _Way.BARE if BARE.fullmatch(character) else _Way(0)
    if character not in NOT_IN_SINGLE:
        ways |= _Way.SINGLE
    if character not in NOT_IN_DOUBLE:
        ways |= _Way.DOUBLE
    return ways


def _quote_piece(piece: str, ways: _Way) -> str:
    if _Way.BARE in ways:
        return piece
    if _Way.SINGLE in ways:
        return f"'{piece}'"
    return f'"{piece.translate(DOUBLE_ESCAPES)}"'
