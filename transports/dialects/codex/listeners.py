"""`addConversationListener`: every listener gets every event, and the client gets each question once."""

from uuid import uuid4

from msgspec import Struct

from actors.messages.effects import Slice
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import ApprovalRequested
from actors.vocabulary.ids import ConversationId
from transports import jsonrpc
from transports.dialect import Write
from transports.dialects.codex import params as p
from transports.dialects.codex.conversations import CodexCall, codex_wording, invalid_request
from transports.dialects.codex.events import listener_notification, translate_slice
from transports.dialects.codex.questions import CodexPatch, codex_question
from transports.dialects.kit.conversation_readers import FULL
from transports.dialects.kit.reading_state import ReadingState
from transports.dialects.kit.script import Script
from transports.jsonrpc import JsonObject

CONFIGURED_SEQ = 1  # seq of `session_configured`, which listeners never get


class ListenerSink(Struct, eq=False):
    state: ReadingState
    conversation: ConversationId
    name: str
    answers: bool = True

    def take(self, slice_: Slice) -> None:
        questions = self.state.questions
        for event in translate_slice(slice_):
            if event.msg is not None:
                line = listener_notification(event.type, event.turn or "", self.conversation, event.msg)
                self.state.do(Write(line))
            questions.heed(slice_, event.record, self._ask)
        questions.heed_pending(slice_, self._ask)

    def handle_loss(self, reason: str) -> None:
        self.state.listeners.pop(self.name, None)
        self.state.log.say("warning", f"{self.conversation} can't be listened to any more: {reason}")

    def _ask(self, request: ApprovalRequested) -> None:
        method, params = approval(self.conversation, request)
        self.state.questions.ask(request, self.conversation, lambda number: jsonrpc.request(number, method, params))


def approval(conversation: ConversationId, request: ApprovalRequested) -> tuple[str, JsonObject]:
    """The method and params of a question, in snake case unlike all others."""
    question = codex_question(request.model_dump(mode="json"))
    common = {"conversation_id": conversation, "call_id": request.call_id}
    if not isinstance(question, CodexPatch):
        return "execCommandApproval", {**common, **question.members}
    members = question.members
    return "applyPatchApproval", {**common, "file_changes": members.pop("changes"), **members}


def add_listener(call: CodexCall, params: p.CodexConversationParams) -> Script[JsonObject]:
    """Listen from now on; the first listener of this client's new conversation hears it from the beginning."""
    state, conversation = call.state, params.conversation
    if state.readers.full:
        raise invalid_request(FULL)
    name = str(uuid4())
    reader = state.listeners[name] = state.readers.new(conversation, ListenerSink(state, conversation, name))
    first = conversation in state.without_listener
    state.without_listener.pop(conversation, None)
    try:
        with codex_wording(conversation):
            yield from state.readers.attach(reader, CONFIGURED_SEQ if first else None)
    except GreenroomError:
        state.listeners.pop(name, None)
        raise
    return {"subscriptionId": name}


def remove_listener(call: CodexCall, params: p.RemoveListenerParams) -> JsonObject:
    reader = call.state.listeners.pop(params.subscription, None)
    if reader is None:
        raise invalid_request(f"subscription not found: {params.subscription}")
    call.state.readers.leave(reader)
    return {}
