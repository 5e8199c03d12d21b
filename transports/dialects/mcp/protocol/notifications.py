"""Notifications besides events: messages, the progress of a call, a changed list. They ask for nothing."""

import json
from collections.abc import Callable
from typing import Protocol

from msgspec import UNSET, Struct, UnsetType, field

from actors.messages.routing import WatchList
from actors.vocabulary.events import ACTIVITIES
from transports import jsonrpc
from transports.dialect import Action, Wake, Write
from transports.dialects.codex.events import CodexEvent
from transports.dialects.kit.client_state import ClientState
from transports.dialects.kit.script import Script, Scripts, look_up
from transports.dialects.mcp.protocol.turn_requests import CallMeta, ProgressToken, TurnRequest
from transports.question_text import command_line


def withdrawal(number: int, reason: str) -> bytes:
    """The notification that takes back a request to the client."""
    return jsonrpc.notification("notifications/cancelled", {"requestId": number, "reason": reason})


# --- messages -------------------------------------------------------------------------------------------------------

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
DEFAULT = "notice"  # until the client chooses one
LOGGER = "greenroom"
SAID_KEPT = 64  # texts remembered, so that none is sent twice


class ClientLog:
    """`notifications/message`: messages for the client's person, from the chosen level on."""

    def __init__(self, state: ClientState) -> None:
        self._state = state
        self._from = LEVELS.index(DEFAULT)
        self._said: list[str] = []

    def choose(self, level: str) -> None:
        self._from = LEVELS.index(level)

    def silence(self) -> None:
        self._from = len(LEVELS)

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
COMMAND_LENGTH = 120  # characters of a command line in a message
BEGINNINGS = {  # of work that Codex has an event for
    "patch_apply_begin": "applying a patch",
    "mcp_tool_call_begin": "using a tool of an MCP server",
}


class Progress(Struct, frozen=True, rename="camel"):
    meta: CallMeta | UnsetType = field(name="_meta")
    progress_token: ProgressToken
    progress: int
    message: str


def follow_progress(state: ClientState, call: TurnRequest, every_s: float) -> None:
    """Ask for the next timer, which reports progress; a call without a token has none."""
    if call.progress is not None:
        state.do(Wake(f"{PROGRESS}:{call.number}", every_s))


def tell_progress(state: ClientState, call: TurnRequest, message: str) -> None:
    if call.progress is not None:
        call.reports += 1
        # No event names the conversation of a stateless call; the bridge needs it if the daemon is lost.
        meta = call.meta() if call.peer.stateless else UNSET
        params = Progress(meta, call.progress, call.reports, message)
        state.do(Write(jsonrpc.notification("notifications/progress", params)))


def note_activity(call: TurnRequest, event: CodexEvent) -> None:
    """Note the call's activity for the next report."""
    if event.type == "exec_command_begin" and event.msg is not None:
        line = command_line(json.loads(event.msg)["command"])
        call.activity = f"running `{line[:COMMAND_LENGTH]}{'…' if len(line) > COMMAND_LENGTH else ''}`"
    else:
        activity = ACTIVITIES.get(event.record.type if event.record else event.type, call.activity)
        call.activity = BEGINNINGS.get(event.type, activity)


# --- the list of resources ------------------------------------------------------------------------------------------

LIST = "list"
LIST_CHANGED = "notifications/resources/list_changed"
TOOLS_CHANGED = "notifications/tools/list_changed"
REST_S = 1.0  # between two notifications; a script may make a hundred conversations in a second


class ListeningClient(Protocol):
    """The state of a client that follows lists: `tell_change` writes to all requests that asked for it."""

    follows_list: bool
    scripts: Scripts
    do: Callable[[Action], None]

    def tell_change(self, method: str) -> None: ...


def follow_list(state: ListeningClient) -> None:
    if not state.follows_list:
        state.follows_list = True
        state.scripts.run(tell_list_change(state, None))


def tell_list_change(state: ListeningClient, seen: int | None) -> Script[None]:
    """Notify of a changed list: at once, then at most once per pause."""
    changed = yield from look_up(WatchList(seen))
    state.tell_change(LIST_CHANGED)
    state.do(Wake(f"{LIST}:{changed.number}", REST_S))
