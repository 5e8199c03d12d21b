"""Methods without a conversation: a command, a git diff, a file search, the saved config, the missing login."""

from collections.abc import Iterable, Mapping
from typing import NoReturn

from msgspec import Struct
from pydantic.alias_generators import to_camel

from actors.vocabulary.errors import GreenroomError
from transports import SERVER
from transports.dialects.codex import params as p
from transports.dialects.codex.conversations import CodexCall, internal_error, invalid_request
from transports.dialects.kit.refusals import prefix_refusals
from transports.dialects.kit.script import Script, ask
from transports.supervisor_answers import FoundFiles, RemoteDiff, SingleCommandResult
from transports.supervisor_requests import AskKey, DiffToRemote, FindFiles, ReadSavedConfig, RunOnce

NO_LOGIN = (
    "Greenroom has no login: keys come from the config, by `env_key` of the model provider; "
    "`greenroom config` shows which one is used"
)

NOT_WRITTEN = (
    "the config file is never written by us: write `model` into it (`greenroom config path` names it), then "
    "`greenroom reload`"
)


ConfigValue = str | bool | list[object]  # of the config file, in this protocol's own types


class SavedConfig(Struct, frozen=True):
    config: Mapping[str, object]


class AuthStatus(Struct, frozen=True, rename="camel"):
    auth_method: str | None
    preferred_auth_method: str
    auth_token: None  # is never sent
    requires_openai_auth: bool


class UserAgent(Struct, frozen=True, rename="camel"):
    user_agent: str


def exec_one_off_command(call: CodexCall, params: p.ExecOneOffCommandParams) -> Script[SingleCommandResult]:
    if not params.command:
        raise invalid_request("command must not be empty")
    once = RunOnce(params.command, params.timeout_ms, params.cwd, params.sandbox_policy, call.state.person)
    with prefix_refusals(internal_error, "exec failed"):
        return (yield from ask(once))


def git_diff_to_remote(_: CodexCall, params: p.GitDiffToRemoteParams) -> Script[RemoteDiff]:
    try:
        return (yield from ask(DiffToRemote(params.cwd)))
    except GreenroomError:
        raise invalid_request(f'failed to compute git diff to remote for cwd: "{params.cwd}"') from None


def fuzzy_file_search(_: CodexCall, params: p.FuzzyFileSearchParams) -> Script[FoundFiles]:
    with prefix_refusals(internal_error, "the search failed"):
        return (yield from ask(FindFiles(params.query, params.roots, params.cancellation_token)))


def get_user_saved_config(_: CodexCall, __: p.EmptyCodexParams) -> Script[SavedConfig]:
    with prefix_refusals(internal_error, "failed to load config.toml"):
        saved = yield from ask(ReadSavedConfig())
    return SavedConfig(saved_config(saved.value or {}))


MODEL_KEYS = ("approval_policy", "model", "model_reasoning_effort", "model_reasoning_summary", "model_verbosity")
CONFIG_KEYS = (*MODEL_KEYS, "sandbox_mode", "profile")
PROFILE_KEYS = (*MODEL_KEYS, "model_provider", "chatgpt_base_url")
SANDBOX_KEYS = ("writable_roots", "network_access", "exclude_tmpdir_env_var", "exclude_slash_tmp")
TOOL_KEYS = ("web_search", "view_image")


def saved_config(tree: Mapping[str, object]) -> Mapping[str, object]:
    """The part of the config file that has a name in this protocol; unset keys are left out."""
    config: dict[str, object] = {**_camel_case_members(tree, CONFIG_KEYS)}
    if "sandbox_workspace_write" in tree:
        config["sandboxSettings"] = {
            "writableRoots": [],
            **_camel_case_members(tree["sandbox_workspace_write"], SANDBOX_KEYS),
        }
    if "tools" in tree:
        config["tools"] = _camel_case_members(tree["tools"], TOOL_KEYS)
    profiles = _table(tree.get("profiles"))
    config["profiles"] = {name: _camel_case_members(profile, PROFILE_KEYS) for name, profile in profiles.items()}
    return config


def get_auth_status(call: CodexCall, _: p.AuthStatusParams) -> Script[AuthStatus]:
    """Answer that a key is the only method; the key itself is never sent."""
    try:
        found = yield from ask(AskKey(call.state.person))
    except GreenroomError as why:
        raise internal_error(why.message) from None
    return AuthStatus("apikey" if found.key else None, "apikey", None, found.openai)


def get_user_agent(call: CodexCall, _: p.EmptyCodexParams) -> UserAgent:
    version = call.state.version
    return UserAgent(f"{SERVER}/{version} (Greenroom {version}; {call.client.label})")


def set_default_model(_: CodexCall, __: p.IgnoredCodexParams) -> NoReturn:
    raise invalid_request(NOT_WRITTEN)


def no_login(_: CodexCall, __: p.IgnoredCodexParams) -> NoReturn:
    raise invalid_request(NO_LOGIN)


def _camel_case_members(tree: object, keys: Iterable[str]) -> Mapping[str, ConfigValue]:
    """Keys in this protocol's spelling. Codex's own are not judged here; values that JSON lacks are left out."""
    values = ((to_camel(key), _table(tree).get(key)) for key in keys)
    return {name: value for name, value in values if isinstance(value, str | bool | list)}


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
