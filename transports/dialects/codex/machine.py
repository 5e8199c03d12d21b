"""What is about no conversation: a command, a git diff, a search, the saved config, the login that there is not."""

from collections.abc import Iterable, Mapping
from typing import Any

from actors.errors import GreenroomError
from transports import jsonrpc
from transports import requests as ask
from transports.dialect import Action
from transports.dialects.codex import params as p
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.revisions import NAME

NO_LOGIN = (
    "Greenroom has no login: keys come from the config, by `env_key` of the model provider; "
    "`greenroom config` shows which one is used"
)

NOT_WRITTEN = (
    "the config file is never written by us: write `model` into it (`greenroom config path` names it), then "
    "`greenroom reload`"
)


def exec_one_off_command(call: Call, wanted: p.ExecOneOffCommand) -> Iterable[Action]:
    if not wanted.command:
        return call.fail(jsonrpc.INVALID_REQUEST, "command must not be empty")

    def ran(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.fail(jsonrpc.INTERNAL_ERROR, f"exec failed: {answer.message}")
        return call.finish(dict(answer.value))

    return call.ask(
        lambda token: ask.RunOnce(
            token, wanted.command, wanted.timeout_ms, wanted.cwd, wanted.sandbox_policy, call.desk.options.person
        ),
        ran,
    )


def git_diff_to_remote(call: Call, wanted: p.GitDiffToRemote) -> Iterable[Action]:
    def made(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            text = f'failed to compute git diff to remote for cwd: "{wanted.cwd}"'
            return call.fail(jsonrpc.INVALID_REQUEST, text)
        return call.finish(dict(answer.value))

    return call.ask(lambda token: ask.DiffToRemote(token, wanted.cwd), made)


def fuzzy_file_search(call: Call, wanted: p.FuzzyFileSearch) -> Iterable[Action]:
    def found(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.fail(jsonrpc.INTERNAL_ERROR, f"the search failed: {answer.message}")
        return call.finish(dict(answer.value))

    series = wanted.cancellation_token
    return call.ask(lambda token: ask.FindFiles(token, wanted.query, wanted.roots, series), found)


def get_user_saved_config(call: Call, _: p.Nothing) -> Iterable[Action]:
    def read(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.fail(jsonrpc.INTERNAL_ERROR, f"failed to load config.toml: {answer.message}")
        return call.finish({"config": saved_config(answer.value.get("value") or {})})

    return call.ask(ask.ReadSavedConfig, read)


CONFIG_MEMBERS = {
    "approvalPolicy": "approval_policy",
    "sandboxMode": "sandbox_mode",
    "model": "model",
    "modelReasoningEffort": "model_reasoning_effort",
    "modelReasoningSummary": "model_reasoning_summary",
    "modelVerbosity": "model_verbosity",
    "profile": "profile",
}
SANDBOX_MEMBERS = {
    "writableRoots": "writable_roots",
    "networkAccess": "network_access",
    "excludeTmpdirEnvVar": "exclude_tmpdir_env_var",
    "excludeSlashTmp": "exclude_slash_tmp",
}
PROFILE_MEMBERS = {
    "model": "model",
    "modelProvider": "model_provider",
    "approvalPolicy": "approval_policy",
    "modelReasoningEffort": "model_reasoning_effort",
    "modelReasoningSummary": "model_reasoning_summary",
    "modelVerbosity": "model_verbosity",
    "chatgptBaseUrl": "chatgpt_base_url",
}
TOOL_MEMBERS = {"webSearch": "web_search", "viewImage": "view_image"}


def saved_config(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the file that has a name on this wire; what is not set is left out."""
    config = _renamed(tree, CONFIG_MEMBERS)
    if "sandbox_workspace_write" in tree:
        config["sandboxSettings"] = {
            "writableRoots": [],
            **_renamed(tree["sandbox_workspace_write"], SANDBOX_MEMBERS),
        }
    if "tools" in tree:
        config["tools"] = _renamed(tree["tools"], TOOL_MEMBERS)
    profiles = _table(tree.get("profiles"))
    config["profiles"] = {name: _renamed(profile, PROFILE_MEMBERS) for name, profile in profiles.items()}
    return config


def get_auth_status(call: Call, _: p.Nothing) -> Iterable[Action]:
    """A key is the one method that there is; it is never told, whatever the client asks for."""

    def looked(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.fail(jsonrpc.INTERNAL_ERROR, answer.message)
        method = "apikey" if answer.value["key"] else None
        told = {"authMethod": method, "preferredAuthMethod": "apikey", "authToken": None}
        return call.finish({**told, "requiresOpenaiAuth": answer.value["openai"]})

    return call.ask(lambda token: ask.AskKey(token, call.desk.options.person), looked)


def get_user_agent(call: Call, _: p.Nothing) -> Iterable[Action]:
    version = call.desk.options.version
    return call.finish({"userAgent": f"{NAME}/{version} (Greenroom {version}; {call.desk.client.label})"})


def set_default_model(call: Call, _: p.Nothing) -> Iterable[Action]:
    return call.fail(jsonrpc.INVALID_REQUEST, NOT_WRITTEN)


def no_login(call: Call, _: p.Nothing) -> Iterable[Action]:
    return call.fail(jsonrpc.INVALID_REQUEST, NO_LOGIN)


def _renamed(tree: Any, members: Mapping[str, str]) -> dict[str, Any]:
    """Codex's own keys are not judged here, and TOML has values that JSON has not."""
    values = ((theirs, _table(tree).get(ours)) for theirs, ours in members.items())
    return {theirs: value for theirs, value in values if isinstance(value, str | bool | list)}


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
