"""JSON for whoever reads it: the same value for programs, and nothing in it that a terminal obeys or hides."""

import json
import re

from actors.visible import unseen
from supervisor.cli import terminal

_NOT_ASCII = re.compile(r"[^\x20-\x7e\n]")


def written(value: object) -> str:
    """Indented for eyes, on one line for programs."""
    return json_text(value, 2 if terminal.is_terminal() else None)


def json_text(value: object, indent: int | None = None) -> str:
    return seen(json.dumps(value, indent=indent, ensure_ascii=False))


def seen(text: str) -> str:
    """A JSON text in which characters that nobody sees are written by their numbers, also in a pipe."""
    return _NOT_ASCII.sub(lambda found: _numbered(found[0]) if unseen(found[0]) else found[0], text)


def _numbered(character: str) -> str:
    """Two numbers beyond the first 65,536 characters: JSON counts in halves of a pair."""
    return json.dumps(character)[1:-1] if character != "\x7f" else r"\u007f"
