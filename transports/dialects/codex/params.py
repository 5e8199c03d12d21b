"""The params of each conversation method. Members that are not known are ignored, as Codex did."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort, ReasoningSummary, SandboxMode, SandboxPolicy
from transports.dialects.kit.identifiers import Id
from transports.jsonrpc import JsonObject

CAMEL = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Nothing(BaseModel):
    model_config = CAMEL


class Anything(BaseModel):
    """The params of a method that always refuses."""

    model_config = ConfigDict(frozen=True, extra="allow")


class AuthStatus(BaseModel):
    model_config = CAMEL
    include_token: bool | None = Field(None, alias="includeToken")
    refresh_token: bool | None = Field(None, alias="refreshToken")


class NewConversation(BaseModel):
    model_config = CAMEL
    model: str | None = None
    profile: str | None = None
    cwd: str | None = None
    approval_policy: ApprovalPolicy | None = Field(None, alias="approvalPolicy")
    sandbox: SandboxMode | None = None
    config: JsonObject | None = None
    base_instructions: str | None = Field(None, alias="baseInstructions")
    developer_instructions: str | None = Field(None, alias="developerInstructions")
    compact_prompt: str | None = Field(None, alias="compactPrompt")
    include_plan_tool: bool | None = Field(None, alias="includePlanTool")
    include_apply_patch_tool: bool | None = Field(None, alias="includeApplyPatchTool")


class Named(BaseModel):
    model_config = CAMEL
    conversation: Id = Field(alias="conversationId")


class SendUserMessage(Named):
    items: tuple[InputItem, ...]


class SendUserTurn(Named):
    items: tuple[InputItem, ...]
    cwd: Path
    approval_policy: ApprovalPolicy = Field(alias="approvalPolicy")
    sandbox_policy: SandboxPolicy = Field(alias="sandboxPolicy")
    model: str
    effort: ReasoningEffort | None = None
    summary: ReasoningSummary


class RemoveListener(BaseModel):
    model_config = CAMEL
    subscription: Id = Field(alias="subscriptionId")


class ListConversations(BaseModel):
    model_config = CAMEL
    page_size: Annotated[int, Field(ge=0, le=1000)] = Field(25, alias="pageSize")
    cursor: str | None = None


class ResumeConversation(BaseModel):
    model_config = CAMEL
    path: str
    overrides: NewConversation | None = None


class ArchiveConversation(Named):
    rollout_path: str = Field(alias="rolloutPath")


class GitDiffToRemote(BaseModel):
    model_config = CAMEL
    cwd: str


class FuzzyFileSearch(BaseModel):
    model_config = CAMEL
    query: str
    roots: Annotated[tuple[str, ...], Field(max_length=64)]
    cancellation_token: str | None = Field(None, alias="cancellationToken")


class ExecOneOffCommand(BaseModel):
    model_config = CAMEL
    command: tuple[str, ...]
    timeout_ms: Annotated[float, Field(gt=0)] | None = Field(None, alias="timeoutMs")
    cwd: str | None = None
    sandbox_policy: SandboxPolicy | None = Field(None, alias="sandboxPolicy")
