"""Reduces a bash script to the plain commands that bash would run; None if the script has anything else in it. Pure.

The parser and bash may differ about odd text. So the parser's answer counts only if the script agrees with it byte
for byte: words of harmless characters, simple quotes, operators, and only blanks in between. Other scripts are not
parsed at all: some of 16 KiB keep the parser busy for many seconds.
"""

import re
from collections.abc import Iterator

import tree_sitter_bash
from msgspec import Struct
from tree_sitter import Language, Node, Parser

Words = tuple[str, ...]

SCRIPT_LIMIT_CHARS = 16 * 1024  # a longer script is no simple list of commands
GROUPS = frozenset({"program", "list", "pipeline"})
OPERATORS = frozenset({"&&", "||", ";", "|"})
PROGRAM = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*")
RESERVED = frozenset(
    {
        *("if", "then", "elif", "else", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in"),
        *("function", "time", "coproc"),
    }
)
BARE_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
MOST_PIECES = 512  # words, operators and blanks; the parser's time grows with their square
SIMPLE = re.compile(
    rf"""(?:[ \t\n]+ | {BARE_WORD.pattern} | '[^']*' | "[^"$`\\]*" | && | \|\| | [;|]){{0,{MOST_PIECES}}}+""",
    re.VERBOSE,
)
QUOTED = re.compile(r"[^\0-\x08\x0b-\x1f\x7f]*")
DOUBLE_QUOTED = re.compile(r"[^\0-\x08\x0b-\x1f\x7f$`\\\"]*")
BLANKS = re.compile(rb"[ \t\n]*")
_BASH = Language(tree_sitter_bash.language())


class _Piece(Struct, frozen=True):
    """A command or an operator, and its place in the bytes of the script."""

    start: int
    end: int
    words: Words | None  # None: an operator


def plain_commands(script: str) -> tuple[Words, ...] | None:
    simple = len(script) <= SCRIPT_LIMIT_CHARS and SIMPLE.fullmatch(script)
    root = _parse(script) if simple else None
    if root is None:
        return None
    source = script.encode()
    try:
        pieces = list(_pieces(root, source))
    except _NotPlainError:
        return None
    if not _only_blanks_between(pieces, source):
        return None
    return tuple(piece.words for piece in pieces if piece.words is not None)


def _parse(script: str) -> Node | None:
    """Parse a script and return its root; None if any part of it isn't understood."""
    try:
        source = script.encode()
    except UnicodeEncodeError:
        return None
    root = Parser(_BASH).parse(source).root_node
    return None if root.has_error else root


def _text_of(node: Node) -> str:
    """Return a node's text. Nodes end on character boundaries, so decoding can't fail."""
    return (node.text or b"").decode()


def _plain_word(node: Node) -> str | None:
    """Return the string that bash makes of this word; None if an expansion could change it."""
    text = _text_of(node)
    match node.type:
        case "word" | "number" if BARE_WORD.fullmatch(text):
            return text
        case "raw_string" if QUOTED.fullmatch(text):
            return text[1:-1]
        case "string" if DOUBLE_QUOTED.fullmatch(text[1:-1]):
            return text[1:-1]
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
            yield _Piece(node.start_byte, node.end_byte, None)
        elif node.type == "command":
            yield _Piece(node.children[0].start_byte, node.children[-1].end_byte, _words(node, source))
        else:
            raise _NotPlainError


def _words(command: Node, source: bytes) -> Words:
    name, *arguments = command.children
    program = _text_of(name)
    if not PROGRAM.fullmatch(program) or program in RESERVED:
        raise _NotPlainError
    words = [program]
    end = name.end_byte
    for node in arguments:
        word = _plain_word(node)
        if word is None or not re.fullmatch(rb"[ \t]+", source[end : node.start_byte]):
            raise _NotPlainError
        words.append(word)
        end = node.end_byte
    return tuple(words)


def _only_blanks_between(pieces: list[_Piece], source: bytes) -> bool:
    ends = [0, *(piece.end for piece in pieces)]
    starts = [*(piece.start for piece in pieces), len(source)]
    return all(BLANKS.fullmatch(source[end:start]) for end, start in zip(ends, starts, strict=True))
