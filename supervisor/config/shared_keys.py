"""The keys that Codex has too: model, providers, policies, profiles, the environment of commands.

Names, types and defaults are Codex's, so that its users need no file of ours.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort, ReasoningSummary, SandboxMode
from supervisor.config.config_table import (
    AbsolutePath,
    ConfigTable,
    Flag,
    HttpUrl,
    Integer,
    Milliseconds,
    TokenNumber,
    VariableName,
)
from supervisor.config.mcp_servers import McpServer

# Keys that matter to Codex only. They are accepted, so that one file can serve both programs.
WITHOUT_EFFECT = {
    "chatgpt_base_url": "Greenroom does not log in to ChatGPT",
    "experimental_resume": "every conversation can be resumed",
    "features": "it switches features of Codex",
    "file_opener": "it belongs to Codex's terminal",
    "history": "use `[greenroom.retention]` for the journal",
    "internal_originator": "no such header is sent",
    "model_supports_reasoning_summaries": "the model's name decides",
    "projects": "directories are not trusted one by one",
    "shell_environment_policy.experimental_use_profile": "commands never read a shell's profile",
    "tui": "it belongs to Codex's terminal",
}


class WireApi(StrEnum):
    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"


KeyHeader = Literal["authorization", "x-api-key", "api-key"]


class Inherit(StrEnum):
    ALL = "all"
    CORE = "core"
    NONE = "none"


class ModelProvider(ConfigTable):
    """A server of models."""

    name: str = Field("", description="Name for people. Empty: its key.")
    base_url: HttpUrl | None = Field(
        None, description="URL of its API, without `/chat/completions`, `/responses` or `/messages`. Unset: OpenAI's."
    )
    env_key: VariableName | None = Field(
        None, description="Environment variable that holds the API key. An empty one counts as missing."
    )
    env_key_instructions: str | None = Field(
        None, description="How to get a key; shown when that variable is missing."
    )
    wire_api: WireApi = Field(
        WireApi.CHAT, description="The API that it speaks: one of OpenAI's two, or Anthropic's."
    )
    key_header: KeyHeader | None = Field(
        None,
        description="Header that carries the key, in `authorization` as a bearer. Unset: `x-api-key` for `messages`, "
        "else `authorization`.",
    )
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
        True,
        description="Ask a chat server for token counts. One that refuses that is asked again without.",
    )
    requires_openai_auth: Flag = Field(
        False, description="Without `env_key`: send the key in `OPENAI_API_KEY` to this provider too."
    )


class Profile(ConfigTable):
    """Values that win over those of the top level while the profile is selected. Unset values don't count."""

    model: str | None = Field(None, description="As at the top level.")
    model_provider: str | None = Field(None, description="As at the top level.")
    approval_policy: ApprovalPolicy | None = Field(None, description="As at the top level.")
    sandbox_mode: SandboxMode | None = Field(None, description="As at the top level.")
    disable_response_storage: Flag | None = Field(None, description="As at the top level.")
    model_reasoning_effort: ReasoningEffort | None = Field(None, description="As at the top level.")
    model_reasoning_summary: ReasoningSummary | None = Field(None, description="As at the top level.")
    experimental_instructions_file: str | None = Field(None, description="As at the top level.")


class SandboxWorkspaceWrite(ConfigTable):
    """Permissions that `sandbox_mode = "workspace-write"` gives besides writing in the working directory."""

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


class ToolsTable(ConfigTable):
    """Tools of models that are switched on or off. `greenroom.disabled_tools` has the others."""

    web_search: Flag = Field(
        False,
        description="Let models search the web where their provider does that itself: on the wires `responses` and "
        "`messages`, and at OpenRouter. Off, because it is paid for, and because it is a way out for what they know.",
    )
    view_image: Flag = Field(True, description="Offer the tool `view_image` to the model.")


class SharedKeys(ConfigTable):
    """The top level of the file, as far as Codex knows it."""

    model: str | None = Field(
        None,
        description="The model's name. Unset: `gpt-5` at `openai` and at providers of one's own, at the other "
        "built-in ones a model that they have.",
    )
    model_provider: str | None = Field(
        None,
        description="Key into `model_providers`, or one of the built-in `openai`, `anthropic`, `azure`, "
        "`openrouter`, `gemini`, those on this machine: `ollama`, `lmstudio`, `vllm`, `llamacpp`, `oss`, and `demo` "
        "(no network, no key). Unset: `openai` if `OPENAI_API_KEY` is set, else `demo`.",
    )
    model_providers: Mapping[str, ModelProvider] = Field(
        {},
        description="Further providers by key. One with the name of a built-in provider wins: with a `base_url` it "
        "stands alone, without one it changes only the keys that it sets.",
    )
    model_context_window: TokenNumber | None = Field(
        None,
        description="Tokens that the model can read at once. Wins over what is known of it. Unset: from a table of "
        "hosted models, or asked of a server on this machine or in this network.",
    )
    model_auto_compact_token_limit: TokenNumber | None = Field(
        None,
        description="Tokens of history at which it is summed up, where `greenroom.compact_at_percent` allows more.",
    )
    approval_policy: ApprovalPolicy = Field(
        ApprovalPolicy.ON_REQUEST, description="When to ask a person for an approval."
    )
    sandbox_mode: SandboxMode | None = Field(
        None,
        description="What commands may read and write. Unset: `workspace-write` in a repository or directory of your "
        "own, else `read-only`; see [the sandbox](how-to/sandbox.md).",
    )
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
    model_max_output_tokens: Integer | None = Field(
        None,
        ge=1,
        le=2**30,
        description="Tokens that an answer may have at most, its reasoning included; ignored by `wire_api` `chat`. "
        "Unset: what the provider allows; for `messages`, which wants a number, 64000 for newer Claude models and "
        "32000 for others.",
    )
    disable_response_storage: Flag = Field(False, description="Ask the provider not to keep the answers.")
    show_raw_agent_reasoning: Flag = Field(False, description="Show the model's reasoning as it is, not summarised.")
    hide_agent_reasoning: Flag = Field(False, description="Show no reasoning at all.")
    mcp_servers: Mapping[str, McpServer] = Field({}, description="Servers whose tools conversations have, by name.")
    notify: tuple[str, ...] = Field(
        (),
        description="A program to run after each turn and when an approval is asked for, and its arguments; one JSON "
        "argument is added.",
    )
    project_doc_max_bytes: Integer = Field(32_768, ge=0, le=2**30, description="Bytes of AGENTS.md to read. 0: none.")
    tools: ToolsTable = Field(ToolsTable.model_construct(), description="Tools of models.")
    include_plan_tool: Flag = Field(True, description="Offer the tool `update_plan` to the model.")
    include_apply_patch_tool: Flag = Field(
        True, description="Offer `apply_patch` to the model as a tool of its own, besides the shell command."
    )
    experimental_instructions_file: str | None = Field(
        None, description="File that replaces the built-in instructions; relative to the working directory."
    )
