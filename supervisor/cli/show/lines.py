"""Events for programs: one JSON object a line, always with seq, ts, conversation and type."""

import sys

from supervisor.cli.client import Json
from supervisor.cli.written import json_text


def line(envelope: Json) -> str:
    """The event as one line: its place first, then its own members, whose names differ from those."""
    head = {name: envelope[name] for name in ("seq", "ts", "conversation", "turn")}
    body = envelope["event"]
    return json_text({**head, "type": body["type"], **body})


def write(envelope: Json) -> None:
    sys.stdout.write(line(envelope) + "\n")
    sys.stdout.flush()
