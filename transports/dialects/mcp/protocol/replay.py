"""MCP's side of the bridge: the messages to repeat to the next daemon, and the losses that the client must know.

Log level and subscriptions are replayed. Streams and listeners end: a resumed stream would repeat a whole history,
which only the client can ask for, and a listener would miss the end of the lost turn. Lost calls are named to the
next daemon: a call that the client repeats, with its id, is the same turn. Pure; imports only the bridge, which loads
this at its start.
"""

from __future__ import annotations

from transports.bridge.messages import identity, notification, parse_message
from transports.bridge.outstanding import NOTIFICATION

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
if TYPE_CHECKING:
    from collections.abc import Iterable

    from transports.bridge.messages import Id, Message
    from transports.dialects.mcp.protocol.offline_answers import OfflineAnswers

CANCELLED = "notifications/cancelled"
DISCONNECTED = "notifications/stream_disconnected"
PROGRESS = "notifications/progress"  # names the conversation of a stateless call
BEGAN = "notifications/greenroom/began"  # for the bridge alone: the conversation of a stateless call
HEARD = tuple(NOTIFICATION + f'"{method}"'.encode() for method in (CANCELLED, DISCONNECTED, PROGRESS, BEGAN))
EVENT = NOTIFICATION + b'"codex/event"'
CONFIGURED = b'"session_configured"'  # the first event of a call, which names its conversation
HEAD_BYTES = 512  # of an event, which contain its type
MESSAGE = "notifications/message"
LEVEL = "logging/setLevel"
INITIALIZED = "notifications/initialized"
QUIET = ("error", "critical", "alert", "emergency")  # levels that exclude warnings
THREAD = ("sessionId", "threadId", "conversationId", "conversation_id")  # members that name a conversation
SAYING = ("codex", "codex-reply", "start_conversation", "send", "conversationSendMessage")
SAID_BY = ("sendUserMessage", "sendUserTurn")  # methods that send input
RECONNECTED = "notifications/greenroom/reconnected"  # sent by the bridge after the handshake with another daemon
TASKS_KEPT = 256
LOST_KEPT = 256  # the newest; a client repeats lost calls at once
CONTINUE = "continue it with codex-reply instead"
WAIT = "wait_conversation goes on there"


class McpReplay:
    server = "MCP server"
    handshake = "initialize"

    def __init__(self, table: OfflineAnswers | None = None) -> None:
        """`table`: the answers that need no daemon."""
        self._table = table
        self._introduced = False
        self._holds: dict[str, Message] = {}  # repeated in this order, by subject; bounded by the daemon's limits
        self._streams: dict[str, Id] = {}  # requests, by conversation: a second stream takes over
        self._listeners: dict[str, str] = {}  # conversations, by subscription
        self._tasks: dict[str, None] = {}
        self._lost: dict[Id, str | None] = {}  # lost calls that sent a message, with their conversations
        self._has_spoken = False  # a call has sent a message

    def answer_at_once(self, _: Message) -> Message | None:
        return None

    def answer_alone(self, request: Message) -> Message | None:
        """Answer as the missing daemon would. A running daemon is asked, as it may know more."""
        return None if self._table is None else self._table.answer(request, introduced=self._introduced)

    def outlives(self, _: Message) -> bool:
        return False

    def follows(self, _: Message, __: dict[Id, Message]) -> list[Id]:
        return []

    def awaits_end(self) -> bool:
        return False

    def keep(self, message: Message) -> Message | None:
        match message:
            case {"method": "tools/call", "params": {"name": str(name), "arguments": dict(arguments)}} if (
                name in SAYING
            ):
                return {"says": identity(message), "threadId": _thread_in(arguments)}
            case {"method": "tools/call", "params": {"name": "wait_conversation", "arguments": dict(arguments)}}:
                return {"threadId": _thread_in(arguments), "next": WAIT}
            case {"method": str(method), "params": dict(params)} if method in SAID_BY:
                return {"threadId": _thread_in(params)}
            case (
                {"method": "tools/call", "params": {"name": "conversationStream"}}
                | {"method": "notifications/initialized" | "notifications/cancelled" | "logging/setLevel"}
                | {"method": "resources/subscribe" | "resources/unsubscribe"}
                | {"method": "addConversationListener" | "removeConversationListener"}
            ):
                return message
            case _:
                return None

    def note_sent(self, kept: Message, requests: dict[Id, Message]) -> None:
        match kept:
            case {"says": number}:
                self._lost.pop(number, None)
                self._has_spoken = True
            case {"method": "initialize"}:  # a client that introduces itself again has nothing open
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

    def note_answer(self, kept: Message, answer: Message) -> None:
        result = answer.get("result")
        if not isinstance(result, dict):
            return
        match kept:
            case {"says": _}:
                self._note_task(result)
            case {"method": "logging/setLevel" | "resources/subscribe"}:
                self._holds.pop(_subject(kept), None)
                self._holds[_subject(kept)] = kept
            case {"method": "resources/unsubscribe"}:
                self._holds.pop(_subject(kept), None)
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

    def read_notification(self, line: bytes, requests: dict[Id, Message]) -> Id | None:
        if not (line.startswith(HEARD) or (line.startswith(EVENT) and CONFIGURED in line[:HEAD_BYTES])):
            return None
        match parse_message(line):
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

    def explain_loss(self, kept: Message, error: Message) -> Message:
        """The error of a lost call. Calling again would begin anew, so the error names its conversation."""
        thread = kept.get("threadId")
        if kept.get("says") is not None:
            self._lost[kept["says"]] = thread
            self._lost = dict(list(self._lost.items())[-LOST_KEPT:])
        if thread is None:
            return error
        why = f"{error['message']}; this call's conversation is {thread}: {kept.get('next', CONTINUE)}"
        return {**error, "message": why, "data": {**error["data"], "threadId": thread}}

    def loss_messages(self, questions: Iterable[Id], why: str) -> list[Message]:
        messages = [notification(CANCELLED, {"requestId": number, "reason": why}) for number in questions]
        messages += [
            notification(DISCONNECTED, {"_meta": {"conversationId": where}, "reason": why}) for where in self._streams
        ]
        chosen = self._holds.get(LEVEL, {}).get("params")
        # Listeners have no notification of their end.
        if not isinstance(chosen, dict) or chosen.get("level") not in QUIET:
            for where in dict.fromkeys(self._listeners.values()):
                data = f"{where} can't be listened to any more: {why}"
                messages.append(notification(MESSAGE, {"level": "warning", "logger": "greenroom", "data": data}))
        self._streams.clear()
        self._listeners.clear()
        return messages

    def replayed_messages(self) -> list[Message]:
        lost = [{"id": number, "threadId": thread} for number, thread in self._lost.items()]
        params = {"requests": lost, "tasks": list(self._tasks)} if self._has_spoken else None
        return [*self._holds.values(), *([notification(RECONNECTED, params)] if params else [])]


def _thread_in(members: Message) -> str | None:
    thread = next((members[name] for name in THREAD if members.get(name)), None)
    return thread if isinstance(thread, str) else None


def _subject(kept: Message) -> str:
    params = kept.get("params")
    return LEVEL if kept["method"] == LEVEL else str(params.get("uri") if isinstance(params, dict) else None)
