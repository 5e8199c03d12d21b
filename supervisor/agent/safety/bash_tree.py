"""Bash text -> syntax tree. Knows tree-sitter, judges nothing."""

from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_BASH = Language(tree_sitter_bash.language())


def parse_bash(script: str) -> Node | None:
    """The root, or None if any of it isn't understood."""
    try:
        source = script.encode()
    except UnicodeEncodeError:
        return None
    root = Parser(_BASH).parse(source).root_node
    return None if root.has_error else root


def text_of(node: Node) -> str:
    """Nodes end on character boundaries, so this is the script's own text."""
    return (node.text or b"").decode()


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in order. Without recursion: `a && b && …` is as deep as it is long."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))
