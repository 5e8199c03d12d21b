"""The methods of the clients, each written once: what is asked of the daemon, in the order of time.

A script is a generator. It yields a request and is sent the answer; an error is raised into it. Pure: it knows
neither socket nor clock, so the blocking client and the asyncio client carry out the same.
"""

from base64 import b64decode
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Literal, NamedTuple, TypeVar, cast
from uuid import uuid4

from greenroom.answers import Conversation, Created, Hit, Row, Status, Stopped, Taken, TurnOver
from greenroom.errors import ConnectionLost, Refusal
from greenroom.events import (
    KINDS,
    ApplyPatchApprovalRequest,
    ApprovalPolicy,
    BusyPolicy,
    Decision,
    ExecApprovalRequest,
    ImageItem,
    LocalImageItem,
    SandboxMode,
    TextItem,
)
from greenroom.record import Event, Gap, UnknownEvent
from greenroom.wire import Json

ANSWER_S = 30.0  # the daemon never waits for itself; this is for a machine that swaps
LONG_S = 120.0  # for what copies or deletes a whole history
PAGE = 1000  # the most that one request may list
HITS = 200  # the same for hits of a search
LOOK_BACK = 200  # events, in which the end of the last turn is looked for
TERMINAL = frozenset({"task_complete", "turn_aborted"})


class ApiCall(NamedTuple):
    """A request. `again`: the connection was lost, and the daemon is given time to come back."""

    method: str
    params: Json
    wait_s: float | None = ANSWER_S
    again: bool = False


class NextNotification(NamedTuple):
    """The next notification of a subscription, however long it takes."""

    subscription: str


class TimeLimit(NamedTuple):
    """A limit for the rest of the script. Nothing is sent, and `{}` is the answer."""

    limit_s: float | None


Request = ApiCall | NextNotification | TimeLimit
Question = ExecApprovalRequest | ApplyPatchApprovalRequest
Prompt = str | list[TextItem | ImageItem | LocalImageItem]
QUESTIONS = frozenset({ExecApprovalRequest.type, ApplyPatchApprovalRequest.type})
T = TypeVar("T")
Script = Generator[Request, Json, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(TurnOver):
    """A turn that has ended."""

    conversation: str  # Whose turn it was.


# --- conversations --------------------------------------------------------------------------------------------------


def create(
    name: str | None = None,
    *,
    cwd: str | PathLike[str] | None = None,
    model: str | None = None,
    provider: str | None = None,
    profile: str | None = None,
    approval_policy: ApprovalPolicy | None = None,
    sandbox: SandboxMode | None = None,
    config: Mapping[str, Any] | None = None,
) -> Script[Created]:
    """Begin a conversation. Its commands run in `cwd`, with the environment of this client."""
    given = {
        "name": name,
        "cwd": None if cwd is None else fspath(cwd),
        "model": model,
        "provider": provider,
        "profile": profile,
        "approval_policy": approval_policy,
        "sandbox": sandbox,
        "config": config or {},
    }
    return Created.of((yield ApiCall("conversation/create", given)))


def get(conversation: str) -> Script[Conversation]:
    """Look at one conversation."""
    found = yield from _surely(ApiCall("conversation/get", {"conversation": conversation}))
    return Conversation.of({**found, "pending": _questions(found["pending"])})


def conversations(*, archived: bool = False, state: str | None = None, cwd: str | None = None) -> Script[list[Row]]:
    """List conversations, most recently used first."""
    return [Row.of(row) for row in (yield from rows(archived=archived, state=state, cwd=cwd))]


def search(
    query: str,
    *,
    conversation: str | None = None,
    cwd: str | None = None,
    since: float | None = None,
    order: Literal["newest", "best"] = "newest",
    limit: int = 20,
) -> Script[list[Hit]]:
    """Search what was said in any conversation. What was stored in the last seconds may be missing."""
    params = {"query": query, "conversation": conversation, "cwd": cwd, "since": since, "order": order}
    found: list[Hit] = []
    cursor: str | None = None
    while len(found) < limit:
        page = min(limit - len(found), HITS)
        answer = yield from _surely(ApiCall("conversation/search", {**params, "limit": page, "cursor": cursor}))
        found += map(Hit.of, answer["hits"])
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    return found


def rename(conversation: str, name: str | None) -> Script[None]:
    """Give a name; None takes it away."""
    yield ApiCall("conversation/rename", {"conversation": conversation, "name": name})


def archive(conversation: str, *, archived: bool = True) -> Script[None]:
    """Leave a conversation out of lists; `archived=False` brings it back."""
    yield ApiCall("conversation/archive", {"conversation": conversation, "archived": archived})


def delete(conversation: str) -> Script[None]:
    """Delete a conversation for good."""
    yield ApiCall("conversation/delete", {"conversation": conversation}, LONG_S)


def fork(conversation: str, *, at: int | None = None, name: str | None = None) -> Script[str]:
    """Copy the history, up to the event `at`, into a new conversation. Its id."""
    made = yield ApiCall("conversation/fork", {"conversation": conversation, "at": at, "name": name}, LONG_S)
    return str(made["conversation"])


def restart(conversation: str) -> Script[None]:
    """Go on with a conversation that has failed."""
    yield ApiCall("conversation/restart", {"conversation": conversation})


# --- turns ----------------------------------------------------------------------------------------------------------


def send(
    conversation: str,
    prompt: Prompt,
    *,
    if_busy: BusyPolicy = "steer",
    key: str | None = None,
) -> Script[Taken]:
    """Say something and return when it is stored; the turn goes on by itself.

    With the same `key` the same is said only once, however often it is sent. Each call makes one of its own, so that
    it can send again after a lost connection.
    """
    return Taken.of((yield from _surely(_send(conversation, prompt, if_busy, key, wait=False))))


def send_and_wait(
    conversation: str,
    prompt: Prompt,
    *,
    if_busy: BusyPolicy = "steer",
    key: str | None = None,
    timeout_s: float | None = None,
) -> Script[Turn]:
    """Say something and wait for the end of the turn that takes it, through restarts of the daemon.

    When the time runs out, TimedOut is raised and the turn goes on; `interrupt` stops it.
    """
    yield TimeLimit(timeout_s)
    answer = yield from _surely(_send(conversation, prompt, if_busy, key, wait=True))
    if "ending" not in answer:
        raise Refusal("the turn that took this key is no longer stored")
    return Turn.of({**answer, "conversation": conversation})


def run(
    prompt: Prompt,
    *,
    name: str | None = None,
    cwd: str | PathLike[str] | None = None,
    model: str | None = None,
    profile: str | None = None,
    approval_policy: ApprovalPolicy | None = None,
    sandbox: SandboxMode | None = None,
    config: Mapping[str, Any] | None = None,
    timeout_s: float | None = None,
) -> Script[Turn]:
    """Begin a conversation with a prompt, and wait for the end of its turn."""
    yield TimeLimit(timeout_s)
    made = yield from create(
        name,
        cwd=cwd,
        model=model,
        profile=profile,
        approval_policy=approval_policy,
        sandbox=sandbox,
        config=config,
    )
    return (yield from send_and_wait(made.conversation, prompt, timeout_s=timeout_s))


def wait(conversation: str, *, timeout_s: float | None = None) -> Script[Turn | None]:
    """Wait until the turn that runs now has ended. The last turn, or None if there was none lately."""
    yield TimeLimit(timeout_s)
    again = False
    while True:
        try:
            params = {"conversation": conversation, "after": None, "read_only": True}
            found = yield ApiCall("conversation/attach", params, again=again)
            running = found["summary"]["turn"] is not None
            while running:
                message = yield NextNotification(found["subscription"])
                if message["method"] == "ended":
                    break  # it has a new owner, which is asked next
                running = not any(one["event"]["type"] in TERMINAL for one in message["params"]["events"])
            else:
                return (yield from _last_turn(found["summary"]["conversation"]))
        except ConnectionLost:
            again = True


def interrupt(
    conversation: str,
    *,
    kill: bool = False,
    clear: bool = False,
    reason: str = "",
    timeout_s: float | None = ANSWER_S,
) -> Script[Stopped]:
    """Stop the turn that runs and return when all of it is gone. The conversation stays."""
    params = {"conversation": conversation, "kill": kill, "clear": clear, "reason": reason}
    return Stopped.of((yield ApiCall("conversation/interrupt", params, timeout_s)))


# --- approvals and the rest -----------------------------------------------------------------------------------------


def approvals(conversation: str | None = None) -> Script[list[Question]]:
    """The questions that wait for an answer, oldest first, as the events that ask them."""
    found = yield from _surely(ApiCall("approvals/list", {"conversation": conversation}))
    return _questions(found["approvals"])


def answer(approval: str, decision: Decision, *, reason: str = "") -> Script[None]:
    """Answer a question. Raises AlreadyAnswered if somebody was quicker."""
    yield ApiCall("approvals/answer", {"approval": approval, "decision": decision, "reason": reason})


def status() -> Script[Status]:
    """Look at the daemon itself."""
    return Status.of((yield from _surely(ApiCall("daemon/status", {}))))


def call(method: str, **params: Any) -> Script[Json]:
    """Any method of the control API, with its answer as JSON."""
    return (yield ApiCall(method, params))


# --- pieces ---------------------------------------------------------------------------------------------------------


def _surely(request: ApiCall) -> Script[Json]:
    """The answer, through lost connections. For requests that can be repeated: they change nothing, or have a key."""
    while True:
        try:
            return (yield request)
        except ConnectionLost:
            request = request._replace(again=True)


def _send(conversation: str, prompt: Prompt, if_busy: BusyPolicy, key: str | None, *, wait: bool) -> ApiCall:
    said: Json = {"prompt": prompt} if isinstance(prompt, str) else {"items": prompt}
    params = {"conversation": conversation, **said, "if_busy": if_busy, "key": key or uuid4().hex, "wait": wait}
    return ApiCall("conversation/send", params, None if wait else ANSWER_S)


def event_of(envelope: Json) -> Event:
    body = envelope["event"]
    kind = Gap if body["type"] == Gap.type else KINDS.get(body["type"])
    if kind is None:
        return UnknownEvent.of({**envelope, "body": body})
    chunk = {"chunk": b64decode(body["chunk"])} if "chunk" in body else {}
    return kind.of({**envelope, **body, **chunk})


def _questions(open_: list[Json]) -> list[Question]:
    """The approvals of the kinds that this version knows."""
    return [cast("Question", event_of(asked(one))) for one in open_ if one["type"] in QUESTIONS]


def asked(question: Json) -> Json:
    """An open approval as the event that asks for it. Its time and place may be unknown."""
    told = {"conversation": question["conversation"], "seq": question.get("seq"), "ts": question.get("ts") or 0.0}
    return {**told, "turn": None, "event": question}


def rows(**filters: Any) -> Script[list[Json]]:
    """All pages of the list."""
    found: list[Json] = []
    cursor: str | None = None
    while True:
        listed = yield from _surely(ApiCall("conversation/list", {**filters, "limit": PAGE, "cursor": cursor}))
        found += listed["conversations"]
        cursor = listed["next_cursor"]
        if cursor is None:
            return found


def _last_turn(conversation: str) -> Script[Turn | None]:
    last_seq = (yield from page(conversation, 0, 1))["last_seq"]
    events = (yield from page(conversation, max(0, last_seq - LOOK_BACK), LOOK_BACK))["events"]
    for place, envelope in reversed(list(enumerate(events))):
        if envelope["event"]["type"] in TERMINAL:
            before = events[place - 1]["event"] if place else {}
            return Turn.of({**_ended(envelope["event"], before), **envelope})
    return None


def _ended(body: Json, before: Json) -> Json:
    """The end of a turn, from its terminal event and the event before."""
    if body["type"] == "turn_aborted":
        return {"ending": body["reason"], "message": body.get("message") or None}
    if before.get("type") == "error":
        return {"ending": "error", "message": before["message"]}
    return {"ending": "completed", "message": body.get("last_agent_message")}


def page(conversation: str, after: int, limit: int) -> Script[Json]:
    """A page of the history."""
    params = {"conversation": conversation, "after": after, "limit": limit}
    return (yield from _surely(ApiCall("conversation/history", params)))
