"""Events for programs: one JSON object a line, with seq, ts, conversation and type always there."""

import sys

from supervisor.cli.client import Json
from supervisor.cli.written import json_text


def line(envelope: Json) -> str:
    """The event's own members follow its place in the world; none of them is called like one of those."""
    head = {name: envelope[name] for name in ("seq", "ts", "conversation", "turn")}
    body = envelope["event"]
    return json_text({**head, "type": body["type"], **body})


def write(envelope: Json) -> None:
    sys.stdout.write(line(envelope) + "\n")
    sys.stdout.flush()
