"""MCP's side of the bridge: the messages that the next daemon has to hear, and those that went with the last one.

Log level and subscriptions are replayed. Streams and listeners are over: a resumed stream would be a whole history
anew, which only the client can ask for, and a listener would miss how the lost turn ended. Calls that were lost are
named to the next daemon: if the client says one again, with its id, it is the same turn. Pure; imports nothing but
the bridge, which loads this at its start.
"""

from __future__ import annotations

from transports.bridge.messages import identity, notification, parsed
from transports.bridge.outstanding import NOTIFICATION

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from collections.abc import Iterable

    from transports.bridge.messages import Id, Message
    from transports.dialects.mcp.protocol.table import Table

CANCELLED = "notifications/cancelled"
DISCONNECTED = "notifications/stream_disconnected"
PROGRESS = "notifications/progress"  # which tells a stateless client's bridge where the call runs
BEGAN = "notifications/greenroom/began"  # of a daemon to its bridge: the conversation of a stateless call
HEARD = tuple(NOTIFICATION + f'"{method}"'.encode() for method in (CANCELLED, DISCONNECTED, PROGRESS, BEGAN))
EVENT = NOTIFICATION + b'"codex/event"'
CONFIGURED = b'"session_configured"'  # the first event of a call tells its conversation
HEAD_BYTES = 512  # of an event, in which its type stands
MESSAGE = "notifications/message"
LEVEL = "logging/setLevel"
INITIALIZED = "notifications/initialized"
QUIET = ("error", "critical", "alert", "emergency")  # levels at which nobody wants to hear of a warning
THREAD = ("sessionId", "threadId", "conversationId", "conversation_id")  # how a request may name its conversation
SAYING = ("codex", "codex-reply", "start_conversation", "send", "conversationSendMessage")
SAID_BY = ("sendUserMessage", "sendUserTurn")  # methods
RECONNECTED = "notifications/greenroom/reconnected"  # of the bridge, after the handshake with another daemon
TASKS_KEPT = 256
LOST_KEPT = 256  # the newest; a client that says them again does so at once
CONTINUE = "continue it with codex-reply instead"
WAIT = "wait_conversation goes on there"


class McpReplay:
    server = "MCP server"
    handshake = "initialize"

    def __init__(self, table: Table | None = None) -> None:
        """`table`: the answers that need no daemon."""
        self._table = table
        self._introduced = False
        self._holds: dict[str, Message] = {}  # said again in this order, by subject; bounded by what a daemon grants
        self._streams: dict[str, Id] = {}  # requests, by conversation: a second one takes over
        self._listeners: dict[str, str] = {}  # conversations, by subscription
        self._tasks: dict[str, None] = {}
        self._lost: dict[Id, str | None] = {}  # calls that said something, and their conversations

    def answer_at_once(self, _: Message) -> Message | None:
        return None

    def answer_alone(self, request: Message) -> Message | None:
        """Answer as the daemon would that is not there yet. A running one is asked: it may have been told more."""
        return None if self._table is None else self._table.answer(request, introduced=self._introduced)

    def outlives(self, _: Message) -> bool:
        return False

    def follows(self, _: Message, __: dict[Id, Message]) -> list[Id]:
        return []

    def unfinished(self) -> bool:
        return False

    def keep(self, message: Message) -> Message | None:
        match message:
            case {"method": "tools/call", "params": {"name": str(name), "arguments": dict(arguments)}} if (
                name in SAYING
            ):
                return {"says": identity(message), "threadId": _named(arguments)}
            case {"method": "tools/call", "params": {"name": "wait_conversation", "arguments": dict(arguments)}}:
                return {"threadId": _named(arguments), "next": WAIT}
            case {"method": str(method), "params": dict(params)} if method in SAID_BY:
                return {"threadId": _named(params)}
            case (
                {"method": "tools/call", "params": {"name": "conversationStream"}}
                | {"method": "notifications/initialized" | "notifications/cancelled" | "logging/setLevel"}
                | {"method": "resources/subscribe" | "resources/unsubscribe"}
                | {"method": "addConversationListener" | "removeConversationListener"}
            ):
                return message
            case _:
                return None

    def said(self, kept: Message, requests: dict[Id, Message]) -> None:
        match kept:
            case {"says": number}:
                self._lost.pop(number, None)
            case {"method": "initialize"}:  # a client that introduces itself anew has asked for nothing yet
                self._holds.clear()
                self._introduced = True
            case {"method": "notifications/initialized"}:
                self._holds.pop(INITIALIZED, None)
                self._holds = {INITIALIZED: kept, **self._holds}
            case {"method": "notifications/cancelled", "params": params}:
                cancelled = identity(params, "requestId")
                self._streams = {where: number for where, number in self._streams.items() if number != cancelled}
                if cancelled is not None and requests.get(cancelled, {}).get("method") == "tools/call":
                    requests[cancelled] = {**requests[cancelled], "params": None}
            case _:
                pass

    def answered(self, kept: Message, answer: Message) -> None:
        result = answer.get("result")
        if not isinstance(result, dict):
            return
        match kept:
            case {"says": _}:
                self._note_task(result)
            case {"method": "logging/setLevel" | "resources/subscribe"}:
                self._holds.pop(_about(kept), None)
                self._holds[_about(kept)] = kept
            case {"method": "resources/unsubscribe"}:
                self._holds.pop(_about(kept), None)
            case {"method": "tools/call", "params": {"arguments": {"conversation_id": str(conversation)}}}:
                if not result.get("isError"):
                    self._streams[conversation] = kept["id"]
            case {"method": "addConversationListener", "params": {"conversationId": str(conversation)}}:
                self._listeners[str(result.get("subscriptionId"))] = conversation
            case {"method": "removeConversationListener", "params": {"subscriptionId": str(subscription)}}:
                self._listeners.pop(subscription, None)
            case _:
                pass

    def _note_task(self, result: Message) -> None:
        match result:
            case {"task": {"taskId": str(task)}}:
                self._tasks[task] = None
                self._tasks = dict.fromkeys(list(self._tasks)[-TASKS_KEPT:])
            case _:
                pass

    def heard(self, line: bytes, requests: dict[Id, Message]) -> Id | None:
        if not (line.startswith(HEARD) or (line.startswith(EVENT) and CONFIGURED in line[:HEAD_BYTES])):
            return None
        match parsed(line):
            case {"method": "notifications/cancelled", "params": params}:
                return identity(params, "requestId")
            case {"method": "notifications/stream_disconnected", "params": {"_meta": {"conversationId": str(where)}}}:
                self._streams.pop(where, None)
            case {
                "method": "codex/event" | "notifications/progress" | "notifications/greenroom/began",
                "params": {"_meta": {"threadId": str(thread)} as meta},
            }:
                call = identity(meta, "requestId")
                if call in requests:
                    requests[call] = {**requests[call], "threadId": thread}
            case _:
                pass
        return None

    def explained(self, kept: Message, error: Message) -> Message:
        """The error of a lost call. Calling again would begin anew, so the error names its conversation."""
        thread = kept.get("threadId")
        if kept.get("says") is not None:
            self._lost[kept["says"]] = thread
            self._lost = dict(list(self._lost.items())[-LOST_KEPT:])
        if thread is None:
            return error
        why = f"{error['message']}; this call's conversation is {thread}: {kept.get('next', CONTINUE)}"
        return {**error, "message": why, "data": {**error["data"], "threadId": thread}}

    def lost(self, questions: Iterable[Id], why: str) -> list[Message]:
        told = [notification(CANCELLED, {"requestId": number, "reason": why}) for number in questions]
        told += [
            notification(DISCONNECTED, {"_meta": {"conversationId": where}, "reason": why}) for where in self._streams
        ]
        chosen = self._holds.get(LEVEL, {}).get("params")
        if (
            not isinstance(chosen, dict) or chosen.get("level") not in QUIET
        ):  # a listener has no word of its own for its end
            for where in dict.fromkeys(self._listeners.values()):
                data = f"{where} can't be listened to any more: {why}"
                told.append(notification(MESSAGE, {"level": "warning", "logger": "greenroom", "data": data}))
        self._streams.clear()
        self._listeners.clear()
        return told

    def again(self) -> list[Message]:
        lost = [{"id": number, "threadId": thread} for number, thread in self._lost.items()]
        told = {"requests": lost, "tasks": list(self._tasks)} if lost or self._tasks else None
        return [*self._holds.values(), *([notification(RECONNECTED, told)] if told else [])]


def _named(given: Message) -> str | None:
    named = next((given[name] for name in THREAD if given.get(name)), None)
    return named if isinstance(named, str) else None


def _about(kept: Message) -> str:
    params = kept.get("params")
    return LEVEL if kept["method"] == LEVEL else str(params.get("uri") if isinstance(params, dict) else None)
