"""`notifications/progress` while a call runs: on a beat, and when an approval waits. Never a prompt."""

import json
from collections.abc import Iterable

from actors.events import ACTIVITIES
from transports import jsonrpc
from transports.dialect import Action, Wake, Write
from transports.dialects.mcp.events import Told
from transports.dialects.mcp.running import TurnCall
from transports.question import command_line

WAKE = "progress"
COMMAND_LENGTH = 120  # of a command line in a message


def begun(turn: TurnCall, every_s: float) -> Iterable[Action]:
    """Nothing at all for a call without a token."""
    if turn.call.progress is not None:
        yield Wake(f"{WAKE}:{turn.number}", every_s)


def beat(turn: TurnCall, every_s: float) -> Iterable[Action]:
    yield from said(turn, turn.activity)
    yield from begun(turn, every_s)


def said(turn: TurnCall, message: str) -> Iterable[Action]:
    if turn.call.progress is None or turn.call.over:
        return
    turn.reports += 1
    params = {"progressToken": turn.call.progress, "progress": turn.reports, "message": message}
    yield Write(jsonrpc.notification("notifications/progress", params))


def follow(turn: TurnCall, one: Told) -> None:
    """Keep in mind what it does, for the next beat."""
    if one.type == "exec_command_begin" and one.msg is not None:
        line = command_line(json.loads(one.msg)["command"])
        turn.activity = f"running `{line[:COMMAND_LENGTH]}{'…' if len(line) > COMMAND_LENGTH else ''}`"
    else:
        turn.activity = ACTIVITIES.get(one.record.type if one.record else one.type, turn.activity)
