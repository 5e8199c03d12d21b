"""JSON output: the same values for programs, without control characters or invisible characters."""

import json
import re
import sys
from typing import Any

from actors.vocabulary.visible_text import is_invisible
from supervisor.cli.kit import terminal

_NOT_ASCII = re.compile(r"[^\x20-\x7e\n]")


def output_json(value: object) -> str:
    """JSON, indented on a terminal, on one line elsewhere."""
    return json_text(value, 2 if terminal.is_terminal() else None)


def json_text(value: object, indent: int | None = None) -> str:
    return escape_unseen(json.dumps(value, indent=indent, ensure_ascii=False))


def write_event(envelope: dict[str, Any]) -> None:
    """Print the event as one line: first its seq, time and conversation, then its own members."""
    head = {name: envelope[name] for name in ("seq", "ts", "conversation", "turn")}
    body = envelope["event"]
    sys.stdout.write(json_text({**head, "type": body["type"], **body}) + "\n")
    sys.stdout.flush()


def escape_unseen(text: str) -> str:
    """The JSON text with invisible characters written by their numbers, also in a pipe."""
    return _NOT_ASCII.sub(lambda found: _escape_of(found[0]) if is_invisible(found[0]) else found[0], text)


def _escape_of(character: str) -> str:
    """The escape of a character; JSON needs two numbers beyond the first 65,536 characters."""
    return json.dumps(character)[1:-1] if character != "\x7f" else r"\u007f"
