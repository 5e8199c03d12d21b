"""The keys that Codex has too: model, providers, policies, profiles, the environment of commands.

Names, types and defaults are Codex's, so that its users have nothing to write.
"""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort, ReasoningSummary, SandboxMode
from supervisor.config.table import AbsolutePath, ConfigTable, Flag, HttpUrl, Integer, Milliseconds, VariableName

# Keys that matter to Codex only. They are accepted, so that one file can serve both programs.
WITHOUT_EFFECT = {
    "chatgpt_base_url": "Greenroom does not log in to ChatGPT",
    "experimental_resume": "every conversation can be resumed",
    "features": "it switches features of Codex",
    "file_opener": "it belongs to Codex's terminal",
    "history": "use `[greenroom.retention]` for the journal",
    "internal_originator": "no such header is sent",
    "mcp_servers": "conversations have no tools from MCP servers",
    "model_context_window": "a history is sent whole, and the provider says when it is too long",
    "model_max_output_tokens": "the provider limits its answers",
    "model_supports_reasoning_summaries": "the model's name decides",
    "projects": "directories are not trusted one by one",
    "shell_environment_policy.experimental_use_profile": "commands never read a shell's profile",
    "tools": "it switches features of Codex",
    "tui": "it belongs to Codex's terminal",
}


class WireApi(StrEnum):
    CHAT = "chat"
    RESPONSES = "responses"


class Inherit(StrEnum):
    ALL = "all"
    CORE = "core"
    NONE = "none"


class ModelProvider(ConfigTable):
    """A server of models."""

    name: str = Field("", description="Name for people. Empty: its key.")
    base_url: HttpUrl | None = Field(
        None, description="URL of its API, without `/chat/completions` or `/responses`. Unset: OpenAI's."
    )
    env_key: VariableName | None = Field(
        None, description="Environment variable that holds the API key. An empty one counts as missing."
    )
    env_key_instructions: str | None = Field(
        None, description="How to get a key; shown when that variable is missing."
    )
    wire_api: WireApi = Field(WireApi.CHAT, description="The one of OpenAI's two APIs that it speaks.")
    query_params: Mapping[str, str] = Field(
        {}, repr=False, description="Parameters to add to the URL of every request."
    )
    http_headers: Mapping[str, str] = Field({}, repr=False, description="Headers to send with every request.")
    env_http_headers: Mapping[str, VariableName] = Field(
        {}, description="Headers whose value is in an environment variable; left out when that is unset or empty."
    )
    request_max_retries: Integer = Field(
        4, ge=0, le=100, description="How often to repeat a request that got no answer or a 5xx."
    )
    stream_max_retries: Integer = Field(
        5, ge=0, le=100, description="How often to ask again for an answer whose stream broke."
    )
    stream_idle_timeout_ms: Milliseconds = Field(
        300_000,
        description="A stream without data for this time counts as broken. Reasoning models may think for minutes.",
    )
    include_usage: Flag = Field(
        False,
        description="Ask a chat server for token counts. Off by default, because strict servers refuse the request.",
    )
    requires_openai_auth: Flag = Field(
        False, description="Without `env_key`: send the key in `OPENAI_API_KEY` to this provider too."
    )


class Profile(ConfigTable):
    """Values that win over those of the top level while the profile is selected. Unset values don't."""

    model: str | None = Field(None, description="As at the top level.")
    model_provider: str | None = Field(None, description="As at the top level.")
    approval_policy: ApprovalPolicy | None = Field(None, description="As at the top level.")
    sandbox_mode: SandboxMode | None = Field(None, description="As at the top level.")
    disable_response_storage: Flag | None = Field(None, description="As at the top level.")
    model_reasoning_effort: ReasoningEffort | None = Field(None, description="As at the top level.")
    model_reasoning_summary: ReasoningSummary | None = Field(None, description="As at the top level.")
    experimental_instructions_file: str | None = Field(None, description="As at the top level.")


class SandboxWorkspaceWrite(ConfigTable):
    """Permissions that `sandbox_mode = "workspace-write"` gives besides writing to the working directory."""

    writable_roots: tuple[AbsolutePath, ...] = Field(
        (), description="Further directories that commands may write to."
    )
    network_access: Flag = Field(False, description="Whether commands may use the network.")
    exclude_tmpdir_env_var: Flag = Field(False, description="Keep `$TMPDIR` read-only.")
    exclude_slash_tmp: Flag = Field(False, description="Keep `/tmp` read-only.")


class ShellEnvironmentPolicy(ConfigTable):
    """The environment of a conversation's commands, made in this order: inherit, exclude, set, include_only.

    Patterns may contain `*` and `?`; upper and lower case make no difference.
    """

    inherit: Inherit = Field(
        Inherit.ALL,
        description="Start with all of the client's variables, the core ones "
        "(HOME LOGNAME PATH SHELL USER USERNAME TMPDIR TEMP TMP), or none.",
    )
    ignore_default_excludes: Flag = Field(
        False,
        description="Keep variables whose names suggest a secret. By default names are dropped that contain KEY, "
        "SECRET, TOKEN, PASSWORD, PASSWD, PASSPHRASE or CREDENTIAL, or one of the words PASS, PWD, PAT, AUTH, CREDS, "
        "PRIVATE, COOKIE, JWT, BEARER, AUTHORIZATION between underscores (PWD, OLDPWD and SSH_AUTH_SOCK are kept). "
        "Variables that the providers' env_key and env_http_headers name are dropped in any case.",
    )
    exclude: tuple[str, ...] = Field((), description="Names to drop.")
    set: Mapping[str, str] = Field({}, repr=False, description="Variables to set, whatever was inherited.")
    include_only: tuple[str, ...] = Field((), description="Names to keep, if not empty; all others are dropped.")


class SharedKeys(ConfigTable):
    """The top level of the file, as far as Codex knows it."""

    model: str | None = Field(
        None, description="The model's name. Unset: `gpt-5`; `gpt-oss:20b` at provider `oss`, `demo` at `demo`."
    )
    model_provider: str | None = Field(
        None,
        description="Key into `model_providers`, or one of the built-in `openai`, `oss` (a model server on this "
        "machine), `demo` (no network, no key). Unset: `openai` if `OPENAI_API_KEY` is set, else `demo`.",
    )
    model_providers: Mapping[str, ModelProvider] = Field(
        {}, description="Further providers by key. The built-in ones can't be redefined."
    )
    approval_policy: ApprovalPolicy = Field(
        ApprovalPolicy.ON_REQUEST, description="When to ask a person for an approval."
    )
    sandbox_mode: SandboxMode = Field(SandboxMode.READ_ONLY, description="What commands may read and write.")
    sandbox_workspace_write: SandboxWorkspaceWrite = Field(
        SandboxWorkspaceWrite(), description="What workspace-write allows."
    )
    shell_environment_policy: ShellEnvironmentPolicy = Field(
        ShellEnvironmentPolicy(), description="The environment that commands get."
    )
    profile: str | None = Field(None, description="The profile to use unless another one is named.")
    profiles: Mapping[str, Profile] = Field({}, description="Named sets of values.")
    model_reasoning_effort: ReasoningEffort = Field(
        ReasoningEffort.MEDIUM, description="How much a reasoning model thinks."
    )
    model_reasoning_summary: ReasoningSummary = Field(
        ReasoningSummary.AUTO, description="How reasoning is summarised."
    )
    disable_response_storage: Flag = Field(False, description="Ask the provider not to keep the answers.")
    show_raw_agent_reasoning: Flag = Field(False, description="Show the model's reasoning as it is, not summarised.")
    hide_agent_reasoning: Flag = Field(False, description="Show no reasoning at all.")
    notify: tuple[str, ...] = Field(
        (), description="A program to run after each turn, and its arguments; one JSON argument is added."
    )
    project_doc_max_bytes: Integer = Field(32_768, ge=0, le=2**30, description="Bytes of AGENTS.md to read. 0: none.")
    include_plan_tool: Flag = Field(False, description="Offer the tool `update_plan` to the model.")
    include_apply_patch_tool: Flag = Field(
        False, description="Offer `apply_patch` to the model as a tool of its own, besides the shell command."
    )
    experimental_instructions_file: str | None = Field(
        None, description="File that replaces the built-in instructions; relative to the working directory."
    )
