"""Tasks in the client's terms: calls that are answered at once, with results to be fetched. Pure.

2025-11-25 has them as its own part, 2026-07-28 as an extension. A task is an input; its id names the input and the
conversation, so any daemon of the home finds it, from any connection.
"""

from msgspec import Struct

from actors.conversation.facts import KEYS_KEPT_S
from actors.vocabulary.answers import AcceptedInput, Ending, InputFound, TurnResult
from actors.vocabulary.ids import ConversationId, InputId
from transports import jsonrpc
from transports.dialects.kit.identifiers import conversation_id
from transports.dialects.kit.moments import moment
from transports.dialects.kit.refusals import MethodError
from transports.jsonrpc import JsonObject

TTL_MS = int(KEYS_KEPT_S * 1000)
POLL_MS = 1_000  # a look costs less than a millisecond
JUST_BEFORE = 64  # the most events that are stored in one step with a message
STATUSES = {Ending.COMPLETED: "completed", Ending.INTERRUPTED: "cancelled", Ending.REPLACED: "cancelled"}


class TaskId(Struct, frozen=True):
    """`after`: an event before all events about the input."""

    conversation: ConversationId
    input: InputId
    after: int

    def __str__(self) -> str:
        return f"{self.conversation}.{self.after}.{self.input}"


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
    raise no_task(text)


def no_task(text: object, why: str = "there is no such task") -> MethodError:
    return MethodError(jsonrpc.INVALID_PARAMS, f"Invalid params: no task {text}: {why}")


def related_task_meta(task: str) -> JsonObject:
    """The `_meta` of a message that belongs to a task."""
    return {"io.modelcontextprotocol/related-task": {"taskId": task}}


def status_of(input_: InputFound, end: TurnResult | None) -> str:
    if input_.ended is not None:
        return STATUSES.get(end.ending, "failed") if end is not None else "failed"
    return "input_required" if input_.asks else "working"


def describe_task(task: str, input_: InputFound, status: str, message: str = "") -> JsonObject:
    return {
        "taskId": task,
        "status": status,
        **({"statusMessage": message} if message else {}),
        "createdAt": moment(input_.since),
        "lastUpdatedAt": moment(max(input_.since, input_.updated)),
        "ttl": TTL_MS,
        "pollInterval": POLL_MS,
    }
