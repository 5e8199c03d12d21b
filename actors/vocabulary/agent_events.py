"""The events of third-party agents: the tools they use, their questions, and their settings.

A leaf. Their words are the same events as those of our own agent, see `events`.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from actors.vocabulary.event_bases import (
    AgentEvent,
    ApprovalRequest,
    BaseEvent,
    Duration,
    FileChange,
    Standing,
    Whole,
)
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.settings import FROZEN, AbortReason, Decision

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]


ReadsAs = Literal["command", "patch", "other"]


class Place(BaseModel):
    """A file that a tool looks at or changes."""

    model_config = FROZEN
    path: Path = Field(description="The file.")
    line: Whole | None = Field(None, description="A line in it, from 1.")


class ToolUseBegin(AgentEvent):
    """An agent uses a tool of its own. A command or a change of files is one, too: `kind` says which."""

    activity = "using a tool"
    type: Literal["tool_use_begin"] = "tool_use_begin"
    call_id: CallId = Field(description="The agent's id of the call.")
    item_id: ItemId = Field(ItemId(""), description="The call's item id.")
    title: str = Field("", description="What it does, in the agent's words.")
    kind: ToolKind = Field("other", description="What sort of tool it is.")
    command: tuple[str, ...] = Field((), description="The command that runs, where it is one and is known.")
    cwd: Path | None = Field(None, description="Where that runs, if it is known.")
    changes: dict[str, FileChange] = Field(
        default_factory=dict, description="Absolute path → what becomes of the file, as far as it is known."
    )
    places: tuple[Place, ...] = Field((), description="The files that it is about.")
    arguments: str = Field("", description="What it was given, as JSON; the middle of a long text is left out.")
    reads_as: ReadsAs = Field("other", description="What it is to clients that know commands and patches alone.")


class ToolUseDelta(BaseEvent):
    type: Literal["tool_use_delta"] = "tool_use_delta"
    call_id: CallId = Field(description="The call that goes on.")
    delta: str = Field(description="What it has written since.")
    item_id: ItemId = Field(ItemId(""), description="The call's item id.")
    reads_as: ReadsAs = Field("other", description="The same as its beginning has.")


class ToolUseEnd(AgentEvent):
    """The use of a tool is over. The members of its beginning are said again, as they are known now."""

    read_by_models = True  # by our own agent, when it goes on with the conversation
    activity = "thinking"
    type: Literal["tool_use_end"] = "tool_use_end"
    call_id: CallId = Field(description="The call that is over.")
    item_id: ItemId = Field(ItemId(""), description="The call's item id.")
    title: str = Field("", description="What it did, in the agent's words.")
    kind: ToolKind = Field("other", description="What sort of tool it was.")
    command: tuple[str, ...] = Field((), description="The command that ran, where it was one and is known.")
    cwd: Path | None = Field(None, description="Where that ran, if it is known.")
    changes: dict[str, FileChange] = Field(
        default_factory=dict, description="Absolute path → what became of the file."
    )
    places: tuple[Place, ...] = Field((), description="The files that it was about.")
    status: Literal["completed", "failed", "cancelled"] = Field(
        description="completed, failed: the agent says so. cancelled: the turn ended first, or a person said no."
    )
    output: str = Field("", description="What came of it, head and tail kept.")
    exit_code: Whole | None = Field(None, description="The command's exit status, where it is known.")
    duration: Duration = Field(Duration(), description="How long it took.")
    cut: AbortReason | None = Field(None, description="How the turn ended, where that cut it short.")
    reads_as: ReadsAs = Field("other", description="The same as its beginning has.")


class ApprovalOption(BaseModel):
    """An answer that the agent offers."""

    model_config = FROZEN
    id: str = Field(description="The agent's id of it.")
    name: str = Field(description="What it means, in the agent's words.")
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"] = Field(
        description="always: the agent does not ask again for what it takes to be the same."
    )
    rule: str = Field(
        "",
        description="Whose rule an `always` makes, for what, where and until when. Such an option is sent to the "
        "agent only where an answer names it. Empty: it is about this one call.",
    )


class FurtherChange(BaseModel):
    model_config = FROZEN
    path: str = Field(description="The file.")
    change: FileChange = Field(description="What would become of it.")


class Beyond(BaseModel):
    """A part of a question that neither its command nor its changes show."""

    model_config = FROZEN
    given: str = Field("", description="Arguments, as JSON; the middle of a long text is left out.")
    says: str = Field("", description="Words that the agent shows with the call.")
    changes: tuple[FurtherChange, ...] = Field(
        (), description="Changes for which `changes` has no room: too many files, or another of the same file."
    )


class ToolUseApprovalRequest(ApprovalRequest):
    """May an agent use a tool of its own? What it may reach at all is settled by the sandbox around the agent."""

    type: Literal["tool_use_approval_request"] = "tool_use_approval_request"
    call_id: CallId = Field(description="The agent's id of the call that waits.")
    agent: str = Field(
        "", description="The agent that asks; `greenroom`: Greenroom does, about programs that a client gives."
    )
    title: str = Field("", description="What it would do, in the agent's words.")
    kind: ToolKind = Field("other", description="What sort of tool it is.")
    command: tuple[str, ...] = Field((), description="The command that would run, where it is one and is known.")
    cwd: Path | None = Field(None, description="Where that would run, if it is known.")
    changes: dict[str, FileChange] = Field(
        default_factory=dict, description="Absolute path → what would become of the file."
    )
    places: tuple[Place, ...] = Field((), description="The files that it is about.")
    arguments: str = Field("", description="What it would be given, as JSON; the middle of a long text is left out.")
    options: tuple[ApprovalOption, ...] = Field((), description="The answers that the agent offers.")
    reason: str | None = Field(None, description="Why it is asked.")
    outside_sandbox: bool | None = Field(None, description="Null: the sandbox is around the agent, not the call.")
    obeyed_by: tuple[str, ...] = Field(
        (), description="Agents, editors and shells of the person that would obey one of the files without asking."
    )
    approval_id: ApprovalId = Field(ApprovalId(""), description="Answer under this id.")
    item_id: ItemId = Field(ItemId(""), description="The call's item id.")
    deadline_s: float | None = Field(None, description="Seconds until it is answered by default.")
    default: Literal[Decision.DENIED, Decision.ABORT] = Field(Decision.DENIED, description="That answer.")
    beyond: Beyond | None = Field(
        None, description="What of it neither the command nor the changes show. Null: nobody has looked."
    )
    fingerprint: str = Field(
        "",
        description="Of all that is asked: the command or the tool, its arguments, the files, the directory. We keep "
        "a yes for the session under it. Empty: what is asked can't be told from other things, so none is kept.",
    )

    @property
    def standing(self) -> Standing | None:
        return (("use", self.agent, self.fingerprint), "") if self.fingerprint else None


class AgentSession(AgentEvent):
    """An agent's own session begins or goes on, in a process that was started for it."""

    headline = True
    type: Literal["agent_session"] = "agent_session"
    agent: str = Field(description="The agent, by its name in the config.")
    session: str = Field(description="Its own id of the session.")
    how: Literal["new", "resumed", "loaded", "seeded"] = Field(
        description="new: nothing was said before. resumed, loaded: it remembers. seeded: it began anew, and was "
        "told what had been said."
    )
    program: str = Field("", description="What the program calls itself, with its version.")
    can: tuple[str, ...] = Field((), description="What it said that it can do.")
    note: str = Field("", description="What a person should know about how it began; empty: nothing.")


class OptionChoice(BaseModel):
    model_config = FROZEN
    value: str = Field(description="The value.")
    name: str = Field("", description="What it means, in the agent's words.")


class AgentOption(BaseModel):
    """Something about the agent that can be set."""

    model_config = FROZEN
    id: str = Field(description="The agent's id of it.")
    name: str = Field("", description="What it is, in the agent's words.")
    category: str = Field("", description="mode, model, thought_level, or what the agent calls it.")
    value: str = Field("", description="What it is now.")
    choices: tuple[OptionChoice, ...] = Field((), description="What it can be.")


class AgentOptions(AgentEvent):
    """The settings of the agent, and their values now."""

    headline = True
    type: Literal["agent_options"] = "agent_options"
    agent: str = Field(description="The agent.")
    options: tuple[AgentOption, ...] = Field(description="All of them.")


class AgentCommand(BaseModel):
    model_config = FROZEN
    name: str = Field(description="What is typed after a slash.")
    description: str = Field("", description="What it does.")
    hint: str = Field("", description="What may follow it.")


class AgentCommands(AgentEvent):
    """The commands that the agent understands in a message that begins with a slash."""

    type: Literal["agent_commands"] = "agent_commands"
    agent: str = Field(description="The agent.")
    commands: tuple[AgentCommand, ...] = Field(description="All of them.")


class AgentTitle(AgentEvent):
    """The agent's name for what the conversation is about."""

    headline = True
    type: Literal["agent_title"] = "agent_title"
    title: str = Field(description="The title; empty takes it back.")
