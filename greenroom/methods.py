"""The methods of both clients, each written once, as the requests that it makes, in the order of time.

A method is a script, as `greenroom.scripts` describes them, or it makes a reader. The blocking client returns the
result of a script, the asyncio client an awaitable; a reader becomes an iterator of the client's own kind.
"""

from __future__ import annotations  # evaluated, they take 4 ms of the start of a verb

from collections.abc import Iterable, Mapping, Sequence
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
    AnsweredApproval,
    BudgetRow,
    ChangedSettings,
    ClientRow,
    ConfigValue,
    ConversationRow,
    ConversationSummary,
    CreatedConversation,
    DaemonStatus,
    ImportedConversation,
    InterruptedTurn,
    Job,
    JobOutput,
    ReloadedConfig,
    SearchHit,
    Server,
    StoppingDaemon,
    Usage,
    WaitingInputs,
)
from greenroom.errors import ConnectionLost, Refusal
from greenroom.following import ConversationReader, EventReader, EverythingReader, HistoryReader, QuestionReader
from greenroom.method import reader, request
from greenroom.record import Event, event_of
from greenroom.scripts import (
    ANSWER_S,
    HITS,
    TERMINAL,
    ApiCall,
    NextNotification,
    Script,
    ScriptTimeLimit,
    question_event,
    retry_when_lost,
    some_rows,
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

Grouping = Literal["day", "model", "directory", "conversation"]
IDS = 256  # ids in one request
LONGEST_S = 3600.0  # for a file of many gigabytes; Ctrl-C ends the wait
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


class NewNameAndValues(NewValues, total=False):
    """New values; the name None takes the conversation's name away."""

    name: str | None


class Listed(list[ConversationRow]):
    """Rows of a list; `total` also counts those that were not asked for."""

    def __init__(self, rows: Iterable[ConversationRow], total: int) -> None:
        super().__init__(rows)
        self.total = total


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
        self,
        *,
        archived: bool = False,
        state: str | None = None,
        cwd: str | None = None,
        name: str | None = None,
        order: Literal["updated", "created"] = "updated",
        limit: int | None = None,
    ) -> Script[Listed]:
        """List conversations, most recently used first; with `limit`, so many. `total` of the list counts all."""
        filters = {"archived": archived, "state": state, "cwd": cwd, "name": name, "order": order}
        rows, total = yield from some_rows(limit, **filters)
        return Listed(map(ConversationRow.from_json, rows), total)

    @request
    def conversations_by_id(self, conversations: Sequence[str]) -> Script[list[ConversationRow]]:
        """List the conversations with these ids, without those that are deleted."""
        rows: list[Json] = []
        for at in range(0, len(conversations), IDS):
            part = {"conversations": list(conversations[at : at + IDS])}
            rows += (yield from retry_when_lost(ApiCall("conversation/list", part)))["conversations"]
        return list(map(ConversationRow.from_json, rows))

    @request
    def resolve(self, reference: str) -> Script[str]:
        """The id that a prefix of it or a name stands for."""
        found = yield from retry_when_lost(ApiCall("conversation/resolve", {"reference": reference}))
        return str(found["conversation"])

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
    def change(self, conversation: str, **values: Unpack[NewNameAndValues]) -> Script[ChangedSettings]:
        """Change all of these settings, or none. A turn that runs goes on with them."""
        named = {"name": values["name"]} if "name" in values else {}
        settings = {key: value for key, value in values.items() if key != "name"}
        params = {"conversation": conversation, "settings": settings, **named}
        return ChangedSettings.from_json((yield ApiCall("conversation/set", params)))

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
    ) -> Script[AnsweredApproval]:
        """Answer a question. Raises AlreadyAnswered if another client was quicker.

        `option`: an agent's option, by its id or name. `content`: the values for a server, by its fields' names.
        `outside`: a yes to a question with `inside_or_outside` that runs it outside the sandbox.
        """
        told = {"option": option, "content": dict(content or {}), "outside": outside}
        params = {"approval": approval, "decision": decision, "reason": reason, **told}
        return AnsweredApproval.from_json((yield ApiCall("approvals/answer", params)))

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
    def servers(self, conversation: str) -> Script[list[Server]]:
        """The MCP servers that clients have given a conversation, without secrets."""
        found = yield from retry_when_lost(ApiCall("conversation/servers", {"conversation": conversation}))
        return list(map(Server.from_json, found["servers"]))

    @request
    def usage(
        self,
        by: Literal["day", "model", "directory", "conversation"],
        *,
        since: float | None = None,
        limit: int = 100,
    ) -> Script[Usage]:
        """Sum up what was spent."""
        params = {"by": by, "since": since, "limit": limit}
        return Usage.from_json((yield from retry_when_lost(ApiCall("usage/read", params))))

    @request
    def budgets(
        self, conversation: str | None = None, *, limits: Mapping[str, str | float | None] | None = None
    ) -> Script[list[BudgetRow]]:
        """The budgets of a conversation, or else those of the day and the home; `limits` gives new ones."""
        params: Json = {"limits": dict(limits or {})}
        if conversation is None:
            found = yield ApiCall("budgets/shared", params)
        else:
            found = yield ApiCall("conversation/budget", {"conversation": conversation, **params})
        return list(map(BudgetRow.from_json, found["budgets"]))

    @request
    def clients(self) -> Script[list[ClientRow]]:
        """The connected clients."""
        return list(map(ClientRow.from_json, (yield from retry_when_lost(ApiCall("clients/list", {})))["clients"]))

    @request
    def disconnect(self, connection: str) -> Script[None]:
        """Disconnect a client; its turns go on."""
        yield ApiCall("clients/kill", {"connection": connection})

    @request
    def export(self, conversation: str, file: str | PathLike[str]) -> Script[int]:
        """Let the daemon fill an empty file of yours with the history, as JSON lines. Returns how many."""
        params = {"conversation": conversation, "file": fspath(file)}
        return int((yield ApiCall("conversation/export", params, LONGEST_S))["lines"])

    @request
    def import_history(
        self, file: str | PathLike[str], *, new_id: bool = False, cwd: str | None = None
    ) -> Script[ImportedConversation]:
        """Make a conversation of a file that `export` filled."""
        params = {"file": fspath(file), "new_id": new_id, "cwd": cwd}
        return ImportedConversation.from_json((yield ApiCall("conversation/import", params, LONGEST_S)))

    @request
    def config(self, key: str | None = None) -> Script[ConfigValue]:
        """The configuration in force, or a part of it, without secrets."""
        return ConfigValue.from_json((yield from retry_when_lost(ApiCall("config/get", {"key": key}))))

    @request
    def reload(self) -> Script[ReloadedConfig]:
        """Let the daemon read its config again."""
        return ReloadedConfig.from_json((yield ApiCall("daemon/reload", {})))

    @request
    def stop_daemon(self, *, drain_s: float | None = None) -> Script[StoppingDaemon]:
        """Stop the daemon; running turns may go on for `drain_s`."""
        return StoppingDaemon.from_json((yield ApiCall("daemon/down", {"drain_s": drain_s})))

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


class BlockingApi(Api):
    """The methods for a caller that waits for their answers."""


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
    return [cast("Question", event_of(question_event(question))) for question in open_]
