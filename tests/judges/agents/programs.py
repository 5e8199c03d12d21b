"""The agents that are tried: how each is started, and what makes it ask a model of ours. Data."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from greenroom.events import SandboxMode
from tests.judges.installed import MODULES, NODE

CODEX_CONFIG = """model = "gpt-5.2-codex"
model_provider = "fake"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "{address}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
"""
OPENCODE_CONFIG = {
    "autoupdate": False,
    "share": "disabled",
    "model": "fake/fake-model",
    "small_model": "fake/fake-model",
    "permission": {"bash": "ask", "edit": "ask"},
}
GEMINI_CONFIG = {
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"folderTrust": {"enabled": False}, "auth": {"selectedType": "gemini-api-key"}},
}


class AgentProgram(NamedTuple):
    """An agent from npm. `prepare` writes its config into a home; `asks` is the line that makes it ask a person.

    `sandbox`: in which of ours it asks at all. Inside of ours Codex leaves its own away, and with it its questions.
    """

    name: str
    argv: tuple[Path | str, ...]
    env: Mapping[str, str]
    prepare: Callable[[Path, str], None]
    asks: str = "run"
    sandbox: SandboxMode = "workspace-write"

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(word for word in self.argv if isinstance(word, Path))

    def variables(self, home: Path, address: str) -> dict[str, str]:
        return {name: value.format(home=home, address=address) for name, value in self.env.items()}


def _nothing(home: Path, address: str) -> None:
    """Claude Code needs no file."""


def _codex(home: Path, address: str) -> None:
    _written(home / ".codex" / "config.toml", CODEX_CONFIG.format(address=address))


def opencode_config(address: str) -> dict[str, object]:
    limit = {"context": 100_000, "output": 8_000}
    model = {"name": "Fake", "limit": limit, "tool_call": True, "cost": {"input": 1, "output": 2}}
    options = {"baseURL": f"{address}/v1", "apiKey": "sk-fake"}
    fake = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": options, "models": {"fake-model": model}}
    return {**OPENCODE_CONFIG, "provider": {"fake": fake}}


def _opencode(home: Path, address: str) -> None:
    _written(home / ".config" / "opencode" / "opencode.json", json.dumps(opencode_config(address)))


def _gemini(home: Path, address: str) -> None:  # noqa: ARG001  # its address is a variable
    _written(home / ".gemini" / "settings.json", json.dumps(GEMINI_CONFIG))


def _written(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _of(package: str, file: str) -> Path:
    return MODULES.joinpath(*package.split("/"), file)


CODEX_ENV = {"CODEX_HOME": "{home}/.codex", "FAKE_KEY": "x"}
PROGRAMS = (
    AgentProgram(
        "claude",
        (NODE, _of("@agentclientprotocol/claude-agent-acp", "dist/index.js")),
        {
            "ANTHROPIC_API_KEY": "sk-ant-fake",
            "ANTHROPIC_BASE_URL": "{address}",
            "IS_SANDBOX": "1",  # it refuses some modes to root otherwise
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
        _nothing,
    ),
    AgentProgram("codex-zed", (_of("@zed-industries/codex-acp-linux-x64", "bin/codex-acp"),), CODEX_ENV, _codex),
    AgentProgram(
        # Inside of our sandbox it asks nothing.
        "codex",
        (NODE, _of("@agentclientprotocol/codex-acp", "dist/index.js")),
        CODEX_ENV,
        _codex,
        "outside",
        "danger-full-access",
    ),
    AgentProgram(
        "opencode",
        (_of("opencode-ai", "bin/opencode.exe"), "acp"),
        {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        },
        _opencode,
    ),
    AgentProgram(
        "gemini",
        (NODE, _of("@google/gemini-cli", "bundle/gemini.js"), "--acp"),
        {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": "{address}"},
        _gemini,
    ),
)
