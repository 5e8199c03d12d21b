"""The open calls of `codex` and `codex-reply`, and which of them owns a turn.

A call is known from the moment it is accepted, so that it can be cancelled before anything happens. It chooses the id
of its input; when a turn takes that input, the turn's events are the call's. Of calls that share a turn, the call
whose input came first owns the events.
"""

from msgspec import UNSET, Struct, UnsetType, field

from actors.messages.effects import Slice
from actors.vocabulary.events import USER_MESSAGE, UserMessage, durable_adapter
from actors.vocabulary.ids import ConversationId, InputId, RequestId, TurnId
from transports.dialects.mcp.protocol.revisions import Introduction
from transports.dialects.mcp.protocol.tasks import RELATED_TASK, RelatedTask, TaskId

ProgressToken = int | str


class CallMeta(Struct, frozen=True, rename="camel"):
    """The `_meta` of notifications under a call."""

    request_id: RequestId
    thread_id: ConversationId | None
    related: RelatedTask | UnsetType = field(name=RELATED_TASK, default=UNSET)


class TurnRequest(Struct, eq=False):
    request: RequestId
    number: int
    input: InputId
    first: bool  # it began the conversation, so its turn has the request's id
    peer: Introduction  # the client
    progress: ProgressToken | None = None
    digest: str = ""  # of the tool and its arguments
    key: str = ""  # identifies a repeated call
    conversation: ConversationId | None = None
    sent: bool = False  # the conversation has its message, and decides the effect of a cancellation
    cancelled: bool = False
    task: TaskId | None = None  # the task whose end it waits for
    activity: str = "starting"
    reports: int = 0
    notices: tuple[str, ...] = ()  # for the result, as many clients show no notifications
    remarks: tuple[str, ...] = ()  # for the calling model: facts that are not in the answer

    def meta(self) -> CallMeta:
        return CallMeta(self.request, self.conversation, RelatedTask(str(self.task)) if self.task else UNSET)

    def event_id(self, turn: TurnId | None) -> str:
        if turn is None:
            return ""
        return str(self.request) if self.first else turn


class TurnRequests:
    def __init__(self) -> None:
        self._calls: dict[RequestId, TurnRequest] = {}
        self._owners: dict[TurnId, TurnRequest] = {}

    def add(self, call: TurnRequest) -> None:
        self._calls[call.request] = call

    def remove(self, call: TurnRequest) -> None:
        del self._calls[call.request]
        self._owners = {turn: owner for turn, owner in self._owners.items() if owner is not call}

    def get(self, request: RequestId) -> TurnRequest | None:
        return self._calls.get(request)

    def with_number(self, number: int) -> TurnRequest | None:
        return next((call for call in self._calls.values() if call.number == number), None)

    def in_conversation(self, conversation: ConversationId) -> list[TurnRequest]:
        """The calls of a conversation, oldest first."""
        return [call for call in self._calls.values() if call.conversation == conversation]

    def claim_turns(self, slice_: Slice) -> None:
        """Find the owners of new turns first: a turn's first event precedes the input that names its owner."""
        waiting = {call.input: call for call in self.in_conversation(slice_.conversation)}
        for record in slice_.records:
            if record.type == USER_MESSAGE and record.turn is not None and record.turn not in self._owners:
                message = durable_adapter.validate_json(record.body)
                if isinstance(message, UserMessage) and message.input_id in waiting:
                    self._owners[record.turn] = waiting[message.input_id]

    def owner(self, conversation: ConversationId, turn: TurnId | None) -> TurnRequest | None:
        """The call of this turn; failing that, the call that has waited longest."""
        owner = self._owners.get(turn) if turn is not None else None
        waiting = self.in_conversation(conversation)
        return owner or (waiting[0] if waiting else None)

    def turn_ended(self, turn: TurnId | None) -> None:
        if turn is not None:
            self._owners.pop(turn, None)
