"""Scripts: requests to the daemon in the order of time, whoever carries them out.

A script is a generator. It yields a request and is sent the answer; an error is raised into it. Pure: it knows
neither socket nor clock, so the clients and the command line carry out the same.
"""

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

from greenroom.errors import ConnectionLost
from greenroom.wire import Json

ANSWER_S = 30.0  # the daemon never waits for itself; this is for a machine that swaps
PAGE = 1000  # the most that one request may list
AFTER_LAST_SEQ = 1 << 60  # after the last event of any history
HITS = 200  # the most of a search in one request
TERMINAL = frozenset({"task_complete", "turn_aborted"})
QUESTION = "approval_requested"  # the type of the event that asks


class ApiCall(NamedTuple):
    """A request. `again`: the connection was lost, and the daemon is given time to come back."""

    method: str
    params: Json
    wait_s: float | None = ANSWER_S
    again: bool = False


class NextNotification(NamedTuple):
    """The next notification of a subscription, however long it takes."""

    subscription: str


class ScriptTimeLimit(NamedTuple):
    """A limit for the rest of the script. Nothing is sent, and `{}` is the answer."""

    limit_s: float | None


Request = ApiCall | NextNotification | ScriptTimeLimit
T = TypeVar("T")
Script = Generator[Request, Json, T]


def retry_when_lost(request: ApiCall) -> Script[Json]:
    """The answer, through lost connections. For requests that can be repeated: they change nothing, or have a key."""
    while True:
        try:
            return (yield request)
        except ConnectionLost:
            request = request._replace(again=True)


def question_event(question: Json) -> Json:
    """An open approval as the event that asks for it. Its time and place may be unknown."""
    told = {"conversation": question["conversation"], "seq": question.get("seq"), "ts": question.get("ts") or 0.0}
    return {**told, "turn": None, "event": question}


def all_rows(**filters: Any) -> Script[list[Json]]:
    """All pages of the list."""
    return (yield from some_rows(None, **filters))[0]


def some_rows(most: int | None, **filters: Any) -> Script[tuple[list[Json], int]]:
    """At most so many rows of the list, and the number of all that the filters fit."""
    found: list[Json] = []
    cursor: str | None = None
    while True:
        limit = PAGE if most is None else max(1, min(PAGE, most - len(found)))
        asked = ApiCall("conversation/list", {**filters, "limit": limit, "cursor": cursor})
        listed = yield from retry_when_lost(asked)
        found += listed["conversations"]
        cursor = listed["next_cursor"]
        if cursor is None or (most is not None and len(found) >= most):
            return found[:most], int(listed["total"])


def page(conversation: str, after: int, limit: int) -> Script[Json]:
    """A page of the history."""
    params = {"conversation": conversation, "after": after, "limit": limit}
    return (yield from retry_when_lost(ApiCall("conversation/history", params)))
