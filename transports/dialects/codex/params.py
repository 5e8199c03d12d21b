"""The params of each conversation method. Unknown members are ignored, as Codex did."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort, ReasoningSummary, SandboxMode, SandboxPolicy
from transports.dialects.kit.identifiers import Id
from transports.jsonrpc import JsonObject


class Params(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, alias_generator=to_camel)


class Nothing(Params): ...


class Anything(BaseModel):
    """The params of a method that always refuses."""

    model_config = ConfigDict(frozen=True, extra="allow")


class AuthStatus(Params):
    include_token: bool | None = None
    refresh_token: bool | None = None


class NewConversation(Params):
    model: str | None = None
    profile: str | None = None
    cwd: str | None = None
    approval_policy: ApprovalPolicy | None = None
    sandbox: SandboxMode | None = None
    config: JsonObject | None = None
    base_instructions: str | None = None
    developer_instructions: str | None = None
    compact_prompt: str | None = None
    include_plan_tool: bool | None = None
    include_apply_patch_tool: bool | None = None


class Named(Params):
    conversation: Id = Field(alias="conversationId")


class SendUserMessage(Named):
    items: tuple[InputItem, ...]


class SendUserTurn(Named):
    items: tuple[InputItem, ...]
    cwd: Path
    approval_policy: ApprovalPolicy
    sandbox_policy: SandboxPolicy
    model: str
    effort: ReasoningEffort | None = None
    summary: ReasoningSummary


class RemoveListener(Params):
    subscription: Id = Field(alias="subscriptionId")


class ListConversations(Params):
    page_size: Annotated[int, Field(ge=0, le=1000)] = 25
    cursor: str | None = None


class ResumeConversation(Params):
    path: str
    overrides: NewConversation | None = None


class ArchiveConversation(Named):
    rollout_path: str


class GitDiffToRemote(Params):
    cwd: str


class FuzzyFileSearch(Params):
    query: str
    roots: Annotated[tuple[str, ...], Field(max_length=64)]
    cancellation_token: str | None = None


class ExecOneOffCommand(Params):
    command: tuple[str, ...]
    timeout_ms: Annotated[float, Field(gt=0)] | None = None
    cwd: str | None = None
    sandbox_policy: SandboxPolicy | None = None
