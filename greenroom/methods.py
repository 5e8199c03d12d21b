"""The methods of both clients, each written once: what is asked of the daemon, in the order of time.

A method is a script, as `greenroom.scripts` describes them, or it makes a reader. The blocking client returns the
result of a script, the asyncio client an awaitable; a reader becomes an iterator of the client's own kind.
"""

from base64 import b64decode
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from os import PathLike, fspath
from types import MethodType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    overload,
)
from uuid import uuid4

from greenroom.answers import Conversation, Created, Hit, Row, Status, Stopped, Taken, TurnOver
from greenroom.errors import ConnectionLost, Refusal
from greenroom.events import (
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
from greenroom.following import ConversationReader, EverythingReader, HistoryReader, QuestionReader, Reader
from greenroom.record import KINDS, Event, UnknownEvent
from greenroom.scripts import (
    ANSWER_S,
    END,
    HITS,
    QUESTIONS,
    TERMINAL,
    ApiCall,
    NextNotification,
    Script,
    TimeLimit,
    asked,
    rows,
    surely,
)
from greenroom.wire import Json

if TYPE_CHECKING:  # the kinds of client, each of which is an Api
    from greenroom.aio import AsyncClient, AsyncEvents
    from greenroom.client import Client, Events

LONG_S = 120.0  # for what copies or deletes a whole history
LOOK_BACK = 200  # events, in which the end of the last turn is looked for
Question = ExecApprovalRequest | ApplyPatchApprovalRequest
Prompt = str | list[TextItem | ImageItem | LocalImageItem]
P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=Event)
C = TypeVar("C")
M = TypeVar("M")  # what a method is made of: a script or a reader
B = TypeVar("B")  # what it returns to a blocking caller
A = TypeVar("A")  # and what it returns on an event loop


class Method(Generic[P, M, B, A]):
    """A method of both clients, whose result depends on the kind of client. Of the class, it is the script itself."""

    def __init__(self, made: Callable[Concatenate["Api", P], M], carried_out: str) -> None:
        @wraps(made)
        def method(client: "Api", *args: P.args, **kwargs: P.kwargs) -> Any:
            return getattr(client, carried_out)(made(client, *args, **kwargs))

        self._made, self._method = made, method

    @overload
    def __get__(self, client: None, kind: type) -> Callable[Concatenate["Api", P], M]: ...
    @overload
    def __get__(self, client: "Client", kind: type) -> Callable[P, B]: ...
    @overload
    def __get__(self, client: "AsyncClient", kind: type) -> Callable[P, A]: ...
    def __get__(self, client: "Api | None", kind: type) -> Any:
        return self._made if client is None else MethodType(self._method, client)


def request(script: Callable[Concatenate["Api", P], Script[T]]) -> Method[P, Script[T], T, Coroutine[Any, Any, T]]:
    return Method(script, "_carry_out")


def reader(
    made: Callable[Concatenate["Api", P], Reader[E, C]],
) -> Method[P, Reader[E, C], "Events[E, C]", "AsyncEvents[E, C]"]:
    return Method(made, "_read")


class Turn(TurnOver):
    """A turn that has ended."""

    conversation: str  # Whose turn it was.


class NewSettings(TypedDict, total=False):
    """The settings of a new conversation; what is left out comes from the config."""

    cwd: str | PathLike[str] | None
    model: str | None
    provider: str | None
    profile: str | None
    approval_policy: ApprovalPolicy | None
    sandbox: SandboxMode | None
    config: Mapping[str, Any] | None


class Api:
    """The methods."""

    # --- conversations ----------------------------------------------------------------------------------------------

    @request
    def create(self, name: str | None = None, **settings: Unpack[NewSettings]) -> Script[Created]:
        """Begin a conversation. Its commands run in `cwd`, with the environment of this client."""
        given = {**settings, "name": name, "config": settings.get("config") or {}}
        if (cwd := settings.get("cwd")) is not None:
            given["cwd"] = fspath(cwd)
        return Created.of((yield ApiCall("conversation/create", given)))

    @request
    def get(self, conversation: str) -> Script[Conversation]:
        """Look at one conversation."""
        found = yield from surely(ApiCall("conversation/get", {"conversation": conversation}))
        return Conversation.of({**found, "pending": questions_in(found["pending"])})

    @request
    def conversations(
        self, *, archived: bool = False, state: str | None = None, cwd: str | None = None
    ) -> Script[list[Row]]:
        """List conversations, most recently used first."""
        return [Row.of(row) for row in (yield from rows(archived=archived, state=state, cwd=cwd))]

    @request
    def search(
        self,
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
            wanted = {**params, "limit": min(limit - len(found), HITS), "cursor": cursor}
            answer = yield from surely(ApiCall("conversation/search", wanted))
            found += map(Hit.of, answer["hits"])
            cursor = answer["next_cursor"]
            if cursor is None:
                break
        return found

    @request
    def rename(self, conversation: str, name: str | None) -> Script[None]:
        """Give a name; None takes it away."""
        yield ApiCall("conversation/rename", {"conversation": conversation, "name": name})

    @request
    def archive(self, conversation: str, *, archived: bool = True) -> Script[None]:
        """Leave a conversation out of lists; `archived=False` brings it back."""
        yield ApiCall("conversation/archive", {"conversation": conversation, "archived": archived})

    @request
    def delete(self, conversation: str) -> Script[None]:
        """Delete a conversation for good."""
        yield ApiCall("conversation/delete", {"conversation": conversation}, LONG_S)

    @request
    def fork(self, conversation: str, *, at: int | None = None, name: str | None = None) -> Script[str]:
        """Copy the history, up to the event `at`, into a new conversation. Its id."""
        made = yield ApiCall("conversation/fork", {"conversation": conversation, "at": at, "name": name}, LONG_S)
        return str(made["conversation"])

    @request
    def restart(self, conversation: str) -> Script[None]:
        """Go on with a conversation that has failed."""
        yield ApiCall("conversation/restart", {"conversation": conversation})

    # --- turns ------------------------------------------------------------------------------------------------------

    @request
    def send(
        self,
        conversation: str,
        prompt: Prompt,
        *,
        if_busy: BusyPolicy = "steer",
        key: str | None = None,
    ) -> Script[Taken]:
        """Say something and return when it is stored; the turn goes on by itself.

        With the same `key` the same is said only once, however often it is sent. Each call makes one of its own, so
        that it can send again after a lost connection.
        """
        return Taken.of((yield from surely(_send(conversation, prompt, if_busy, key, wait=False))))

    @request
    def send_and_wait(
        self,
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
        answer = yield from surely(_send(conversation, prompt, if_busy, key, wait=True))
        if "ending" not in answer:
            raise Refusal("the turn that took this key is no longer stored")
        return Turn.of({**answer, "conversation": conversation})

    @request
    def run(
        self,
        prompt: Prompt,
        *,
        name: str | None = None,
        timeout_s: float | None = None,
        **settings: Unpack[NewSettings],
    ) -> Script[Turn]:
        """Begin a conversation with a prompt, and wait for the end of its turn."""
        yield TimeLimit(timeout_s)
        made = yield from Api.create(self, name, **settings)
        return (yield from Api.send_and_wait(self, made.conversation, prompt, timeout_s=timeout_s))

    @request
    def wait(self, conversation: str, *, timeout_s: float | None = None) -> Script[Turn | None]:
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

    @request
    def interrupt(
        self,
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

    # --- approvals and the rest -------------------------------------------------------------------------------------

    @request
    def approvals(self, conversation: str | None = None) -> Script[list[Question]]:
        """The questions that wait for an answer, oldest first, as the events that ask them."""
        found = yield from surely(ApiCall("approvals/list", {"conversation": conversation}))
        return questions_in(found["approvals"])

    @request
    def answer(self, approval: str, decision: Decision, *, reason: str = "") -> Script[None]:
        """Answer a question. Raises AlreadyAnswered if somebody was quicker."""
        yield ApiCall("approvals/answer", {"approval": approval, "decision": decision, "reason": reason})

    @request
    def status(self) -> Script[Status]:
        """Look at the daemon itself."""
        return Status.of((yield from surely(ApiCall("daemon/status", {}))))

    @request
    def call(self, /, method: str, **params: Any) -> Script[Json]:
        """Any method of the control API, with its answer as JSON."""
        return (yield ApiCall(method, params))

    # --- events -----------------------------------------------------------------------------------------------------

    @reader
    def attach(
        self, conversation: str, *, after: int | None = 0, read_only: bool = False
    ) -> Reader[Event, int | None]:
        """The events after a seq (None: after the last one), then each as it happens, for ever."""
        return ConversationReader(conversation, after, read_only=read_only)

    @reader
    def follow(self, *, after: Mapping[str, int] | None = None) -> Reader[Event, Mapping[str, int]]:
        """All that is stored in any conversation, for ever; with `after`, from there on. In order within each."""
        return EverythingReader(after)

    @reader
    def questions(self) -> Reader[Question, None]:
        """Each question that waits for an answer, for ever: those that are open, then new ones."""
        return QuestionReader()

    @reader
    def history(self, conversation: str, *, after: int = 0) -> Reader[Event, int]:
        """The stored events of a conversation, to its end."""
        return HistoryReader(conversation, after)


# --- pieces ---------------------------------------------------------------------------------------------------------


def _send(conversation: str, prompt: Prompt, if_busy: BusyPolicy, key: str | None, *, wait: bool) -> ApiCall:
    said: Json = {"prompt": prompt} if isinstance(prompt, str) else {"items": prompt}
    params = {"conversation": conversation, **said, "if_busy": if_busy, "key": key or uuid4().hex, "wait": wait}
    return ApiCall("conversation/send", params, None if wait else ANSWER_S)


def event_of(envelope: Json) -> Event:
    body = envelope["event"]
    kind = KINDS.get(body["type"], UnknownEvent)
    if kind is UnknownEvent:
        return UnknownEvent.of({**envelope, "body": body})
    chunk = {"chunk": b64decode(body["chunk"])} if "chunk" in body else {}
    return kind.of({**envelope, **body, **chunk})


def questions_in(open_: list[Json]) -> list[Question]:
    """The approvals of the kinds that this version knows."""
    return [cast("Question", event_of(asked(one))) for one in open_ if one["type"] in QUESTIONS]


def _last_turn(conversation: str) -> Script[Turn | None]:
    params = {"conversation": conversation, "before": END, "limit": LOOK_BACK}
    events = (yield from surely(ApiCall("conversation/history", params)))["events"]
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
