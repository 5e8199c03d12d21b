"""`conversationStream`: the whole history as `initial_state`, then live events, with no gap and no duplicate.

The history of such a client is bounded: from a very long one the newest events are given, and a first one says so.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from actors.effects import Slice
from actors.events import ApprovalRequest
from actors.ids import ConversationId, RequestId, TurnId
from transports import jsonrpc
from transports.dialect import Action, Write
from transports.dialects.mcp.call_sink import waiting_text
from transports.dialects.mcp.elicitation import Origin, elicitation
from transports.dialects.mcp.events import Told, told
from transports.dialects.mcp.lines import event_notification, initial_state

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk

STATE_BYTES = 8 << 20  # of events in one initial_state: years of talk, and half of what a client must be able to read
TAKEN_OVER = "New stream() took over"


@dataclass(slots=True)
class History:
    """The newest messages, within a bound."""

    limit: int = STATE_BYTES
    messages: deque[bytes] = field(default_factory=deque)
    size: int = 0
    left_out: int = 0

    def add(self, msg: bytes) -> None:
        self.messages.append(msg)
        self.size += len(msg)
        while self.size > self.limit and len(self.messages) > 1:
            self.size -= len(self.messages.popleft())
            self.left_out += 1

    def all(self) -> list[bytes]:
        if not self.left_out:
            return list(self.messages)
        marker = {"type": "background_event", "message": f"{self.left_out} earlier events are not shown"}
        return [jsonrpc.line(marker).rstrip(b"\n"), *self.messages]


@dataclass(slots=True, eq=False)
class StreamSink:
    desk: "Desk"
    conversation: ConversationId
    request: RequestId  # whose cancellation ends it
    history: History | None = field(default_factory=History)  # None once it is live

    @property
    def answers(self) -> bool:
        return self.desk.peer.elicits

    def take(self, slice_: Slice) -> Iterable[Action]:
        for one in told(slice_):
            if one.msg is not None and one.type != "session_configured":
                if self.history is not None:
                    self.history.add(one.msg)
                else:
                    yield Write(event_notification(one.type, self._meta(), one.msg))
            yield from self._heed(slice_, one)
        if slice_.live and self.history is not None:
            history, self.history = self.history, None
            yield Write(initial_state(self._state_meta(), history.all()))
        yield from self.desk.questions.heed_pending(slice_, partial(self._ask, turn=slice_.turn))

    def lost(self, reason: str) -> Iterable[Action]:
        reader = self.desk.streams.get(self.conversation)
        if reader is not None and reader.sink is self:
            del self.desk.streams[self.conversation]
        yield disconnected(self.conversation, reason)
        yield from self.desk.nobody_reads(self.conversation, reason)

    def _heed(self, slice_: Slice, one: Told) -> Iterable[Action]:
        return self.desk.questions.heed(slice_, one, partial(self._ask, turn=one.turn))

    def _ask(self, request: ApprovalRequest, turn: TurnId | None) -> Iterable[Action]:
        questions = self.desk.questions
        if not self.answers:
            return questions.cannot_ask(request, self.conversation, self._say)
        created = self.desk.created.get(self.conversation)
        tool_call = str(created if created is not None else self.request)
        origin = Origin(tool_call, turn or "", self.desk.peer.wants_more_text, self.conversation)
        return questions.ask(
            request, self.conversation, lambda asked: ("elicitation/create", elicitation(asked, origin))
        )

    def _say(self, request: ApprovalRequest) -> Iterable[Action]:
        return self.desk.loudness.say("warning", waiting_text(request))

    def _meta(self) -> dict[str, Any]:
        if not self.desk.options.stream_meta:
            return {}
        return {"_meta": {"conversationId": self.conversation, "requestId": self.request}}

    def _state_meta(self) -> dict[str, Any]:
        return {"conversationId": self.conversation, **self._meta().get("_meta", {})}


def disconnected(conversation: ConversationId, reason: str) -> Action:
    params = {"_meta": {"conversationId": conversation}, "reason": reason}
    return Write(jsonrpc.notification("notifications/stream_disconnected", params))
