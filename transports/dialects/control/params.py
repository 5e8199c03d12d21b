"""The params of each method of the control API. Unknown members are refused, so that no typing error is ignored."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict

from actors.vocabulary.answers import Condition
from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import ApprovalPolicy, BusyPolicy, Decision, SandboxMode
from transports.jsonrpc import JsonObject

Identifier = Annotated[str, Field(min_length=1, max_length=200)]
Conversation = Annotated[Identifier, Field(description="Id, unique prefix of at least two characters, or name.")]
Flag = Annotated[bool, Strict()]  # JSON has booleans and numbers, so "1" is a mistake and not a number
Whole = Annotated[int, Strict()]
Seq = Annotated[Whole, Field(ge=0, lt=1 << 62)]
PAGE = 256


class Params(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Nothing(Params): ...


class Search(Params):
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


class Named(Params):
    """The params of a method that needs a conversation and nothing more."""

    conversation: Conversation


class Create(Params):
    name: Identifier | None = Field(None, description="Its name; unique.")
    cwd: str | None = Field(None, description="Working directory; relative to the client's.")
    model: str | None = Field(None, description="The model. Default: from the config.")
    provider: str | None = Field(None, description="The model provider. Default: from the config.")
    profile: str | None = Field(None, description="Profile of the config to use.")
    approval_policy: ApprovalPolicy | None = Field(None, description="When to ask for an approval.")
    sandbox: SandboxMode | None = Field(None, description="What commands may read and write.")
    config: JsonObject = Field(default_factory=dict, description="Overrides of the config, by dotted key.")
    base_instructions: str | None = Field(None, description="Replaces the built-in instructions.")
    include_plan_tool: Flag | None = Field(None, description="Offer update_plan.")
    include_apply_patch_tool: Flag | None = Field(None, description="Offer apply_patch as a tool.")


class ListConversations(Params):
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


class Send(Named):
    prompt: str | None = Field(None, description="The text. Either this or `items`.")
    items: tuple[InputItem, ...] = Field((), description="Text and pictures.")
    if_busy: BusyPolicy = Field(BusyPolicy.STEER, description="How to handle it while a turn runs.")
    wait: Flag = Field(False, description="Answer when the turn that took it has ended, not when it is stored.")
    key: Identifier | None = Field(
        None, description="Idempotency key, kept for a day: the same key is accepted only once."
    )


class Interrupt(Named):
    kill: Flag = Field(False, description="Kill its processes at once.")
    clear: Flag = Field(False, description="Also withdraw the inputs that wait; otherwise they are paused.")
    reason: str = Field("", description="Why; kept in the history.")


class InterruptMany(Params):
    conversations: tuple[Conversation, ...] = Field((), description="The conversations; empty with `all`.")
    all: Flag = Field(False, description="Every conversation with an open turn.")
    kill: Flag = Field(False, description="Kill their processes at once.")
    reason: str = Field("", description="Why; kept in the histories.")


class AnswerApproval(Params):
    approval: Identifier = Field(description="The approval's id.")
    decision: Decision = Field(description="approved, approved_for_session, denied or abort.")
    reason: str = Field("", description="Why; the model reads it.")


class ListApprovals(Params):
    conversation: Conversation | None = Field(None, description="Only of this conversation.")


class Attach(Named):
    after: Seq | None = Field(
        0, description="The last seq you have; 0 for everything, null for what comes from now on."
    )
    read_only: Flag = Field(False, description="Watch only; it is not expected to answer approvals.")


class Detach(Params):
    subscription: Identifier


class History(Named):
    after: Seq = Field(0, description="Events after this seq.")
    before: Annotated[Whole, Field(ge=1, lt=1 << 62)] | None = Field(
        None, description="In place of `after`: the last events before this seq. Any large number means the end."
    )
    limit: Annotated[Whole, Field(ge=1, le=1000)] = Field(PAGE, description="Greatest number of events.")


class ReadEvents(Params):
    after: Annotated[Whole, Field(ge=0, lt=1 << 62)] | None = Field(
        None, description="`cursor` of the answer before; null for what comes from now on."
    )
    limit: Annotated[Whole, Field(ge=1, le=1000)] = Field(PAGE, description="Greatest number of events.")
    wait_s: Annotated[float, Strict(), Field(ge=0, le=60)] = Field(
        0, description="How long to wait if there is no event yet."
    )


class Rename(Named):
    name: Identifier | None = Field(description="The new name; null removes it.")


class Archive(Named):
    archived: Flag = Field(True, description="False unarchives it.")


class Fork(Named):
    at: Annotated[Seq, Field(ge=1)] | None = Field(
        None, description="Copy the history up to this seq. Default: all of it."
    )
    name: Identifier | None = Field(None, description="Name of the new conversation.")


class Export(Named):
    cursor: Identifier | None = Field(None, description="`next_cursor` of the piece before.")


class Import(Params):
    lines: tuple[str, ...] = Field(description="What `conversation/export` gave.")
    upload: Identifier | None = Field(None, description="A name of your own for what comes in several requests.")
    more: Flag = Field(False, description="Further lines of this upload follow; it is stored with the last.")
    partial: Flag = Field(False, description="The last of these lines goes on in the next request of this upload.")
    new_id: Flag = Field(False, description="Use a new id; needed if the conversation still exists.")


class Withdraw(Named):
    input: Identifier = Field(description="The waiting input's id.")
    reason: str = Field("", description="Why; kept in the history.")


class Resolve(Params):
    reference: Conversation


class Cancel(Params):
    request: Whole | str = Field(description="The id of an earlier request of this connection, with its JSON type.")


class KillClient(Params):
    connection: Identifier


class Down(Params):
    drain_s: Annotated[float, Strict(), Field(ge=0, le=86_400)] | None = Field(
        None, description="How long running turns may continue. Default: from the config. 0: not at all."
    )


class ConfigGet(Params):
    key: str | None = Field(None, description="A dotted key. Default: all keys.")
