"""Tasks of 2025-11-25, as clients see them: calls that are answered at once, and whose results are fetched. Pure.

A task is an input, and its id names that and the conversation: so it is found by any daemon, from any connection, as
long as the key of the input is kept.
"""

from datetime import UTC, datetime

from actors.conversation.facts import KEYS_KEPT_S
from actors.vocabulary.answers import Ending, InputFound, TurnResult
from actors.vocabulary.ids import ConversationId, InputId, conversation_of
from transports.jsonrpc import JsonObject

TASKS_FROM = "2025-11-25"
ABILITY: JsonObject = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
TTL_MS = int(KEYS_KEPT_S * 1000)
POLL_MS = 1_000  # a look costs less than a millisecond
STATUSES = {Ending.COMPLETED: "completed", Ending.INTERRUPTED: "cancelled", Ending.REPLACED: "cancelled"}


def task_of(conversation: ConversationId, input_: InputId) -> str:
    return f"{input_}@{conversation}"


def place_of(task: str) -> tuple[ConversationId, InputId] | None:
    conversation = conversation_of(task)
    return None if conversation is None else (conversation, InputId(task.partition("@")[0]))


def related(task: str) -> JsonObject:
    """The `_meta` of a message that belongs to a task."""
    return {"io.modelcontextprotocol/related-task": {"taskId": task}}


def status_of(found: InputFound, end: TurnResult | None) -> str:
    if found.ended is not None:
        return STATUSES.get(end.ending, "failed") if end is not None else "failed"
    return "input_required" if found.asks else "working"


def shown(task: str, found: InputFound, status: str, message: str = "") -> JsonObject:
    return {
        "taskId": task,
        "status": status,
        **({"statusMessage": message} if message else {}),
        "createdAt": _time(found.since),
        "lastUpdatedAt": _time(max(found.since, found.updated)),
        "ttl": TTL_MS,
        "pollInterval": POLL_MS,
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
