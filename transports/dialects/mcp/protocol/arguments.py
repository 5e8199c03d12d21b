"""The arguments of each tool, with their texts for `tools/list`.

The first two families ignore unknown members, as Codex did; our own tools refuse them.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import ApprovalPolicy, BusyPolicy, Decision, ReasoningEffort, SandboxMode
from transports.dialects.kit.identifiers import Id

ID = "The conversation's id (threadId)."
WHEN_TO_ASK = "When to ask for approval."
SANDBOX = "What commands may read and write."
PROFILE = "A profile of config.toml."
DIRECTORY = "Working directory; a relative one is relative to the server's."
DEVELOPER = "Told to the model as the developer's, before all else."
INSTRUCTIONS = "Replaces the built-in instructions."
DECISIONS = [decision.value for decision in Decision if decision is not Decision.WITHDRAWN]

Overrides = Annotated[Mapping[str, object], WithJsonSchema({"type": "object", "additionalProperties": True})]
Content = Annotated[tuple[InputItem, ...], WithJsonSchema({"type": "array", "items": {"type": "object"}})]
Choice = Annotated[Decision, WithJsonSchema({"type": "string", "enum": DECISIONS})]
Named = Annotated[str, Field(description="The conversation's id, a unique prefix of it, or its name.")]


class CodexArguments(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", populate_by_name=True, alias_generator=lambda name: name.replace("_", "-")
    )
    prompt: str = Field(description="The task for the agent.")
    model: str | None = Field(None, description="The model. Default: from the config.")
    profile: str | None = Field(None, description=PROFILE)
    cwd: str | None = Field(None, description=DIRECTORY)
    approval_policy: ApprovalPolicy | None = Field(None, description=WHEN_TO_ASK)
    sandbox: SandboxMode | None = Field(None, description=SANDBOX)
    config: Overrides | None = Field(None, description="Overrides of config.toml, by dotted key.")
    base_instructions: str | None = Field(None, description=INSTRUCTIONS)
    developer_instructions: str | None = Field(None, description=DEVELOPER)
    compact_prompt: str | None = Field(None, description="Accepted; has no effect yet.")
    include_plan_tool: bool | None = Field(None, description="Offer the plan tool to the model.")


class CodexReplyArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)
    prompt: str = Field(description="The next message.")
    session_id: str = Field(
        alias="sessionId",
        validation_alias=AliasChoices("sessionId", "threadId", "conversationId"),
        description=ID,
    )
    if_busy: BusyPolicy = Field(
        BusyPolicy.STEER,
        alias="if-busy",
        description="How to handle it while a turn runs; steer joins that turn (default).",
    )


# --- of August 2025 --------------------------------------------------------------------------------------------


class LenientArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


def _object_or_nothing(value: object) -> Mapping[str, object] | None:
    return value if isinstance(value, dict) else None


class ConversationCreateArguments(LenientArguments):
    prompt: str = Field(description="Not used; sends nothing.")
    model: str = Field(description="The model.")
    cwd: str = Field(description="Working directory.")
    approval_policy: ApprovalPolicy | None = Field(None, description=WHEN_TO_ASK)
    sandbox: SandboxMode | None = Field(None, description=SANDBOX)
    config: Annotated[Overrides | None, BeforeValidator(_object_or_nothing)] = Field(
        None, description="Overrides of the config."
    )
    profile: str | None = Field(None, description=PROFILE)
    base_instructions: str | None = Field(None, description=INSTRUCTIONS)


class ConversationSendMessageArguments(LenientArguments):
    conversation_id: Id = Field(description=ID)
    content: Content = Field(description="Words and pictures.")


class ConversationStreamArguments(LenientArguments):
    conversation_id: Id = Field(description=ID)


class ConversationsListArguments(LenientArguments):
    limit: Annotated[int, Field(ge=0, lt=1 << 32)] | None = None
    cursor: str | None = None


# --- ours -------------------------------------------------------------------------------------------------------


class StrictArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, alias_generator=to_camel)


class StartConversationArguments(StrictArguments):
    prompt: str = Field(description="The task for the agent.")
    agent: str | None = Field(None, description="Which agent. Default: from the config.")
    model: str | None = Field(None, description="The model. Default: from the config.")
    profile: str | None = Field(None, description=PROFILE)
    cwd: str | None = Field(None, description=DIRECTORY)
    approval_policy: ApprovalPolicy | None = Field(None, description=WHEN_TO_ASK)
    sandbox: SandboxMode | None = Field(None, description=SANDBOX)
    config: Overrides | None = Field(None, description="Overrides of config.toml, by dotted key.")
    base_instructions: str | None = Field(None, description=INSTRUCTIONS)
    developer_instructions: str | None = Field(None, description=DEVELOPER)


class SendMessageArguments(StrictArguments):
    thread_id: Named
    prompt: str = Field(description="The next message.")
    if_busy: BusyPolicy = Field(
        BusyPolicy.STEER, description="How to handle it while a turn runs; steer joins that turn (default)."
    )


class WaitConversationArguments(StrictArguments):
    thread_id: Named
    seconds: float = Field(
        45,
        ge=0,
        le=240,
        description="Longest time to wait, less than your client waits for a tool. Default: 45. 0: look and return.",
    )
    after: int | None = Field(
        None,
        ge=0,
        description="Tell what was said after this event: the `after` of the last result. Default: from now on.",
    )


class ListConversationsArguments(StrictArguments):
    limit: int = Field(20, ge=1, le=200, description="Greatest number of conversations. Default: 20.")
    cursor: str | None = Field(None, description="nextCursor of the page before.")
    cwd: str | None = Field(None, description="Only those in this directory.")
    archived: bool = Field(False, description="Include archived conversations.")
    search: str | None = Field(
        None,
        min_length=1,
        max_length=1000,
        description='Only those in which this was said lately, with the place: words, "a phrase", the beginning of a '
        "word*. read_conversation shows more of it.",
    )


class InterruptConversationArguments(StrictArguments):
    thread_id: Named
    reason: str = Field("", description="Why; kept in the history.")


class WaitingMessagesArguments(StrictArguments):
    thread_id: Named
    action: Literal["list", "edit", "move", "withdraw", "withdraw_all", "go_on"] = Field(
        "list", description="list only; edit, move or withdraw one; withdraw all; or let them go on."
    )
    input_id: str | None = Field(None, description="The message to edit, move or withdraw.")
    text: str | None = Field(None, description="For edit: its words from now on.")
    before: str | None = Field(None, description="For move: the message it goes before. Default: it is the last.")


class SetConversationArguments(StrictArguments):
    """New settings. Null restores the config's value; omitted members stay."""

    thread_id: Named
    agent: str | None = Field(
        None, min_length=1, description="The agent of the turns to come, by its name: claude, codex, greenroom, …"
    )
    model: str | None = Field(None, min_length=1, description="The model.")
    provider: str | None = Field(None, min_length=1, description="The model provider, as the config calls it.")
    profile: str | None = Field(None, min_length=1, description="A profile of config.toml, whose values are taken.")
    effort: ReasoningEffort | None = Field(None, description="How hard a reasoning model thinks.")
    approval_policy: ApprovalPolicy | None = Field(None, description=WHEN_TO_ASK)
    sandbox: SandboxMode | None = Field(None, description=SANDBOX)
    name: str | None = Field(None, min_length=1, max_length=200, description="The conversation's name.")

    @property
    def values(self) -> dict[str, str | tuple[str, ...] | None]:
        return {name: getattr(self, name) for name in self.model_fields_set - {"thread_id", "name"}}


class ReadConversationArguments(StrictArguments):
    thread_id: Named
    after: int = Field(0, ge=0, description="Events after this one; 0 for the start.")
    before: int | None = Field(
        None,
        ge=1,
        lt=1 << 62,
        description="In place of `after`: the last events before this one. A large number: the end.",
    )
    limit: int = Field(100, ge=1, le=256, description="Greatest number of events. Default: 100.")


class AnswerApprovalArguments(StrictArguments):
    approval_id: str = Field(description="The approval's id.")
    decision: Choice = Field(
        description="approved_for_session: also the same later in this conversation. abort: ends the turn, too."
    )
    reason: str = Field("", description="Why; the model reads it when it is a denial.")
    option: str = Field("", description="One of the options that the agent offers, by its id or its name.")
    content: Overrides = Field(
        default_factory=dict, description="What the server that asks is told: its fields' names, and a value each."
    )
    outside: bool = Field(
        False, description="With a yes that would otherwise mean inside the sandbox: run it outside."
    )
