"""A bash script -> the plain commands that bash would run, or None if there is anything more to it.

The parser and bash may differ about odd text. So the parser's answer is only believed where the script reads like it
byte for byte: words of harmless characters, simple quotes, operators, and nothing but blanks in between.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from supervisor.agent.safety.bash_tree import parse_bash, text_of

Words = tuple[str, ...]

SCRIPT_LIMIT_CHARS = 16 * 1024  # a longer script is no simple list of commands
GROUPS = frozenset({"program", "list", "pipeline"})
OPERATORS = frozenset({"&&", "||", ";", "|"})
BARE_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
QUOTED = re.compile(r"[^\0-\x08\x0b-\x1f\x7f]*")
DOUBLE_QUOTED = re.compile(r"[^\0-\x08\x0b-\x1f\x7f$`\\\"]*")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A command or an operator, and where it stands in the bytes of the script."""

    start: int
    end: int
    words: Words | None  # None: an operator
    text: str


def plain_commands(script: str) -> tuple[Words, ...] | None:
    root = parse_bash(script) if len(script) <= SCRIPT_LIMIT_CHARS else None
    if root is None:
        return None
    source = script.encode()
    try:
        pieces = list(_pieces(root, source))
    except _NotPlainError:
        return None
    if not _follow_each_other(pieces, source):
        return None
    return tuple(piece.words for piece in pieces if piece.words is not None)


def plain_word(node: Node) -> str | None:
    """The one string that bash makes of this word, if no expansion of any kind could have a part in it."""
    text = text_of(node)
    match node.type:
        case "word" | "number" if BARE_WORD.fullmatch(text):
            return text
        case "raw_string" if QUOTED.fullmatch(text):
            return text[1:-1]
        case "string" if DOUBLE_QUOTED.fullmatch(text[1:-1]):
            simple = all(child.type in {'"', "string_content"} for child in node.children)
            return text[1:-1] if simple else None
    return None


class _NotPlainError(Exception):
    pass


def _pieces(root: Node, source: bytes) -> Iterator[_Piece]:
    waiting = [root]  # no recursion: a long `a && b && …` is as deep as it is long
    while waiting:
        node = waiting.pop()
        if node.type in GROUPS:
            waiting.extend(reversed(node.children))
        elif node.type in OPERATORS:
            yield _Piece(node.start_byte, node.end_byte, None, node.type)
        elif node.type == "command":
            yield _Piece(node.start_byte, node.end_byte, _words(node, source), "")
        else:
            raise _NotPlainError


def _words(command: Node, source: bytes) -> Words:
    words: list[str] = []
    end = command.start_byte
    for child in command.children:
        gap = source[end : child.start_byte].decode()
        word = plain_word(child.children[0] if child.type == "command_name" and len(child.children) == 1 else child)
        if word is None or not re.fullmatch(r"[ \t]+" if words else "", gap):
            raise _NotPlainError
        words.append(word)
        end = child.end_byte
    if command.children[0].type != "command_name" or end != command.end_byte:
        raise _NotPlainError
    return tuple(words)


def _follow_each_other(pieces: list[_Piece], source: bytes) -> bool:
    """Commands joined by operators or line ends, blanks alone around them; only `;` may stand last."""
    end = 0
    before: _Piece | None = None
    for piece in pieces:
        gap = source[end : piece.start].decode(errors="replace")
        if not re.fullmatch(r"[ \t\n]*", gap):
            return False
        after_command = before is not None and before.words is not None
        new_line = "\n" in gap
        if piece.words is None and (new_line or not after_command):
            return False
        if piece.words is not None and after_command and not new_line:
            return False
        before, end = piece, piece.end
    whole = re.fullmatch(rb"[ \t\n]*", source[end:]) is not None
    return whole and before is not None and (before.words is not None or before.text == ";")
