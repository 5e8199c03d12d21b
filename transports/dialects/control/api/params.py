"""The params of each method of the control API. Unknown members are refused, so that no typing error passes."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict

from actors.messages.conversation import QueueEnd
from actors.vocabulary.conditions import Condition
from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import ApprovalPolicy, BusyPolicy, Decision, SandboxMode
from transports.jsonrpc import JsonObject

Identifier = Annotated[str, Field(min_length=1, max_length=200)]
Conversation = Annotated[Identifier, Field(description="Id, unique prefix of at least two characters, or name.")]
Flag = Annotated[bool, Strict()]  # JSON has booleans and numbers, so "1" is a mistake, not a number
Whole = Annotated[int, Strict()]
TrialSeconds = Annotated[float, Strict(), Field(gt=0, le=300)]  # some agents load for 10 s on a busy machine
WaitSeconds = Annotated[float, Strict(), Field(ge=0, le=60)]  # a client that wants to wait longer asks again
Seq = Annotated[Whole, Field(ge=0, lt=1 << 62)]
PAGE = 256


class ControlParams(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class EmptyParams(ControlParams): ...


class SearchParams(ControlParams):
    query: Annotated[str, Field(min_length=1, max_length=1000)] = Field(
        description='Words, all of which are to be there; "a phrase" in quotes; the beginning of a word*.'
    )
    conversation: Conversation | None = Field(None, description="Only in this conversation: id, prefix or name.")
    cwd: str | None = Field(None, description="Only in conversations of this directory.")
    since: Annotated[float, Strict()] | None = Field(
        None, description="Only what happened since then, in seconds since 1970."
    )
    order: Literal["newest", "best"] = Field(
        "newest", description="newest: those stored last come first. best: those that fit best, one page of them."
    )
    limit: Annotated[Whole, Field(ge=1, le=200)] = Field(20, description="Greatest number of hits.")
    cursor: Identifier | None = Field(None, description="`next_cursor` of the page before.")


class ConversationParams(ControlParams):
    """The params of a method that needs a conversation and nothing more."""

    conversation: Conversation


WritableRoots = Annotated[tuple[str, ...], Field(max_length=64)]
ROOTS = "Further directories that may be written; relative to the client's."


class CreateParams(ControlParams):
    name: Identifier | None = Field(None, description="Its name; unique.")
    cwd: str | None = Field(None, description="Working directory; relative to the client's.")
    agent: Identifier | None = Field(None, description="The agent that carries out turns. Default: from the config.")
    model: str | None = Field(None, description="The model. Default: from the config.")
    provider: str | None = Field(None, description="The model provider. Default: from the config.")
    profile: str | None = Field(None, description="Profile of the config to use.")
    approval_policy: ApprovalPolicy | None = Field(None, description="When to ask for an approval.")
    sandbox: SandboxMode | None = Field(None, description="What commands may read and write.")
    writable_roots: WritableRoots | None = Field(None, description=ROOTS)
    config: JsonObject = Field(default_factory=dict, description="Overrides of the config, by dotted key.")
    base_instructions: str | None = Field(None, description="Replaces the built-in instructions.")
    include_plan_tool: Flag | None = Field(None, description="Offer update_plan.")
    include_apply_patch_tool: Flag | None = Field(None, description="Offer apply_patch as a tool.")


class SettingValues(ControlParams):
    """New values of settings; omitted ones stay, and null restores the config's value."""

    model: Identifier | None = Field(None, description="The model.")
    provider: Identifier | None = Field(None, description="The model provider.")
    profile: Identifier | None = Field(None, description="A profile of the config, whose values are taken.")
    effort: Identifier | None = Field(None, description="How hard a reasoning model thinks.")
    approval_policy: Identifier | None = Field(None, description="When to ask for an approval.")
    sandbox: Identifier | None = Field(None, description="What commands may read and write.")
    writable_roots: WritableRoots | None = Field(None, description=ROOTS)
    agent: Identifier | None = Field(None, description="The agent that carries out turns.")

    @property
    def set_values(self) -> dict[str, str | tuple[str, ...] | None]:
        """The members that the client has set."""
        return {name: getattr(self, name) for name in SettingValues.model_fields if name in self.model_fields_set}


class ListConversationsParams(ControlParams):
    archived: Flag = Field(False, description="Include archived conversations.")
    state: Condition | None = Field(None, description="Only those in this state.")
    cwd: str | None = Field(None, description="Only those in this directory.")
    name: str | None = Field(None, description="Only the one with this name.")
    conversations: tuple[Identifier, ...] | None = Field(
        None, max_length=PAGE, description="Only these, by their whole ids and in this order, whatever their state."
    )
    order: Literal["updated", "created"] = Field("updated", description="Newest first by last use, or by creation.")
    limit: Annotated[Whole, Field(ge=1, le=1000)] = Field(100, description="How many.")
    cursor: Identifier | None = Field(None, description="`next_cursor` of the page before.")


class SendParams(ConversationParams):
    prompt: str | None = Field(None, description="The text. Either this or `items`.")
    items: tuple[InputItem, ...] = Field((), description="Text and pictures.")
    if_busy: BusyPolicy = Field(BusyPolicy.STEER, description="How to handle it while a turn runs.")
    wait: Flag = Field(False, description="Answer when the turn that took it has ended, not when it is stored.")
    key: Identifier | None = Field(
        None, description="Idempotency key, kept for a day: the same key is accepted only once."
    )
    settings: SettingValues = Field(
        SettingValues(),
        description="Settings of the turn that it starts, and of no other; so it gets a turn of its own.",
    )


class SetParams(ConversationParams):
    settings: SettingValues = Field(SettingValues(), description="New values; what is left out stays.")
    name: Identifier | None = Field(None, description="Its new name; null removes it.")


class BudgetParams(ConversationParams):
    limits: dict[str, str | float | None] = Field(
        default_factory=dict,
        description="New limits, by unit or scope.unit: a number, or a text like +50 for so much more than now; "
        "null: what the config says.",
    )


class SharedBudgetsParams(ControlParams):
    limits: dict[str, str | float | None] = Field(
        default_factory=dict,
        description="Larger limits than the config has, by day.unit or home.unit: a number, or a text like +50 for "
        "so much more than now; null: what the config says. That of a day counts on that day.",
    )


class ReadUsageParams(ControlParams):
    by: Literal["day", "model", "directory", "conversation"] = Field("day", description="The groups of the sums.")
    since: Annotated[float, Strict()] | None = Field(
        None, description="From the day of this moment on, in seconds since 1970."
    )
    limit: Annotated[Whole, Field(ge=1, le=1000)] = Field(PAGE, description="Greatest number of groups.")


class CompactParams(ConversationParams):
    wait: Flag = Field(False, description="Answer when its turn has ended, not when the request is stored.")
    key: Identifier | None = Field(
        None, description="Idempotency key, kept for a day: the same key is accepted only once."
    )


class InterruptParams(ConversationParams):
    kill: Flag = Field(False, description="Kill its processes at once.")
    clear: Flag = Field(False, description="Also withdraw the inputs that wait; otherwise they are held.")
    reason: str = Field("", description="Why; kept in the history.")


class InterruptManyParams(ControlParams):
    conversations: tuple[Conversation, ...] = Field((), description="The conversations; empty with `all`.")
    all: Flag = Field(False, description="Every conversation with an open turn.")
    kill: Flag = Field(False, description="Kill their processes at once.")
    reason: str = Field("", description="Why; kept in the histories.")


class AnswerApprovalParams(ControlParams):
    approval: Identifier = Field(description="The approval's id.")
    decision: Decision = Field(
        description="approved; approved_for_session: also the same from now on, in this conversation; denied; or "
        "abort: denied, and the turn ends.",
    )
    reason: str = Field("", description="Why; the model reads it.")
    option: str = Field(
        "",
        description="One of the options that an agent offers, by its id or its name. One with a `rule` makes that "
        "rule of the agent's own.",
    )
    content: dict[str, object] = Field(
        default_factory=dict, description="What a server is told: its fields' names, and a value each."
    )
    outside: Flag = Field(
        False,
        description="With a yes: run it outside. Else a yes to a question with `inside_or_outside` means inside.",
    )


class ListApprovalsParams(ControlParams):
    conversation: Conversation | None = Field(None, description="Only of this conversation.")


class AttachParams(ConversationParams):
    after: Seq | None = Field(
        0, description="The last seq you have; 0 for everything, null for what comes from now on."
    )
    read_only: Flag = Field(False, description="Watch only; it is not expected to answer approvals.")


class DetachParams(ControlParams):
    subscription: Identifier


class HistoryParams(ConversationParams):
    after: Seq = Field(0, description="Events after this seq.")
    before: Annotated[Whole, Field(ge=1, lt=1 << 62)] | None = Field(
        None, description="In place of `after`: the last events before this seq. Any large number means the end."
    )
    limit: Annotated[Whole, Field(ge=1, le=1000)] = Field(PAGE, description="Greatest number of events.")


class ReadEventsParams(ControlParams):
    after: Annotated[Whole, Field(ge=0, lt=1 << 62)] | None = Field(
        None, description="`cursor` of the answer before; null for what comes from now on."
    )
    limit: Annotated[Whole, Field(ge=1, le=1000)] = Field(PAGE, description="Greatest number of events.")
    wait_s: WaitSeconds = Field(0, description="How long to wait if there is no event yet.")


class RenameParams(ConversationParams):
    name: Identifier | None = Field(description="The new name; null removes it.")


class ArchiveParams(ConversationParams):
    archived: Flag = Field(True, description="False unarchives it.")


class ForkParams(ConversationParams):
    at: Annotated[Seq, Field(ge=1)] | None = Field(
        None, description="Copy the history up to this seq. Default: all of it."
    )
    name: Identifier | None = Field(None, description="Name of the new conversation.")
    settings: SettingValues = Field(SettingValues(), description="Settings in which it differs from the other.")


class ExportParams(ConversationParams):
    file: str = Field(description="The whole path of an empty file of yours, which is filled.")


class ImportParams(ControlParams):
    file: str = Field(description="The whole path of a file that `conversation/export` filled.")
    new_id: Flag = Field(False, description="Use a new id; needed if the conversation still exists.")
    cwd: str | None = Field(None, description="Working directory; relative to the client's. Default: the client's.")


class ReadQueueParams(ConversationParams):
    input: Identifier | None = Field(None, description="Only this one, whole: with its items.")


class EditInputParams(ConversationParams):
    input: Identifier = Field(description="The waiting input's id.")
    prompt: str | None = Field(None, description="The text from now on. Either this or `items`.")
    items: tuple[InputItem, ...] = Field((), description="Text and pictures from now on.")


class MoveInputParams(ConversationParams):
    input: Identifier = Field(description="The waiting input's id.")
    before: Identifier | None = Field(None, description="The id of the one that is to come after it. Or `to`.")
    to: QueueEnd | None = Field(None, description="first or last of those that wait as it does.")


class WithdrawParams(ConversationParams):
    input: Identifier | None = Field(None, description="The waiting input's id; or say `all`.")
    all: Flag = Field(False, description="Everything that waits.")
    reason: str = Field("", description="Why; kept in the history.")


class CheckAgentParams(ControlParams):
    agent: Identifier = Field(description="The agent, by its name in the config or in the table of known ones.")
    seconds: TrialSeconds = Field(60.0, description="How long to wait for it at most.")


class ListJobsParams(ControlParams):
    conversation: Conversation | None = Field(None, description="Only those of this conversation.")


class JobParams(ControlParams):
    job: Identifier = Field(description="The job's id, or the beginning of it.")


class ReadJobParams(JobParams):
    after: Whole = Field(0, description="The place up to which its output is known: `next` of the answer before.")
    seconds: WaitSeconds = Field(0.0, description="How long to wait if there is nothing new.")


class WriteJobParams(JobParams):
    text: str = Field(description="What to write to it, with its newline.")
    end_input: Flag = Field(False, description="Whether its input ends behind it.")


class WaitForJobParams(JobParams):
    seconds: WaitSeconds = Field(30.0, description="How long to wait at most.")


class ResolveParams(ControlParams):
    reference: Conversation


class CancelParams(ControlParams):
    request: Whole | str = Field(description="The id of an earlier request of this connection, with its JSON type.")


class KillClientParams(ControlParams):
    connection: Identifier


class DownParams(ControlParams):
    drain_s: Annotated[float, Strict(), Field(ge=0, le=86_400)] | None = Field(
        None, description="How long running turns may continue. Default: from the config. 0: not at all."
    )


class ConfigGetParams(ControlParams):
    key: str | None = Field(None, description="A dotted key. Default: all keys.")
