"""The status of a task of the extension, derived from its conversation and history; no task state is stored."""

from msgspec import Struct

from actors.messages.conversation import Inspect, Send
from actors.vocabulary.answers import AcceptedInput, Summary, TurnResult
from actors.vocabulary.errors import UnknownConversation
from actors.vocabulary.events import (
    TERMINAL,
    ApprovalRequest,
    InputQueued,
    InputWithdrawn,
    UserMessage,
    durable_adapter,
)
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.records import Record
from transports.dialects.kit.moments import moment
from transports.dialects.kit.script import Script, ask, command
from transports.dialects.kit.turn_endings import LAST_WORDS, ending_of
from transports.dialects.mcp.protocol.tasks import POLL_MS, TaskId, no_task, task_of
from transports.jsonrpc import JsonObject
from transports.supervisor_requests import ReadHistory

MENTIONS = frozenset({"input_queued", "user_message", "input_withdrawn"})


class TaskState(Struct, frozen=True):
    """The state of a task. Without `turn`, the message waits or was withdrawn; with `result`, its turn has ended."""

    created: float
    updated: float
    turn: TurnId | None = None
    questions: tuple[ApprovalRequest, ...] = ()
    withdrawn: bool = False
    result: TurnResult | None = None


def begin_task(conversation: ConversationId, message: Send) -> Script[tuple[TaskId, TaskState]]:
    """Send the message; the task exists as soon as it is stored."""
    accepted = yield from command(conversation, message)
    assert isinstance(accepted, AcceptedInput)  # noqa: S101  # the end of its turn is not awaited
    task = task_of(conversation, accepted)
    return task, (yield from read_state(task))


def read_state(task: TaskId) -> Script[TaskState]:
    """The present state of a task. Raises MethodError if there is no such task."""
    try:
        summary = yield from command(task.conversation, Inspect())
        return (yield from _read_history(task, summary))
    except UnknownConversation:
        raise no_task(task) from None


def _read_history(task: TaskId, summary: Summary) -> Script[TaskState]:
    """Read from the acceptance of the message to the end of its turn, or to the present."""
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
            return TaskState(created, created, turn, () if waits else summary.pending)
        if history.complete:
            break
    if not created:
        raise no_task(task)
    return TaskState(created, created, turn)  # its turn has ended or begun since the summary was made


def describe_task(task: TaskId, task_state: TaskState, status: str, **more: object) -> JsonObject:
    return {
        "taskId": str(task),
        "status": status,
        "createdAt": moment(task_state.created),
        "lastUpdatedAt": moment(task_state.updated),
        "ttlMs": None,  # it exists as long as its conversation
        "pollIntervalMs": POLL_MS,
        **more,
    }
