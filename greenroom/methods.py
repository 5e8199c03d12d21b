"""The methods of both clients, each written once, as the requests that it makes, in the order of time.

A method is a script, as `greenroom.scripts` describes them, or it makes a reader. The blocking client returns the
result of a script, the asyncio client an awaitable; a reader becomes an iterator of the client's own kind.
"""

from __future__ import annotations  # evaluated, they take 4 ms of the start of a verb

from collections.abc import Mapping, Sequence
from os import PathLike, fspath, urandom
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypedDict,
    Unpack,
    cast,
)

from greenroom.answers import (
    AcceptedInput,
    Agent,
    AgentTrial,
    ChangedSettings,
    ConversationRow,
    ConversationSummary,
    CreatedConversation,
    DaemonStatus,
    InterruptedTurn,
    Job,
    JobOutput,
    SearchHit,
    WaitingInputs,
)
from greenroom.errors import ConnectionLost, Refusal
from greenroom.following import ConversationReader, EventReader, EverythingReader, HistoryReader, QuestionReader
from greenroom.method import reader, request
from greenroom.record import Event, event_of
from greenroom.scripts import (
    ANSWER_S,
    HITS,
    QUESTIONS,
    TERMINAL,
    ApiCall,
    NextNotification,
    Script,
    ScriptTimeLimit,
    all_rows,
    question_event,
    retry_when_lost,
)
from greenroom.turns import Turn, last_turn
from greenroom.wire import Json

if TYPE_CHECKING:
    from greenroom.events import (
        ApprovalPolicy,
        BusyPolicy,
        Decision,
        ImageItem,
        LocalImageItem,
        ReasoningEffort,
        SandboxMode,
        TextItem,
    )
    from greenroom.questions import Question

    Prompt = str | list[TextItem | ImageItem | LocalImageItem]

LONG_S = 120.0  # for requests that copy or delete a whole history


class NewSettings(TypedDict, total=False):
    """The settings of a new conversation; the config has the rest."""

    agent: str | None
    cwd: str | PathLike[str] | None
    model: str | None
    provider: str | None
    profile: str | None
    approval_policy: ApprovalPolicy | None
    sandbox: SandboxMode | None
    writable_roots: list[str] | None
    config: Mapping[str, Any] | None


class NewValues(TypedDict, total=False):
    """New values of a conversation's settings; None means the value in the config."""

    model: str | None
    provider: str | None
    profile: str | None
    effort: ReasoningEffort | None
    approval_policy: ApprovalPolicy | None
    sandbox: SandboxMode | None
    writable_roots: list[str] | None
    agent: str | None


class Api:
    """The methods."""

    # --- conversations ----------------------------------------------------------------------------------------------

    @request
    def create(self, name: str | None = None, **settings: Unpack[NewSettings]) -> Script[CreatedConversation]:
        """Begin a conversation. Its commands run in `cwd`, with the environment of this client."""
        given = {**settings, "name": name, "config": settings.get("config") or {}}
        if (cwd := settings.get("cwd")) is not None:
            given["cwd"] = fspath(cwd)
        return CreatedConversation.from_json((yield ApiCall("conversation/create", given)))

    @request
    def get(self, conversation: str) -> Script[ConversationSummary]:
        """Look at one conversation."""
        found = yield from retry_when_lost(ApiCall("conversation/get", {"conversation": conversation}))
        asked = [{**question, "conversation": found["conversation"]} for question in found["pending"]]
        return ConversationSummary.from_json({**found, "pending": questions_in(asked)})

    @request
    def conversations(
        self, *, archived: bool = False, state: str | None = None, cwd: str | None = None
    ) -> Script[list[ConversationRow]]:
        """List conversations, most recently used first."""
        return [
            ConversationRow.from_json(row) for row in (yield from all_rows(archived=archived, state=state, cwd=cwd))
        ]

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
    ) -> Script[list[SearchHit]]:
        """Search the words in all conversations. Those of the last seconds may be missing."""
        params = {"query": query, "conversation": conversation, "cwd": cwd, "since": since, "order": order}
        found: list[SearchHit] = []
        cursor: str | None = None
        while len(found) < limit:
            wanted = {**params, "limit": min(limit - len(found), HITS), "cursor": cursor}
            answer = yield from retry_when_lost(ApiCall("conversation/search", wanted))
            found += map(SearchHit.from_json, answer["hits"])
            cursor = answer["next_cursor"]
            if cursor is None:
                break
        return found

    @request
    def change(self, conversation: str, **values: Unpack[NewValues]) -> Script[ChangedSettings]:
        """Change all of these settings, or none. A turn that runs goes on with them."""
        return ChangedSettings.from_json(
            (yield ApiCall("conversation/set", {"conversation": conversation, "settings": values}))
        )

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
    def fork(
        self, conversation: str, *, at: int | None = None, name: str | None = None, settings: NewValues | None = None
    ) -> Script[str]:
        """Copy the history, up to the event `at`, into a new conversation with these settings. Returns its id."""
        params = {"conversation": conversation, "at": at, "name": name, "settings": settings or {}}
        made = yield ApiCall("conversation/fork", params, LONG_S)
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
        settings: NewValues | None = None,
    ) -> Script[AcceptedInput]:
        """Send a message and return when it is stored; the turn goes on by itself.

        With the same `key` a message is taken only once, however often it is sent. Without one, each call makes its
        own, so that it can send again after a lost connection. `settings` are for a turn of its own.
        """
        return AcceptedInput.from_json(
            (yield from retry_when_lost(_send(conversation, prompt, if_busy, key, wait=False, settings=settings)))
        )

    @request
    def send_and_wait(
        self,
        conversation: str,
        prompt: Prompt,
        *,
        if_busy: BusyPolicy = "steer",
        key: str | None = None,
        settings: NewValues | None = None,
        timeout_s: float | None = None,
    ) -> Script[Turn]:
        """Send a message and wait for the end of the turn that takes it, through restarts of the daemon.

        When the time runs out, TimedOut is raised and the turn goes on; `interrupt` stops it.
        """
        yield ScriptTimeLimit(timeout_s)
        answer = yield from retry_when_lost(_send(conversation, prompt, if_busy, key, wait=True, settings=settings))
        if "ending" not in answer:
            raise Refusal("the turn that took this key is no longer stored")
        return Turn.from_json({**answer, "conversation": conversation})

    @request
    def compact(self, conversation: str, *, key: str | None = None, timeout_s: float | None = None) -> Script[Turn]:
        """Sum up the history, so that there is room again in the model's context, and wait until that is done.

        While a turn runs, this waits for a turn of its own. With nothing to sum up, Refusal is raised.
        """
        yield ScriptTimeLimit(timeout_s)
        params = {"conversation": conversation, "key": key or urandom(16).hex(), "wait": True}
        answer = yield from retry_when_lost(ApiCall("conversation/compact", params, None))
        if "ending" not in answer:
            raise Refusal("the turn that took this key is no longer stored")
        return Turn.from_json({**answer, "conversation": conversation})

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
        yield ScriptTimeLimit(timeout_s)
        made = yield from Api.create(self, name, **settings)
        return (yield from Api.send_and_wait(self, made.conversation, prompt, timeout_s=timeout_s))

    @request
    def wait(self, conversation: str, *, timeout_s: float | None = None) -> Script[Turn | None]:
        """Wait until the turn that runs now has ended. Returns the last turn, or None if there was none lately."""
        yield ScriptTimeLimit(timeout_s)
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
                    running = not any(
                        envelope["event"]["type"] in TERMINAL for envelope in message["params"]["events"]
                    )
                else:
                    return (yield from last_turn(found["summary"]["conversation"]))
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
    ) -> Script[InterruptedTurn]:
        """Stop the turn that runs and return when all of it is gone. The conversation stays."""
        params = {"conversation": conversation, "kill": kill, "clear": clear, "reason": reason}
        return InterruptedTurn.from_json((yield ApiCall("conversation/interrupt", params, timeout_s)))

    # --- background commands ----------------------------------------------------------------------------------------

    @request
    def jobs(self, conversation: str | None = None) -> Script[list[Job]]:
        """The background commands, running or ended a while ago, oldest first."""
        found = yield from retry_when_lost(ApiCall("jobs/list", {"conversation": conversation}))
        return [Job.from_json(job) for job in found["jobs"]]

    @request
    def read_job(self, job: str, *, after: int = 0, seconds: float = 0) -> Script[JobOutput]:
        """Read output after a place; with `seconds`, wait for some. `next` of the answer is the next place."""
        params = {"job": job, "after": after, "seconds": seconds}
        return JobOutput.from_json((yield ApiCall("jobs/read", params, ANSWER_S + seconds)))

    @request
    def write_job(self, job: str, text: str, *, end_input: bool = False) -> Script[Job]:
        """Write to a background command."""
        return Job.from_json((yield ApiCall("jobs/write", {"job": job, "text": text, "end_input": end_input})))

    @request
    def wait_for_job(self, job: str, *, seconds: float = 30) -> Script[Job]:
        """Wait for the end of a background command, or until the time is over."""
        return Job.from_json((yield ApiCall("jobs/wait", {"job": job, "seconds": seconds}, ANSWER_S + seconds)))

    @request
    def end_job(self, job: str) -> Script[Job]:
        """End a background command and return when all of it is gone."""
        return Job.from_json((yield ApiCall("jobs/end", {"job": job})))

    # --- what waits ------------------------------------------------------------------------------------------------

    @request
    def queue(self, conversation: str) -> Script[WaitingInputs]:
        """The messages that wait, in the order in which they will run."""
        return WaitingInputs.from_json(
            (yield from retry_when_lost(ApiCall("conversation/queue", {"conversation": conversation})))
        )

    @request
    def edit_input(self, conversation: str, input: str, prompt: Prompt) -> Script[None]:  # noqa: A002  # its name in the API
        """Give a message that waits other words. Its sender, if it waits, is answered by the turn that takes it."""
        yield ApiCall(
            "conversation/edit_input", {"conversation": conversation, "input": input, **_prompt_params(prompt)}
        )

    @request
    def move_input(
        self,
        conversation: str,
        input: str,  # noqa: A002  # its name in the API
        *,
        before: str | None = None,
        to: Literal["first", "last"] | None = None,
    ) -> Script[None]:
        """Let a message that waits run before another, or first or last of those that wait as it does."""
        params = {"conversation": conversation, "input": input, "before": before, "to": to}
        yield ApiCall("conversation/move_input", params)

    @request
    def withdraw(
        self,
        conversation: str,
        input: str | None = None,  # noqa: A002  # its name in the API
        *,
        all: bool = False,  # noqa: A002  # the same
        reason: str = "",
    ) -> Script[None]:
        """Withdraw a message that waits, or all of them. A sender that waits gets Cancelled."""
        params = {"conversation": conversation, "input": input, "all": all, "reason": reason}
        yield ApiCall("conversation/withdraw", params)

    @request
    def resume_queue(self, conversation: str) -> Script[None]:
        """Let the messages run that an interrupt holds."""
        yield ApiCall("conversation/resume_queue", {"conversation": conversation})

    # --- approvals and the rest -------------------------------------------------------------------------------------

    @request
    def approvals(self, conversation: str | None = None) -> Script[list[Question]]:
        """The questions that wait for an answer, oldest first, as the events that ask them."""
        found = yield from retry_when_lost(ApiCall("approvals/list", {"conversation": conversation}))
        return questions_in(found["approvals"])

    @request
    def answer(
        self,
        approval: str,
        decision: Decision,
        *,
        reason: str = "",
        option: str = "",
        content: Mapping[str, str | bool | float | Sequence[str]] | None = None,
        outside: bool = False,
    ) -> Script[None]:
        """Answer a question. Raises AlreadyAnswered if another client was quicker.

        `option`: an agent's option, by its id or name. `content`: the values for a server, by its fields' names.
        `outside`: a yes to a question with `inside_or_outside` that runs it outside the sandbox.
        """
        told = {"option": option, "content": dict(content or {}), "outside": outside}
        yield ApiCall("approvals/answer", {"approval": approval, "decision": decision, "reason": reason, **told})

    @request
    def agents(self) -> Script[list[Agent]]:
        """The agents that can carry out turns, as this client has them, and how to install missing ones."""
        return [
            Agent.from_json(agent) for agent in (yield from retry_when_lost(ApiCall("agents/list", {})))["agents"]
        ]

    @request
    def check_agent(self, agent: str, *, seconds: float = 60) -> Script[AgentTrial]:
        """Start an agent as for a conversation, ask what it can do, and end it; no prompt is sent."""
        params = {"agent": agent, "seconds": seconds}
        return AgentTrial.from_json((yield ApiCall("agents/check", params, LONG_S + seconds)))

    @request
    def status(self) -> Script[DaemonStatus]:
        """Look at the daemon itself."""
        return DaemonStatus.from_json((yield from retry_when_lost(ApiCall("daemon/status", {}))))

    @request
    def call(self, /, method: str, **params: Any) -> Script[Json]:
        """Call any method of the control API. Returns its answer as JSON."""
        return (yield ApiCall(method, params))

    # --- events -----------------------------------------------------------------------------------------------------

    @reader
    def attach(
        self, conversation: str, *, after: int | None = 0, read_only: bool = False
    ) -> EventReader[Event, int | None]:
        """The events after a seq (None: after the last one), then each as it happens, for ever."""
        return ConversationReader(conversation, after, read_only=read_only)

    @reader
    def follow(self, *, after: Mapping[str, int] | None = None) -> EventReader[Event, Mapping[str, int]]:
        """All stored events of all conversations, for ever; with `after`, from there on. In order within each."""
        return EverythingReader(after)

    @reader
    def questions(self) -> EventReader[Question, None]:
        """Each question that waits for an answer, for ever: those that are open, then new ones."""
        return QuestionReader()

    @reader
    def history(self, conversation: str, *, after: int = 0) -> EventReader[Event, int]:
        """The stored events of a conversation, to its end."""
        return HistoryReader(conversation, after)


# --- pieces ---------------------------------------------------------------------------------------------------------


def _send(
    conversation: str,
    prompt: Prompt,
    if_busy: BusyPolicy,
    key: str | None,
    *,
    wait: bool,
    settings: NewValues | None,
) -> ApiCall:
    params = {
        "conversation": conversation,
        **_prompt_params(prompt),
        "if_busy": if_busy,
        "key": key or urandom(16).hex(),
        "wait": wait,
        "settings": settings or {},
    }
    return ApiCall("conversation/send", params, None if wait else ANSWER_S)


def _prompt_params(prompt: Prompt) -> Json:
    return {"prompt": prompt} if isinstance(prompt, str) else {"items": prompt}


def questions_in(open_: list[Json]) -> list[Question]:
    """The approvals of the kinds that this version knows."""
    return [
        cast("Question", event_of(question_event(question))) for question in open_ if question["type"] in QUESTIONS
    ]
