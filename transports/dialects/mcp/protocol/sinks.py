"""The sinks: a call shows its turn, a stream its whole conversation, a resource only that it has changed."""

from functools import partial

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from actors.messages.effects import Slice
from actors.vocabulary.events import TERMINAL, ApprovalRequested
from actors.vocabulary.ids import ConversationId, RequestId, TurnId
from transports import jsonrpc
from transports.dialect import Wake, Write
from transports.dialects.codex.events import (
    CodexEvent,
    EventParams,
    event_notification,
    history_of,
    initial_state,
    translate_slice,
)
from transports.dialects.kit.conversation_readers import SinkReader
from transports.dialects.kit.paged_history import RecentMessages
from transports.dialects.kit.questions import DISMISSED_REASON, describe_question, waiting_text
from transports.dialects.mcp.protocol.elicitation import elicitation
from transports.dialects.mcp.protocol.listening_request import SubscriptionMeta
from transports.dialects.mcp.protocol.notifications import note_activity, tell_progress
from transports.dialects.mcp.protocol.revisions import TELLS_MORE
from transports.dialects.mcp.protocol.state import McpState
from transports.dialects.mcp.protocol.tasks import RelatedTask, TaskId, TaskMeta
from transports.dialects.mcp.protocol.turn_requests import TurnRequest

HOW_TO_GO_ON = (
    "To go on, say so with `codex-reply` and let a person answer the next question, with `greenroom approve` or the "
    "tool `answer_approval`, or make a conversation with approval-policy never"
)
UPDATED = "updated"
UPDATED_EVERY_S = 1.0  # between notifications; a running turn has many events a second


class AskingSink(Struct, eq=False):
    """A sink through which a person can be asked if the client can show forms; else the client is told."""

    state: McpState
    conversation: ConversationId

    @property
    def answers(self) -> bool:
        return self.state.peer.elicits

    def put(self, request: ApprovalRequested, tool_call: RequestId, event: str, task: TaskId | None = None) -> None:
        questions, peer = self.state.questions, self.state.peer

        def write(number: int) -> bytes:
            more = peer.revision >= TELLS_MORE
            params = elicitation(request, self.conversation, str(tool_call), event, more_text=more)
            meta = TaskMeta(related=RelatedTask(str(task))) if task else None
            return jsonrpc.request(number, "elicitation/create", replace(params, meta=meta))

        if peer.elicits:
            questions.ask(request, self.conversation, write)
        else:
            questions.cannot_ask(request, self.conversation, self.say)

    def say(self, request: ApprovalRequested) -> None:
        self.state.log.say("warning", waiting_text(request))


# --- calls ----------------------------------------------------------------------------------------------------------


class CallSink(AskingSink, eq=False):
    """The sink of `codex` and `codex-reply`: each event once, under the call that owns it."""

    def take(self, slice_: Slice) -> None:
        calls, questions = self.state.calls, self.state.questions
        calls.claim_turns(slice_)
        for event in translate_slice(slice_):
            call = calls.owner(self.conversation, event.turn)
            if call is not None:
                self._write(call, event)
                note_activity(call, event)
                dismissed = questions.denied_since_dismissed(event.record)
                call.remarks += (denied_remark(dismissed),) if dismissed is not None else ()
            questions.heed(slice_, event.record, partial(self._ask, of=event.turn))
            if event.type in TERMINAL:
                calls.turn_ended(event.turn)
        questions.heed_pending(slice_, partial(self._ask, of=slice_.turn))

    def handle_loss(self, reason: str) -> None:
        """Do nothing: the calls get the conversation's answer, or a refusal."""

    def _write(self, call: TurnRequest, event: CodexEvent) -> None:
        if event.msg is None:
            return
        event_id = "" if event.type == "session_configured" else call.event_id(event.turn)
        params = EventParams(call.meta(), event_id)
        self.state.do(Write(event_notification("codex/event", params, event.msg)))
        if self.state.has_twin(event.type):
            self.state.do(Write(event_notification(event.type, params, event.msg)))

    def _ask(self, request: ApprovalRequested, of: TurnId | None) -> None:
        call = self.state.calls.owner(self.conversation, of)
        if call is not None:
            self.put(request, call.request, call.event_id(of), call.task)

    def say(self, request: ApprovalRequested) -> None:
        """Tell every call that waits for it, at once and with each report."""
        text = waiting_text(request)
        calls = self.state.calls.in_conversation(self.conversation)
        for call in calls:
            call.activity = text
            tell_progress(self.state, call, text)
        if all(call.progress is None for call in calls):
            AskingSink.say(self, request)  # a bare super() fails: a Struct with slots is a new class


def call_reader(state: McpState, conversation: ConversationId) -> SinkReader | None:
    return next(
        (reader for reader in state.readers.in_conversation(conversation) if isinstance(reader.sink, CallSink)), None
    )


# --- streams --------------------------------------------------------------------------------------------------------


class StreamMeta(Struct, frozen=True, rename="camel"):
    conversation_id: ConversationId
    request_id: RequestId | UnsetType = UNSET


class Disconnection(Struct, frozen=True):
    meta: StreamMeta = field(name="_meta")
    reason: str


class StreamSink(AskingSink, eq=False):
    """`conversationStream`: the whole history as `initial_state`, then live events, without gap or duplicate.

    The history is bounded: of a very long one the newest events are sent, and a first event says so.
    """

    request: RequestId  # its cancellation ends the stream
    history: RecentMessages | None = field(default_factory=RecentMessages)  # None once it is live

    def take(self, slice_: Slice) -> None:
        do, questions = self.state.do, self.state.questions
        for event in translate_slice(slice_):
            if event.msg is not None and event.type != "session_configured":
                if self.history is not None:
                    self.history.add(event.msg)
                else:
                    do(Write(event_notification(event.type, self._params(), event.msg)))
            questions.heed(slice_, event.record, partial(self._ask, turn=event.turn))
        if slice_.live and self.history is not None:
            history, self.history = self.history, None
            meta = self._params().meta or StreamMeta(self.conversation)
            do(Write(initial_state(meta, history_of(history.messages, history.left_out))))
        questions.heed_pending(slice_, partial(self._ask, turn=slice_.turn))

    def handle_loss(self, reason: str) -> None:
        reader = self.state.streams.get(self.conversation)
        if reader is not None and reader.sink is self:
            del self.state.streams[self.conversation]
        self.state.do(disconnection(self.conversation, reason))

    def _ask(self, request: ApprovalRequested, turn: TurnId | None) -> None:
        created = self.state.creating_requests.get(self.conversation)
        self.put(request, created if created is not None else self.request, turn or "")

    def _params(self) -> EventParams:
        told = self.state.options.stream_meta
        return EventParams(StreamMeta(self.conversation, self.request) if told else UNSET)


def disconnection(conversation: ConversationId, reason: str) -> Write:
    params = Disconnection(StreamMeta(conversation), reason)
    return Write(jsonrpc.notification("notifications/stream_disconnected", params))


# --- resources ------------------------------------------------------------------------------------------------------


class ResourceUpdate(Struct, frozen=True):
    meta: SubscriptionMeta | UnsetType = field(name="_meta")
    uri: str


class UpdateSink(Struct, eq=False):
    """Reports changes, at bounded intervals; the same for both addresses of a conversation."""

    state: McpState
    conversation: ConversationId
    uris: set[str]
    number: int  # names its timer
    meta: SubscriptionMeta | UnsetType = UNSET
    acknowledged: bool = True  # false before the client got the acknowledgement
    resting: bool = False
    changed: bool = False
    answers: bool = False

    def take(self, slice_: Slice) -> None:
        self.state.questions.settle(slice_)
        if slice_.records and self.acknowledged:
            self.changed = True
            if not self.resting:
                self.notify_if_changed()

    def notify_if_changed(self) -> None:
        self.resting = self.changed
        if self.changed:
            self.changed = False
            for uri in sorted(self.uris):
                params = ResourceUpdate(self.meta, uri)
                self.state.do(Write(jsonrpc.notification("notifications/resources/updated", params)))
            self.state.do(Wake(f"{UPDATED}:{self.number}", UPDATED_EVERY_S))

    def handle_loss(self, reason: str) -> None:  # noqa: ARG002  # resources have no notification of an end
        self.state.watched_resources.pop(self.conversation, None)


# --- words ----------------------------------------------------------------------------------------------------------


def denied_remark(request: ApprovalRequested) -> str:
    denial = f"The agent asked for {describe_question(request)}; {DISMISSED_REASON}, so it was denied."
    return f"{denial} {HOW_TO_GO_ON}"
