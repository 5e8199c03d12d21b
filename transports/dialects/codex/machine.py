"""Methods about no conversation: a command, a git diff, a search, the saved config, the login that there is not."""

from collections.abc import Iterable, Mapping
from typing import NoReturn

from pydantic.alias_generators import to_camel

from actors.vocabulary.errors import GreenroomError
from transports import SERVER
from transports.dialects.codex import params as p
from transports.dialects.codex.conversations import CodexCall, internal_error, invalid_request
from transports.dialects.kit.refusals import worded
from transports.dialects.kit.script import Script, ask
from transports.jsonrpc import JsonObject
from transports.requests import AskKey, DiffToRemote, FindFiles, ReadSavedConfig, RunOnce

NO_LOGIN = (
    "Greenroom has no login: keys come from the config, by `env_key` of the model provider; "
    "`greenroom config` shows which one is used"
)

NOT_WRITTEN = (
    "the config file is never written by us: write `model` into it (`greenroom config path` names it), then "
    "`greenroom reload`"
)


def exec_one_off_command(call: CodexCall, wanted: p.ExecOneOffCommand) -> Script[JsonObject]:
    if not wanted.command:
        raise invalid_request("command must not be empty")
    once = RunOnce(wanted.command, wanted.timeout_ms, wanted.cwd, wanted.sandbox_policy, call.state.person)
    with worded(internal_error, "exec failed"):
        return dict((yield from ask(once)).value)


def git_diff_to_remote(_: CodexCall, wanted: p.GitDiffToRemote) -> Script[JsonObject]:
    try:
        return dict((yield from ask(DiffToRemote(wanted.cwd))).value)
    except GreenroomError:
        raise invalid_request(f'failed to compute git diff to remote for cwd: "{wanted.cwd}"') from None


def fuzzy_file_search(_: CodexCall, wanted: p.FuzzyFileSearch) -> Script[JsonObject]:
    with worded(internal_error, "the search failed"):
        return dict((yield from ask(FindFiles(wanted.query, wanted.roots, wanted.cancellation_token))).value)


def get_user_saved_config(_: CodexCall, __: p.Nothing) -> Script[JsonObject]:
    with worded(internal_error, "failed to load config.toml"):
        saved = yield from ask(ReadSavedConfig())
    return {"config": saved_config(saved.value.get("value") or {})}


MODEL_KEYS = ("approval_policy", "model", "model_reasoning_effort", "model_reasoning_summary", "model_verbosity")
CONFIG_KEYS = (*MODEL_KEYS, "sandbox_mode", "profile")
PROFILE_KEYS = (*MODEL_KEYS, "model_provider", "chatgpt_base_url")
SANDBOX_KEYS = ("writable_roots", "network_access", "exclude_tmpdir_env_var", "exclude_slash_tmp")
TOOL_KEYS = ("web_search", "view_image")


def saved_config(tree: Mapping[str, object]) -> JsonObject:
    """The part of the config file that has a name on this wire; unset keys are left out."""
    config = _renamed(tree, CONFIG_KEYS)
    if "sandbox_workspace_write" in tree:
        config["sandboxSettings"] = {
            "writableRoots": [],
            **_renamed(tree["sandbox_workspace_write"], SANDBOX_KEYS),
        }
    if "tools" in tree:
        config["tools"] = _renamed(tree["tools"], TOOL_KEYS)
    profiles = _table(tree.get("profiles"))
    config["profiles"] = {name: _renamed(profile, PROFILE_KEYS) for name, profile in profiles.items()}
    return config


def get_auth_status(call: CodexCall, _: p.AuthStatus) -> Script[JsonObject]:
    """Answer that a key is the only method; the key itself is never told."""
    try:
        key = (yield from ask(AskKey(call.state.person))).value
    except GreenroomError as why:
        raise internal_error(why.message) from None
    method = "apikey" if key["key"] else None
    known = {"authMethod": method, "preferredAuthMethod": "apikey", "authToken": None}
    return {**known, "requiresOpenaiAuth": key["openai"]}


def get_user_agent(call: CodexCall, _: p.Nothing) -> JsonObject:
    version = call.state.version
    return {"userAgent": f"{SERVER}/{version} (Greenroom {version}; {call.client.label})"}


def set_default_model(_: CodexCall, __: p.Anything) -> NoReturn:
    raise invalid_request(NOT_WRITTEN)


def no_login(_: CodexCall, __: p.Anything) -> NoReturn:
    raise invalid_request(NO_LOGIN)


def _renamed(tree: object, keys: Iterable[str]) -> JsonObject:
    """Keys as this wire has them. Codex's own are not judged here, and TOML has values that JSON has not."""
    values = ((to_camel(key), _table(tree).get(key)) for key in keys)
    return {name: value for name, value in values if isinstance(value, str | bool | list)}


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
