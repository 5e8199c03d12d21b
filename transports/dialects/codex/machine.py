"""What is about no conversation: one command, a git diff, the saved config, and the login that there is not."""

from collections.abc import Iterable, Mapping
from typing import Any

from actors.errors import GreenroomError
from transports import jsonrpc
from transports import requests as ask
from transports.dialect import Action
from transports.dialects.codex import params as p
from transports.dialects.mcp.call import Call

NO_LOGIN = (
    "there is no login: keys come from the config, by `env_key` of the model provider; "
    "`greenroom config` shows which one is used"
)


def exec_one_off_command(call: Call, wanted: p.ExecOneOffCommand) -> Iterable[Action]:
    if not wanted.command:
        return call.fail(jsonrpc.INVALID_REQUEST, "command must not be empty")

    def ran(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.fail(jsonrpc.INTERNAL_ERROR, f"exec failed: {answer.message}")
        return call.finish(dict(answer.value))

    return call.ask(
        lambda token: ask.RunOnce(token, wanted.command, wanted.timeout_ms, wanted.cwd, wanted.sandbox_policy), ran
    )


def git_diff_to_remote(call: Call, wanted: p.GitDiffToRemote) -> Iterable[Action]:
    def made(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            text = f'failed to compute git diff to remote for cwd: "{wanted.cwd}"'
            return call.fail(jsonrpc.INVALID_REQUEST, text)
        return call.finish(dict(answer.value))

    return call.ask(lambda token: ask.DiffToRemote(token, wanted.cwd), made)


def get_user_saved_config(call: Call, _: p.Nothing) -> Iterable[Action]:
    def read(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.fail(jsonrpc.INTERNAL_ERROR, f"failed to load config.toml: {answer.message}")
        return call.finish({"config": saved_config(answer.value.get("value") or {})})

    return call.ask(ask.ReadConfig, read)


CONFIG_MEMBERS = {
    "approvalPolicy": "approval_policy",
    "sandboxMode": "sandbox_mode",
    "model": "model",
    "modelReasoningEffort": "model_reasoning_effort",
    "modelReasoningSummary": "model_reasoning_summary",
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
    "chatgptBaseUrl": "chatgpt_base_url",
}


def saved_config(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The part that has a name on this wire; what is not set is left out."""
    config = _renamed(tree, CONFIG_MEMBERS)
    sandbox = tree.get("sandbox_workspace_write")
    if isinstance(sandbox, Mapping):
        config["sandboxSettings"] = _renamed(sandbox, SANDBOX_MEMBERS)
    profiles = tree.get("profiles")
    named = profiles if isinstance(profiles, Mapping) else {}
    config["profiles"] = {name: _renamed(profile, PROFILE_MEMBERS) for name, profile in named.items()}
    return config


def no_login(call: Call, _: p.Nothing) -> Iterable[Action]:
    return call.fail(jsonrpc.INVALID_REQUEST, NO_LOGIN)


def _renamed(tree: Mapping[str, Any], members: Mapping[str, str]) -> dict[str, Any]:
    return {theirs: tree[ours] for theirs, ours in members.items() if tree.get(ours) is not None}
