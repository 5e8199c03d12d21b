"""The policies of a conversation, and the settings that are journalled with it. A leaf, no logic."""

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FROZEN = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64", val_json_bytes="base64", defer_build=True)


class ApprovalPolicy(StrEnum):
    UNTRUSTED = "untrusted"
    ON_FAILURE = "on-failure"
    ON_REQUEST = "on-request"
    NEVER = "never"


class SandboxMode(StrEnum):
    READ_ONLY = "read-only"
    WORKSPACE_WRITE = "workspace-write"
    DANGER_FULL_ACCESS = "danger-full-access"


class ReasoningEffort(StrEnum):
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    NONE = "none"


class ReasoningSummary(StrEnum):
    AUTO = "auto"
    CONCISE = "concise"
    DETAILED = "detailed"
    NONE = "none"


class BusyPolicy(StrEnum):
    """The handling of input for a conversation whose turn is running."""

    STEER = "steer"
    ENQUEUE = "enqueue"
    REJECT = "reject"
    INTERRUPT = "interrupt"


class Task(StrEnum):
    """The work of a turn: to answer what was said, to sum up the history so that there is room again, or to follow
    an agent that works although nobody said anything.
    """

    ANSWER = "answer"
    COMPACT = "compact"
    FOLLOW = "follow"


class Decision(StrEnum):
    """The answer to an approval. No client can send `withdrawn`: only the end of a turn withdraws."""

    APPROVED = "approved"
    APPROVED_FOR_SESSION = "approved_for_session"
    DENIED = "denied"
    ABORT = "abort"
    WITHDRAWN = "withdrawn"


class AbortReason(StrEnum):
    INTERRUPTED = "interrupted"
    REPLACED = "replaced"
    FAILED = "failed"
    LOST = "lost"
    BUDGET = "budget"


class DangerFullAccess(BaseModel):
    model_config = FROZEN
    mode: Literal["danger-full-access"] = Field("danger-full-access", description="No sandbox.")


class ReadOnly(BaseModel):
    model_config = FROZEN
    mode: Literal["read-only"] = Field("read-only", description="Read anything, write nothing, no network.")


class WorkspaceWrite(BaseModel):
    model_config = FROZEN
    mode: Literal["workspace-write"] = Field(
        "workspace-write",
        description="Write below the working directory, the temporary directories and the roots.",
    )
    writable_roots: tuple[Path, ...] = Field((), description="Further directories that may be written.")
    network_access: bool = Field(False, description="Whether commands may use the network.")
    exclude_tmpdir_env_var: bool = Field(False, description="Keep $TMPDIR read-only.")
    exclude_slash_tmp: bool = Field(False, description="Keep /tmp read-only.")
    unix_sockets: tuple[Path, ...] = Field((), description="Unix sockets outside that commands may connect to.")


SandboxPolicy = Annotated[DangerFullAccess | ReadOnly | WorkspaceWrite, Field(discriminator="mode")]


class Pin(BaseModel):
    """A directory that a policy opens, as it was found when it was first named. Its name may come to mean another."""

    model_config = FROZEN
    name: Path = Field(description="As the policy names it.")
    path: Path | None = Field(None, description="Where it really is; null: there was no such directory.")
    device: int = Field(0, description="Device number; it is only good for one boot.")
    inode: int = Field(0, description="Inode number.")
    boot: str = Field("", description="The boot in which it was looked at.")


class Settings(BaseModel):
    """The settings that a turn runs with. A conversation has its own; a turn may carry others for itself alone."""

    model_config = FROZEN
    model: str = Field(description="The model's name, as the provider knows it.")
    provider: str = Field("", description="Key of the model provider in the config; empty means the default one.")
    cwd: Path = Field(description="Absolute working directory of commands and patches.")
    approval_policy: ApprovalPolicy = Field(ApprovalPolicy.ON_REQUEST, description="When to ask a person.")
    sandbox: SandboxPolicy = Field(ReadOnly(), description="What commands may read and write.")
    effort: ReasoningEffort = Field(ReasoningEffort.MEDIUM, description="How hard a reasoning model thinks.")
    summary: ReasoningSummary = Field(ReasoningSummary.AUTO, description="How reasoning is summarised.")
    base_instructions: str | None = Field(None, description="Replaces the built-in instructions.")
    developer_instructions: str | None = Field(
        None, description="Told to the model before everything that is said, beside the built-in instructions."
    )
    include_plan_tool: bool = Field(False, description="Offer update_plan to the model.")
    include_apply_patch_tool: bool = Field(False, description="Offer apply_patch as a tool of its own.")
    roots: tuple[Pin, ...] | None = Field(
        None, description="What the writable directories were when they were first named; null: not looked at yet."
    )
    overrides: dict[str, Any] = Field(
        default_factory=dict, description="Overrides of the config that were given at creation; no secrets."
    )
    agent: str = Field("", description="The agent that carries out turns; empty means Greenroom's own.")
    agent_model: str = Field(
        "", description="The model that was named for an agent that is not Greenroom's own; empty: its own choice."
    )
    agent_effort: str = Field(
        "",
        description="The effort that was named for an agent that is not Greenroom's own, in its words; empty: none.",
    )

    def with_known_roots(self, earlier: "Settings") -> "Settings":
        """These settings, where directories that were known before stay as they were known."""
        if not earlier.roots:
            return self
        known = {pin.name for pin in earlier.roots}
        added = (pin for pin in self.roots or () if pin.name not in known)
        return self.model_copy(update={"roots": (*earlier.roots, *added)})

    def with_fields_of(self, other: "Settings", fields: Collection[str]) -> "Settings":
        """These settings, with the named fields of others. Directories that are known stay as they were known."""
        pins = {"roots": other.roots} if {"sandbox", "cwd"}.intersection(fields) else {}
        return self.model_copy(update={name: getattr(other, name) for name in fields} | pins).with_known_roots(self)


class SettingChange(BaseModel):
    """A setting that has another value now, in words for people."""

    model_config = FROZEN
    name: str = Field(description="The setting, as `greenroom set` calls it.")
    before: str = Field("", description="What it was; empty: nothing was set.")
    after: str = Field("", description="What it is now.")
