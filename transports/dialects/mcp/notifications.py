"""Notifications besides events: messages, the progress of a call, a changed list. They never prompt."""

import json

from actors.routing.messages import WatchList
from actors.vocabulary.events import ACTIVITIES
from transports import jsonrpc
from transports.codex_events import CodexEvent
from transports.dialect import Wake, Write
from transports.dialects.kit.client import ClientState
from transports.dialects.kit.script import Script, look_up
from transports.dialects.mcp.turn_requests import TurnRequest
from transports.question import command_line


def withdrawal(number: int, reason: str) -> bytes:
    """The notification that takes back a request to the client."""
    return jsonrpc.notification("notifications/cancelled", {"requestId": number, "reason": reason})


# --- messages -------------------------------------------------------------------------------------------------------

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
DEFAULT = "notice"  # before the client chose
LOGGER = "greenroom"
SAID_KEPT = 64  # what was said once is not said again, as long as we remember


class ClientLog:
    """`notifications/message`: what the client's person should know, from the level they chose."""

    def __init__(self, state: ClientState) -> None:
        self._state = state
        self._from = LEVELS.index(DEFAULT)
        self._said: list[str] = []

    def choose(self, level: str) -> None:
        self._from = LEVELS.index(level)

    def say(self, level: str, text: str) -> None:
        if LEVELS.index(level) >= self._from:
            params = {"level": level, "logger": LOGGER, "data": text}
            self._state.do(Write(jsonrpc.notification("notifications/message", params)))

    def once(self, level: str, text: str) -> None:
        if text not in self._said:
            self._said = [*self._said, text][-SAID_KEPT:]
            self.say(level, text)


# --- progress -------------------------------------------------------------------------------------------------------

PROGRESS = "progress"
COMMAND_LENGTH = 120  # of a command line in a message


def follow_progress(state: ClientState, call: TurnRequest, every_s: float) -> None:
    """Ask for the next beat, which reports progress; a call without a token has none."""
    if call.progress is not None:
        state.do(Wake(f"{PROGRESS}:{call.number}", every_s))


def tell_progress(state: ClientState, call: TurnRequest, message: str) -> None:
    if call.progress is not None:
        call.reports += 1
        params = {"progressToken": call.progress, "progress": call.reports, "message": message}
        state.do(Write(jsonrpc.notification("notifications/progress", params)))


def note_activity(call: TurnRequest, one: CodexEvent) -> None:
    """Note what the call is doing, for the next beat."""
    if one.type == "exec_command_begin" and one.msg is not None:
        line = command_line(json.loads(one.msg)["command"])
        call.activity = f"running `{line[:COMMAND_LENGTH]}{'…' if len(line) > COMMAND_LENGTH else ''}`"
    else:
        call.activity = ACTIVITIES.get(one.record.type if one.record else one.type, call.activity)


# --- the list of resources ------------------------------------------------------------------------------------------

LIST = "list"
REST_S = 1.0  # a script may make a hundred conversations in a second


class ListChanges:
    """Tells a client that has read the list of resources that it has changed.

    At once, and then no more often than is of use: what happened meanwhile is told with the next.
    """

    def __init__(self, state: ClientState) -> None:
        self._state = state
        self._followed = False

    def follow(self) -> None:
        """Follow changes. Called before the list is asked for, so that none is missed."""
        if not self._followed:
            self._followed = True
            self.watch(None)

    def watch(self, seen: int | None) -> None:
        self._state.scripts.run(self._tell_next(seen))

    def _tell_next(self, seen: int | None) -> Script[None]:
        changed = yield from look_up(WatchList(seen))
        self._state.do(Write(jsonrpc.notification("notifications/resources/list_changed")))
        self._state.do(Wake(f"{LIST}:{changed.number}", REST_S))
