"""Work and questions: each piece of work begins, writes and ends; a question asks whether some may begin. A leaf.

What the work or the question is about is its subject, see `subjects`.
"""

from base64 import b64encode, urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from actors.vocabulary.event_bases import AgentEvent, BaseEvent, Duration, Whole
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.settings import AbortReason, Decision
from actors.vocabulary.subjects import (
    AgentCall,
    ApprovalOption,
    Beyond,
    CommandSubject,
    QuestionSubject,
    ToolSubject,
    WorkKind,
    WorkSubject,
)

Standing = tuple[tuple[str, ...], str]  # the same argv in the same directory; no argv: a repository's history
LONGEST_STANDING = 16_384  # characters of a command for which a yes is kept; a longer one is asked each time

WorkStatus = Literal["completed", "failed", "cancelled"]
ONE_EVENT: frozenset[WorkKind] = frozenset({"search", "picture"})  # kinds of work that have no beginning


def _read_bytes(value: Any) -> Any:
    """Read base64 in either alphabet."""
    return urlsafe_b64decode(value.replace("+", "-").replace("/", "_")) if isinstance(value, str) else value


def _write_base64(value: bytes) -> str:
    """The ordinary alphabet: pydantic's own is the one for addresses, which other decoders misread."""
    return b64encode(value).decode()


Chunk = Annotated[
    bytes,
    BeforeValidator(_read_bytes),
    PlainSerializer(_write_base64, when_used="json"),
    WithJsonSchema({"type": "string", "contentEncoding": "base64"}),
]


class WorkBegan(AgentEvent):
    """An agent's work outside of its answer has begun. One `work_ended` with the same item id follows."""

    activity = "using a tool"
    type: Literal["work_began"] = "work_began"
    call_id: CallId = Field(description="The agent's id of the call.")
    item_id: ItemId = Field(ItemId(""), description="The item that the call becomes.")
    subject: WorkSubject = Field(description="What is done.")
    agent_call: AgentCall | None = Field(
        None, description="The call in the words of a third-party agent; null: our own agent works."
    )
    auto_approved: bool = Field(False, description="For a change of files: true when nobody was asked.")


class WorkOutput(BaseEvent):
    type: Literal["work_output"] = "work_output"
    call_id: CallId = Field(description="The call that goes on.")
    item_id: ItemId = Field(ItemId(""), description="Its item id.")
    kind: WorkKind = Field("command", description="The kind of its subject, as it began.")
    stream: Literal["stdout", "stderr"] = Field("stdout", description="Which of its streams.")
    chunk: Chunk = Field(description="The bytes that it wrote, in base64.")


class WorkEnded(AgentEvent):
    """Work is over. A search and a picture have this event alone, since they take no time of ours."""

    read_by_models = True
    activity = "thinking"
    type: Literal["work_ended"] = "work_ended"
    call_id: CallId = Field(description="The call that is over.")
    item_id: ItemId = Field(ItemId(""), description="Its item id.")
    kind: WorkKind = Field(description="The kind of its subject, as it began.")
    subject: WorkSubject | None = Field(None, description="The subject as it is known now; null: as it began.")
    agent_call: AgentCall | None = Field(
        None, description="The call in the words of a third-party agent, as far as they are known now."
    )
    status: WorkStatus = Field(
        description="completed: all went well. cancelled: the turn ended first, or a person said no."
    )
    output: str = Field("", description="Its output, head and tail kept.")
    errors: str = Field("", description="What it wrote to stderr, or why it failed, head and tail kept.")
    exit_code: Whole | None = Field(
        None, description="A command's exit status; -1 where it has none of its own, null where that is not known."
    )
    result: dict[str, Any] | None = Field(None, description="The result of an MCP server's tool.")
    duration: Duration = Field(Duration(), description="How long it took.")
    cut: AbortReason | None = Field(None, description="How the turn ended, where that cut the work short.")


class ApprovalRequested(AgentEvent):
    """A question for people: may the work of the subject begin, or what is the answer to a server's form?

    What a third-party agent may reach at all is settled by the sandbox around it.
    """

    synced = headline = read_by_models = True
    activity = "waiting for an approval"
    type: Literal["approval_requested"] = "approval_requested"
    approval_id: ApprovalId = Field(ApprovalId(""), description="Answer under this id.")
    call_id: CallId = Field(description="The call that waits.")
    item_id: ItemId = Field(ItemId(""), description="The call's item id; of a form the question's own.")
    subject: QuestionSubject = Field(description="What would be done.")
    reason: str | None = Field(None, description="Why it is asked: the model's justification, or ours.")
    outside_sandbox: bool | None = Field(
        None, description="Whether it would run, or write, outside the sandbox; null where that says nothing."
    )
    deadline_s: float | None = Field(None, description="Seconds until it is answered by default.")
    default: Literal[Decision.DENIED, Decision.ABORT] = Field(Decision.DENIED, description="That answer.")
    options: tuple[ApprovalOption, ...] = Field((), description="The answers that the agent offers, if it does.")

    # Of a command.
    retry: bool = Field(False, description="It ran in the sandbox and failed; may it run again without?")
    failed: str = Field("", description="Of a retry: how it failed in the sandbox. Empty: nobody has said.")
    history_of: Path | None = Field(
        None,
        description="The repository whose history it may change, inside the sandbox: commits, branches and index, "
        "never hooks or configuration. An approval for the session is for all such commands there. Null: none.",
    )
    background: Literal["turn", "conversation"] | None = Field(
        None,
        description="It would run in the background, until its turn or its conversation is over, and may be written "
        "to without another question. Null: it runs while the model waits.",
    )
    inside_or_outside: bool = Field(
        False,
        description="A yes runs it in the sandbox; a yes with `outside` runs it without. False: `outside_sandbox` "
        "says what a yes means.",
    )

    # Of a change of files.
    grant_root: Path | None = Field(None, description="A directory that would become writable.")
    obeyed_by: tuple[str, ...] = Field(
        (), description="Agents, editors and shells of the person that would obey one of the files without asking."
    )

    # Of a server's tool, and of a third-party agent's call.
    fingerprint: str = Field(
        "",
        description="Of all that is asked: for a server's tool as the server lists it, and its program or address. A "
        "yes for the session is kept under it, and ends when it changes. Empty: no such yes is kept.",
    )
    changed: bool = Field(
        False, description="The tool or its server has changed since a yes for the session, which ends with this."
    )
    agent: str = Field(
        "",
        description="The third-party agent that asks; `greenroom`: we do, about programs that a client gives.",
    )
    agent_call: AgentCall | None = Field(None, description="The call in that agent's words.")
    beyond: Beyond | None = Field(
        None, description="What of that call neither the command nor the changes show. Null: nobody has looked."
    )

    @property
    def standing(self) -> Standing | None:
        """The key under which a yes for the whole session is kept; None if the next question is asked, too."""
        if self.agent_call is not None:
            return (("use", self.agent, self.fingerprint), "") if self.fingerprint else None
        match self.subject:
            case CommandSubject():
                return self._standing_of_command(self.subject)
            case ToolSubject() if self.fingerprint:  # no command: those stand for a directory, which has a name
                return ("mcp", self.subject.server, self.subject.tool, self.fingerprint), ""
            case _:
                return None

    @property
    def may_leave(self) -> bool:
        """True if a yes means inside the sandbox, and a person may say `outside` with it."""
        return self.inside_or_outside

    def _standing_of_command(self, subject: CommandSubject) -> Standing | None:
        if self.history_of is not None:
            return (), str(self.history_of)  # no command is empty, so nothing else is meant by it
        if sum(map(len, subject.command)) > LONGEST_STANDING:
            return None
        # No directory has a NUL: those are other permissions. A yes to a question about inside is none for outside.
        return subject.command, "\0".join((str(subject.cwd), *self._circumstances))

    @property
    def _circumstances(self) -> Iterator[str]:
        if self.background is not None:
            yield self.background
        if self.inside_or_outside:
            yield "inside"
