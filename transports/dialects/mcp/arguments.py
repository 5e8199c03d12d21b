"""The arguments of each tool. The first two families ignore members they don't know, as Codex did; ours refuse."""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import ApprovalPolicy, BusyPolicy, Decision, SandboxMode
from transports.dialects.kit.identifiers import Id
from transports.jsonrpc import JsonObject

LENIENT = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)
STRICT = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Codex(BaseModel):
    model_config = LENIENT
    prompt: str
    model: str | None = None
    profile: str | None = None
    cwd: str | None = None
    approval_policy: ApprovalPolicy | None = Field(None, alias="approval-policy")
    sandbox: SandboxMode | None = None
    config: JsonObject | None = None
    base_instructions: str | None = Field(None, alias="base-instructions")
    developer_instructions: str | None = Field(None, alias="developer-instructions")
    compact_prompt: str | None = Field(None, alias="compact-prompt")
    include_plan_tool: bool | None = Field(None, alias="include-plan-tool")


class CodexReply(BaseModel):
    model_config = LENIENT
    session_id: str = Field(
        alias="sessionId", validation_alias=AliasChoices("sessionId", "threadId", "conversationId")
    )
    prompt: str
    if_busy: BusyPolicy = Field(BusyPolicy.STEER, alias="if-busy")


# --- of August 2025 --------------------------------------------------------------------------------------------


def _object_or_nothing(value: object) -> JsonObject | None:
    return value if isinstance(value, dict) else None


class ConversationCreate(BaseModel):
    model_config = LENIENT
    prompt: str
    model: str
    cwd: str
    approval_policy: ApprovalPolicy | None = None
    sandbox: SandboxMode | None = None
    config: Annotated[JsonObject | None, BeforeValidator(_object_or_nothing)] = None
    profile: str | None = None
    base_instructions: str | None = None


class ConversationSendMessage(BaseModel):
    model_config = LENIENT
    conversation_id: Id
    content: tuple[InputItem, ...]


class ConversationStream(BaseModel):
    model_config = LENIENT
    conversation_id: Id


class ConversationsList(BaseModel):
    model_config = LENIENT
    limit: Annotated[int, Field(ge=0, lt=1 << 32)] | None = None
    cursor: str | None = None


# --- ours -------------------------------------------------------------------------------------------------------


class ListConversations(BaseModel):
    model_config = STRICT
    limit: Annotated[int, Field(ge=1, le=200)] = 20
    cursor: str | None = None
    cwd: str | None = None
    archived: bool = False
    search: Annotated[str, Field(min_length=1, max_length=1000)] | None = None


class InterruptConversation(BaseModel):
    model_config = STRICT
    thread_id: str = Field(alias="threadId")
    reason: str = ""


class ReadConversation(BaseModel):
    model_config = STRICT
    thread_id: str = Field(alias="threadId")
    after: Annotated[int, Field(ge=0)] = 0
    limit: Annotated[int, Field(ge=1, le=256)] = 100


class AnswerApproval(BaseModel):
    model_config = STRICT
    approval_id: str = Field(alias="approvalId")
    decision: Decision
    reason: str = ""
