"""`addConversationListener`: every listener gets every event, and the client gets each question once."""

from uuid import uuid4

from msgspec import Struct

from actors.messages.effects import Slice
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import ApprovalRequested
from actors.vocabulary.ids import CallId, ConversationId, SubscriptionId
from transports import jsonrpc
from transports.dialect import Write
from transports.dialects.codex import params as p
from transports.dialects.codex.conversations import CodexCall, codex_wording, invalid_request
from transports.dialects.codex.events import listener_notification, translate_slice
from transports.dialects.codex.questions import Changes, CodexPatch, codex_question
from transports.dialects.kit.conversation_readers import FULL
from transports.dialects.kit.reading_state import ReadingState
from transports.dialects.kit.script import Script

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


class CommandApproval(Struct, frozen=True, omit_defaults=True):
    conversation_id: ConversationId
    call_id: CallId
    command: list[str]
    cwd: str
    reason: str | None = None


class PatchApproval(Struct, frozen=True, omit_defaults=True):
    conversation_id: ConversationId
    call_id: CallId
    file_changes: Changes
    reason: str | None = None
    grant_root: str | None = None


def approval(conversation: ConversationId, request: ApprovalRequested) -> tuple[str, CommandApproval | PatchApproval]:
    """The method and params of a question, in snake case unlike all others."""
    question, call = codex_question(request.model_dump(mode="json")), request.call_id
    if isinstance(question, CodexPatch):
        patch = PatchApproval(conversation, call, question.changes, question.reason, question.grant_root)
        return "applyPatchApproval", patch
    return "execCommandApproval", CommandApproval(conversation, call, question.command, question.cwd, question.reason)


class AddedListener(Struct, frozen=True, rename="camel"):
    subscription_id: SubscriptionId


def add_listener(call: CodexCall, params: p.CodexConversationParams) -> Script[AddedListener]:
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
    return AddedListener(SubscriptionId(name))


def remove_listener(call: CodexCall, params: p.RemoveListenerParams) -> Done:
    reader = call.state.listeners.pop(params.subscription, None)
    if reader is None:
        raise invalid_request(f"subscription not found: {params.subscription}")
    call.state.readers.leave(reader)
    return Done()
