"""`notifications/progress` while a call runs: on a beat, and when an approval waits. Never a prompt."""

import json
from collections.abc import Iterable

from transports import jsonrpc
from transports.dialect import Action, Wake, Write
from transports.dialects.mcp.events import Told
from transports.dialects.mcp.running import TurnCall
from transports.question import command_line

WAKE = "progress"
COMMAND_LENGTH = 120  # of a command line in a message

ACTIVITIES = {
    "task_started": "thinking",
    "agent_reasoning": "thinking",
    "agent_message": "thinking",
    "agent_message_delta": "answering",
    "exec_command_end": "thinking",
    "patch_apply_begin": "applying a patch",
    "patch_apply_end": "thinking",
    "exec_approval_request": "waiting for an approval",
    "apply_patch_approval_request": "waiting for an approval",
    "approval_resolved": "thinking",
    "stream_error": "waiting to ask the model again",
    "background_event": "thinking",
    "queue_paused": "waiting; the queue is paused since the last turn was interrupted",
    "queue_resumed": "waiting",
}


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
        turn.activity = ACTIVITIES.get(one.type, turn.activity)
