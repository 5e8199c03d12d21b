"""The params of each conversation method. Unknown members are ignored, as Codex did."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort, ReasoningSummary, SandboxMode, SandboxPolicy
from transports.dialects.kit.identifiers import Id


class CodexParams(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, alias_generator=to_camel)


class EmptyCodexParams(CodexParams): ...


class IgnoredCodexParams(BaseModel):
    """The params of a method that always refuses."""

    model_config = ConfigDict(frozen=True, extra="allow")


class AuthStatusParams(CodexParams):
    include_token: bool | None = None
    refresh_token: bool | None = None


class NewConversationParams(CodexParams):
    model: str | None = None
    profile: str | None = None
    cwd: str | None = None
    approval_policy: ApprovalPolicy | None = None
    sandbox: SandboxMode | None = None
    config: Mapping[str, object] | None = None
    base_instructions: str | None = None
    developer_instructions: str | None = None
    compact_prompt: str | None = None
    include_plan_tool: bool | None = None
    include_apply_patch_tool: bool | None = None


class CodexConversationParams(CodexParams):
    conversation: Id = Field(alias="conversationId")


class SendUserMessageParams(CodexConversationParams):
    items: tuple[InputItem, ...]


class SendUserTurnParams(CodexConversationParams):
    items: tuple[InputItem, ...]
    cwd: Path
    approval_policy: ApprovalPolicy
    sandbox_policy: SandboxPolicy
    model: str
    effort: ReasoningEffort | None = None
    summary: ReasoningSummary


class RemoveListenerParams(CodexParams):
    subscription: Id = Field(alias="subscriptionId")


class CodexListConversationsParams(CodexParams):
    page_size: Annotated[int, Field(ge=0, le=1000)] = 25
    cursor: str | None = None


class ResumeConversationParams(CodexParams):
    path: str
    overrides: NewConversationParams | None = None


class ArchiveConversationParams(CodexConversationParams):
    rollout_path: str


class GitDiffToRemoteParams(CodexParams):
    cwd: str


class FuzzyFileSearchParams(CodexParams):
    query: str
    roots: Annotated[tuple[str, ...], Field(max_length=64)]
    cancellation_token: str | None = None


class ExecOneOffCommandParams(CodexParams):
    command: tuple[str, ...]
    timeout_ms: Annotated[float, Field(gt=0)] | None = None
    cwd: str | None = None
    sandbox_policy: SandboxPolicy | None = None
