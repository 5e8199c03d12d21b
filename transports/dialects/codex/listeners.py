"""`addConversationListener`: every listener gets every event, and a question is put to the client once."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from actors.answers import Attached
from actors.effects import Slice
from actors.events import ApplyPatchApprovalRequest, ApprovalRequest, ExecApprovalRequest
from actors.ids import ConversationId
from transports import jsonrpc
from transports.dialect import Action, Write
from transports.dialects.codex import params as p
from transports.dialects.codex.conversations import failed
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.call_sink import waiting_text
from transports.dialects.mcp.events import told
from transports.dialects.mcp.lines import listener_notification
from transports.dialects.mcp.readers import FULL

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk

CONFIGURED = 1  # seq of `session_configured`, which listeners are never told

Known = ExecApprovalRequest | ApplyPatchApprovalRequest  # what Codex clients can be asked


@dataclass(slots=True, eq=False)
class ListenerSink:
    desk: "Desk"
    conversation: ConversationId
    name: str
    answers: bool = True

    def take(self, slice_: Slice) -> Iterable[Action]:
        questions = self.desk.questions
        for one in told(slice_):
            if one.msg is not None:
                yield Write(listener_notification(one.type, one.turn or "", self.conversation, one.msg))
            yield from questions.heed(slice_, one, self._ask)
        yield from questions.heed_pending(slice_, self._ask)

    def lost(self, reason: str) -> Iterable[Action]:
        self.desk.listeners.pop(self.name, None)
        yield from self.desk.loudness.say("warning", f"{self.conversation} can't be listened to any more: {reason}")
        yield from self.desk.nobody_reads(self.conversation, reason)

    def _ask(self, request: ApprovalRequest) -> Iterable[Action]:
        if not isinstance(request, Known):
            return self.desk.questions.cannot_ask(request, self.conversation, self._say)
        return self.desk.questions.ask(request, self.conversation, lambda _: approval(self.conversation, request))

    def _say(self, request: ApprovalRequest) -> Iterable[Action]:
        return self.desk.loudness.say("warning", waiting_text(request))


def approval(conversation: ConversationId, request: Known) -> tuple[str, dict[str, Any]]:
    """Method and params. These alone are written in snake case."""
    common: dict[str, Any] = {"conversation_id": conversation, "call_id": request.call_id}
    reason = {"reason": request.reason} if request.reason is not None else {}
    if isinstance(request, ExecApprovalRequest):
        return "execCommandApproval", {
            **common,
            "command": list(request.command),
            "cwd": str(request.cwd),
            **reason,
        }
    root = {"grant_root": str(request.grant_root)} if request.grant_root is not None else {}
    changes = request.model_dump(mode="json")["changes"]
    return "applyPatchApproval", {**common, "file_changes": changes, **reason, **root}


def add_listener(call: Call, wanted: p.Named) -> Iterable[Action]:
    """From now on; the first one of a conversation that this client made hears it from the beginning."""
    desk, conversation = call.desk, wanted.conversation
    if desk.readers.full:
        return call.fail(jsonrpc.INVALID_REQUEST, FULL)
    name = str(uuid4())
    reader = desk.listeners[name] = desk.readers.new(conversation, ListenerSink(desk, conversation, name))

    def attached(answer: Any) -> Iterable[Action]:
        if not isinstance(answer, Attached):
            desk.listeners.pop(name, None)
            return failed(call, conversation, answer)
        return call.finish({"subscriptionId": name})

    first = conversation in desk.unheard
    desk.unheard.pop(conversation)
    return desk.readers.attach(reader, CONFIGURED if first else None, attached)


def remove_listener(call: Call, wanted: p.RemoveListener) -> Iterable[Action]:
    reader = call.desk.listeners.pop(wanted.subscription, None)
    if reader is None:
        yield from call.fail(jsonrpc.INVALID_REQUEST, f"subscription not found: {wanted.subscription}")
        return
    yield from call.desk.leave(reader)
    yield from call.finish({})
