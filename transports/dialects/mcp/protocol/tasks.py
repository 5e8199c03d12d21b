"""Tasks: calls that are answered at once, with results to be fetched. No task state is stored.

2025-11-25 has them as its own part, 2026-07-28 as an extension. A task is an input; its id names the input and the
conversation, so any daemon of the home finds it, from any connection. Its state follows from its conversation and the
history.
"""

from msgspec import UNSET, Struct, UnsetType, field

from actors.conversation.facts import KEYS_KEPT_S
from actors.messages.conversation import Inspect, Interrupt, WithdrawInput
from actors.vocabulary.answers import AcceptedInput, ConversationSummary, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import UnknownConversation
from actors.vocabulary.events import (
    TERMINAL,
    ApprovalRequested,
    InputQueued,
    InputWithdrawn,
    UserMessage,
    durable_adapter,
    type_of,
)
from actors.vocabulary.ids import ConversationId, InputId, TurnId
from actors.vocabulary.records import Record
from transports import jsonrpc
from transports.dialects.kit.identifiers import conversation_id
from transports.dialects.kit.moments import moment
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script, ask, command
from transports.dialects.kit.turn_endings import LAST_WORDS, ending_of
from transports.dialects.mcp.protocol.introduction import META
from transports.supervisor_requests import ReadHistory

TTL_MS = int(KEYS_KEPT_S * 1000)  # at least: a task exists as long as its conversation
POLL_MS = 1_000  # a look costs less than a millisecond
JUST_BEFORE = 64  # the most events that are stored in one step with a message
MENTIONS = frozenset({type_of(InputQueued), type_of(UserMessage), type_of(InputWithdrawn)})
STATUSES = {Ending.COMPLETED: "completed", Ending.INTERRUPTED: "cancelled", Ending.REPLACED: "cancelled"}
RELATED_TASK = META + "related-task"
CANCEL_REASON = "its task was cancelled"


class TaskId(Struct, frozen=True):
    """`after`: an event before all events about the input."""

    conversation: ConversationId
    input: InputId
    after: int

    def __str__(self) -> str:
        return f"{self.conversation}.{self.after}.{self.input}"


class RelatedTask(Struct, frozen=True, rename="camel"):
    task_id: str


class TaskMeta(Struct, frozen=True):
    """The `_meta` of a message that belongs to a task. `reply`: for the calling model, until there is a result."""

    reply: str | UnsetType = field(name=META + "model-immediate-response", default=UNSET)
    related: RelatedTask | UnsetType = field(name=RELATED_TASK, default=UNSET)


class DescribedTask(Struct, frozen=True, rename="camel"):
    """The task as 2025-11-25 has it."""

    task_id: str
    status: str
    status_message: str | UnsetType
    created_at: str
    last_updated_at: str
    ttl: int = TTL_MS
    poll_interval: int = POLL_MS
    meta: TaskMeta | UnsetType = field(name="_meta", default=UNSET)


class TaskState(Struct, frozen=True):
    """The state of a task. Without `turn`, the message waits or was withdrawn; with `result`, its turn has ended."""

    created: float
    updated: float
    turn: TurnId | None = None
    questions: tuple[ApprovalRequested, ...] = ()
    withdrawn: bool = False
    result: TurnResult | None = None

    @property
    def is_over(self) -> bool:
        return self.withdrawn or self.result is not None

    @property
    def status(self) -> str:
        if self.withdrawn:
            return "cancelled"
        if self.result is not None:
            return STATUSES.get(self.result.ending, "failed")
        return "input_required" if self.questions else "working"

    def stop(self, task: TaskId, by: str) -> WithdrawInput | Interrupt:
        """The command that cancels the task: it interrupts the turn that took the input, or withdraws the input."""
        if self.turn is None:
            return WithdrawInput(task.input, CANCEL_REASON, by)
        return Interrupt(by, message=CANCEL_REASON, turn=self.turn)


def task_of(conversation: ConversationId, accepted: AcceptedInput) -> TaskId:
    return TaskId(conversation, accepted.input, max(0, accepted.seq - JUST_BEFORE))


def task_named(text: str) -> TaskId:
    """Read an id. Raises MethodError for a foreign one."""
    match text.split("."):
        case [conversation, after, input_] if after.isdecimal() and input_:
            try:
                return TaskId(conversation_id(conversation), InputId(input_), int(after))
            except ValueError:
                pass
        case _:
            pass
    raise _no_task(text)


def describe_task(task: TaskId, state: TaskState, message: str) -> DescribedTask:
    times = moment(state.created), moment(max(state.created, state.updated))
    return DescribedTask(str(task), state.status, message or UNSET, *times)


def read_state(task: TaskId) -> Script[TaskState]:
    """The present state of a task. Raises MethodError if there is no such task."""
    try:
        summary = yield from command(task.conversation, Inspect())
        return (yield from _read_history(task, summary))
    except UnknownConversation:
        raise _no_task(task) from None


def _read_history(task: TaskId, summary: ConversationSummary) -> Script[TaskState]:
    """Read from the acceptance of the message to the end of its turn, or until it is known to run or to wait."""
    after, created, turn = task.after, 0.0, None
    last_records: list[Record] = []
    while True:
        history = yield from ask(ReadHistory(task.conversation, after))
        for record in history.page.records:
            after = record.seq
            if turn is None and record.type in MENTIONS:
                event = durable_adapter.validate_json(record.body)
                if not isinstance(event, InputQueued | UserMessage | InputWithdrawn) or event.input_id != task.input:
                    continue
                created = created or record.ts
                turn = record.turn if isinstance(event, UserMessage) else None
                if isinstance(event, InputWithdrawn):
                    return TaskState(created, record.ts, withdrawn=True)
            elif turn is not None and record.turn == turn:
                last_records = [*last_records, record][-LAST_WORDS:]
                if record.type in TERMINAL:
                    return TaskState(created, record.ts, turn, result=ending_of(turn, last_records))
        waits = any(input_.input == task.input for input_ in summary.waiting)
        if created and (waits or (turn is not None and turn == summary.turn)):
            return TaskState(created, summary.updated, turn, () if waits else summary.pending)
        if history.complete:
            break
    if not created:
        raise _no_task(task)
    return TaskState(created, created, turn)  # its turn has ended or begun since the summary was made


def _no_task(text: object) -> MethodError:
    return MethodError(jsonrpc.INVALID_PARAMS, f"Invalid params: no task {text}: there is no such task")
