"""The environment variables that belong to an agent and are passed on to it, even if they look like secrets.

Reads the agent's own settings for the variables that they name; blocking. Names and patterns, never a value.
"""

import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from supervisor.disk.ordinary_files import read_ordinary
from supervisor.work.reach.known_agents import KNOWN_AGENTS, Place, places_of

# An agent needs these whatever commands get: to find its home, to draw, and to reach its model through a proxy.
COMMON = (
    *("HOME", "PATH", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM"),
    *("NO_COLOR", "XDG_*", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
SETTINGS_BYTES = 1 << 20  # of a file that is read for the variables that it names


class _Own(NamedTuple):
    """The variables of one agent, as patterns. `clouds`: further patterns, for a variable that a person has set."""

    patterns: tuple[str, ...]
    clouds: Mapping[str, tuple[str, ...]] = {}
    settings: tuple[Place, ...] = ()
    named: str = ""  # an expression that finds the variables that its settings name


_OWN: Mapping[str, _Own] = {
    "claude": _Own(
        ("ANTHROPIC_*", "CLAUDE_*", "MAX_*TOKENS", "MAX_MCP_OUTPUT_TOKENS"),
        {
            "CLAUDE_CODE_USE_BEDROCK": ("AWS_*",),
            "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_*", "CLOUD_ML_*", "VERTEX_*"),
        },
    ),
    "codex": _Own(
        ("CODEX_*", "OPENAI_*"),
        settings=(("$CODEX_HOME/config.toml", "~/.codex/config.toml"),),
        named=r"""(?m)^\s*(?:env_key|bearer_token_env_var)\s*=\s*["'](\w+)["']""",
    ),
    "gemini": _Own(("GEMINI_*", "GOOGLE_*", "CODE_ASSIST_*")),
    "opencode": _Own(
        ("OPENCODE_*",),
        settings=tuple(
            (f"$XDG_CONFIG_HOME/opencode/{name}", f"~/.config/opencode/{name}")
            for name in ("opencode.json", "opencode.jsonc", "config.json")
        ),
        named=r"\{env:(\w+)\}",
    ),
    "copilot": _Own(("COPILOT_*",)),
    "goose": _Own(("GOOSE_*",)),
    "cursor": _Own(("CURSOR_*",)),
    "qwen": _Own(("QWEN_*", "OPENAI_*", "DASHSCOPE_*")),
    "kimi": _Own(("KIMI_*", "MOONSHOT_*")),
    "auggie": _Own(("AUGMENT_*",)),
    "vibe": _Own(("VIBE_*", "MISTRAL_*")),
    "cline": _Own(("CLINE_*",)),
}


class AgentVariables(NamedTuple):
    """The variables that an agent gets: those in `names`, and those that fit `patterns` and hold no other's key."""

    patterns: tuple[str, ...] = COMMON
    names: frozenset[str] = frozenset()
    inherits_all: bool = False

    def has(self, name: str, keys: frozenset[str]) -> bool:
        """Tell whether the agent gets a variable. `keys`: those of model providers and MCP servers in the config."""
        if name in self.names:
            return True
        return name not in keys and any(fnmatchcase(name.upper(), pattern) for pattern in self.patterns)


def variables_for_agent(kind: str, env: Mapping[str, str], named: tuple[str, ...]) -> AgentVariables:
    """Return the variables of an agent of this kind. `named`: further names or patterns, which a person passes on."""
    own, known = _OWN.get(kind, _Own(())), KNOWN_AGENTS.get(kind)
    chosen = (more for switch, more in own.clouds.items() if env.get(switch, "0") not in {"", "0"})
    matching = (name for name in env if any(fnmatchcase(name, pattern) for pattern in named))
    return AgentVariables(
        (*COMMON, *own.patterns, *chain.from_iterable(chosen)),
        frozenset({*(known.keys if known else ()), *named_by_settings(kind, env), *matching}),
    )


def named_by_settings(kind: str, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the variables that the agent's own settings name as holders of a key; a project's don't count."""
    own = _OWN.get(kind, _Own(()))
    for file in places_of(own.settings, env):
        yield from re.findall(own.named, _text(file))


def _text(file: Path) -> str:
    try:
        return read_ordinary(os.fspath(file), SETTINGS_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
