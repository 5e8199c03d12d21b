"""The command-line agents that call us: how each is started, and the files that name our server and a model."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.judges.agents.programs import CODEX_CONFIG, GEMINI_CONFIG, opencode_config
from tests.judges.agents.wires import Asked
from tests.judges.installed import MODULES, NODE
from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS

PROMPT = "go"
OURS = r"(?:.*_)?greenroom(?:__|_|\.)"  # what agents put before the names of our tools
CODEX_SERVER = """
[mcp_servers.greenroom]
command = "{server}"
default_tools_approval_mode = "approve"
"""


class CommandLine(NamedTuple):
    """`files` of its home, by (address of the model, our server); `answers`: the words that make it answer so."""

    title: str
    package: str
    argv: tuple[Path | str, ...]
    env: Mapping[str, str]
    files: Callable[[str, str], Mapping[str, str]]
    answers: Mapping[str, tuple[str, ...]] = {}

    @property
    def installed(self) -> tuple[Path, ...]:
        return tuple(word for word in self.argv if isinstance(word, Path))

    def prepare(self, home: Path, address: str, server: object) -> None:
        for name, text in self.files(address, str(server)).items():
            file = home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def variables(self, home: Path, address: str) -> dict[str, str]:
        return {name: value.format(home=home, address=address) for name, value in self.env.items()}


def ours(asked: Asked) -> dict[str, str]:
    """Our tools, by our names, as the agent calls them. Some write no hyphens."""
    named = {name: re.compile(OURS + name.replace("-", "[-_]")) for name in LISTED_TOOLS}
    return {name: tool for name, known in named.items() for tool in asked.tools if known.fullmatch(tool)}


def _claude(_: str, server: str) -> Mapping[str, str]:
    return {"servers.json": json.dumps({"mcpServers": {"greenroom": {"command": server}}})}


def _codex(address: str, server: str) -> Mapping[str, str]:
    return {".codex/config.toml": CODEX_CONFIG.format(address=address) + CODEX_SERVER.format(server=server)}


def _gemini(_: str, server: str) -> Mapping[str, str]:
    config = {**GEMINI_CONFIG, "mcpServers": {"greenroom": {"command": server, "trust": True}}}
    return {".gemini/settings.json": json.dumps(config)}


def _opencode(address: str, server: str) -> Mapping[str, str]:
    config = {**opencode_config(address), "mcp": {"greenroom": {"type": "local", "command": [server]}}}
    return {".config/opencode/opencode.json": json.dumps(config)}


COMMAND_LINES = {
    "claude": CommandLine(
        "Claude Code",
        "@anthropic-ai/claude-code",
        (
            MODULES / "@anthropic-ai" / "claude-code" / "bin" / "claude.exe",
            *(
                "-p",
                PROMPT,
                "--strict-mcp-config",
                "--mcp-config",
                "servers.json",
                "--allowedTools",
                "mcp__greenroom",
            ),
        ),
        {
            "ANTHROPIC_API_KEY": "sk-ant-fake",
            "ANTHROPIC_BASE_URL": "{address}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "ENABLE_TOOL_SEARCH": "false",  # so that its requests name all tools
        },
        _claude,
        {"decline": ()},  # without a person it dismisses every question
    ),
    "codex": CommandLine(
        "Codex (`codex exec`)",
        "@openai/codex",
        (NODE, MODULES / ".bin" / "codex", "exec", "--skip-git-repo-check", PROMPT),
        {"CODEX_HOME": "{home}/.codex", "FAKE_KEY": "x"},
        _codex,
        {"accept": ("--dangerously-bypass-approvals-and-sandbox",), "decline": ("--sandbox", "read-only")},
    ),
    "gemini": CommandLine(
        "Gemini CLI",
        "@google/gemini-cli",
        (NODE, MODULES / "@google" / "gemini-cli" / "bundle" / "gemini.js", "--yolo", "-p", PROMPT),
        {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": "{address}"},
        _gemini,
    ),
    "opencode": CommandLine(
        "opencode",
        "opencode-ai",
        (MODULES / "opencode-ai" / "bin" / "opencode.exe", "run", PROMPT),
        {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        },
        _opencode,
    ),
}
