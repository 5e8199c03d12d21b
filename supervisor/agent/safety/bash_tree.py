"""Bash text -> syntax tree. Knows tree-sitter, judges nothing."""

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_BASH = Language(tree_sitter_bash.language())


def parse_bash(script: str) -> Node | None:
    """Parse a script and return its root, or None if any of it isn't understood."""
    try:
        source = script.encode()
    except UnicodeEncodeError:
        return None
    root = Parser(_BASH).parse(source).root_node
    return None if root.has_error else root


def text_of(node: Node) -> str:
    """Return a node's text. Nodes end on character boundaries, so decoding can't fail."""
    return (node.text or b"").decode()
