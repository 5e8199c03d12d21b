"""The agents that need no table in the config: how each is started, installed and logged in. Mostly data.

Knows nothing of the machine. Standard library alone: the command line completes and explains these names. Any thread.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

# Ways to name one file or directory: the first whose variable is set counts. Each begins with `$NAME` or `~`.
Place = tuple[str, ...]


class KnownAgent(NamedTuple):
    """An agent that speaks ACP by itself, or through an adapter of its makers.

    `starts`: ways to start it, the newer first. `places`: files and directories of its own, which it writes.
    `signs`: files that are there once somebody has logged in. `keys`: variables, one of which logs in as well.
    `elsewhere`: its login may also be in a keyring or in its settings, which are not read here. `itself`: its
    everyday program, if it speaks ACP through an adapter alone; `own_install` installs that program.
    """

    title: str
    starts: tuple[tuple[str, ...], ...]
    install: str
    login: str
    places: tuple[Place, ...]
    signs: tuple[Place, ...] = ()
    keys: tuple[str, ...] = ()
    may_log_in_elsewhere: bool = False
    itself: str = ""
    own_install: str = ""

    @property
    def programs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(start[0] for start in self.starts))


def _xdg(name: str, *kinds: str) -> tuple[Place, ...]:
    usual = {"CONFIG": "~/.config", "DATA": "~/.local/share", "STATE": "~/.local/state", "CACHE": "~/.cache"}
    return tuple((f"$XDG_{kind}_HOME/{name}", f"{usual[kind]}/{name}") for kind in kinds)


# Claude Code, Codex, Gemini and opencode were run. Of the others: vibe, auggie, kimi and cline as their packages say
# (vibe 3.0, auggie 0.36, kimi-code 2.1, cline 3.0), goose and cursor as their documentation says.
KNOWN_AGENTS: Mapping[str, KnownAgent] = {
    "claude": KnownAgent(
        "Claude Code",
        (("claude-agent-acp",), ("claude-code-acp",)),
        "npm install -g @agentclientprotocol/claude-agent-acp",
        "claude /login",
        (("$CLAUDE_CONFIG_DIR", "~/.claude"), ("$CLAUDE_CONFIG_DIR/.claude.json", "~/.claude.json")),
        (("$CLAUDE_CONFIG_DIR/.credentials.json", "~/.claude/.credentials.json"),),
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        itself="claude",
        own_install="npm install -g @anthropic-ai/claude-code",
    ),
    "codex": KnownAgent(
        "Codex",
        (("codex-acp",),),
        "npm install -g @agentclientprotocol/codex-acp",
        "codex login",
        (("$CODEX_HOME", "~/.codex"),),
        (("$CODEX_HOME/auth.json", "~/.codex/auth.json"),),
        ("OPENAI_API_KEY", "CODEX_API_KEY"),
        itself="codex",
        own_install="npm install -g @openai/codex",
    ),
    "gemini": KnownAgent(
        "Gemini CLI",
        (("gemini", "--acp"),),
        "npm install -g @google/gemini-cli",
        "gemini",
        (("~/.gemini",),),
        (("~/.gemini/oauth_creds.json",),),
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    "opencode": KnownAgent(
        "opencode",
        (("opencode", "acp"),),
        "npm install -g opencode-ai",
        "opencode auth login",
        _xdg("opencode", "DATA", "CONFIG", "STATE", "CACHE"),
        (("$XDG_DATA_HOME/opencode/auth.json", "~/.local/share/opencode/auth.json"),),
    ),
    "goose": KnownAgent(  # a database tool has the same name: only a trial tells them apart
        "goose",
        (("goose", "acp"),),
        "curl -fsSL https://github.com/aaif-goose/goose/releases/download/stable/download_cli.sh | bash",
        "goose configure",
        _xdg("goose", "CONFIG", "DATA", "STATE"),
        (("$XDG_CONFIG_HOME/goose/config.yaml", "~/.config/goose/config.yaml"),),
    ),
    "copilot": KnownAgent(
        "GitHub Copilot CLI",
        (("copilot", "--acp"),),
        "npm install -g @github/copilot",
        "copilot login",
        (("$COPILOT_HOME", "~/.copilot"),),
        (),
        ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
    ),
    "cursor": KnownAgent(
        "Cursor CLI",
        (("cursor-agent", "acp"), ("agent", "acp")),
        "curl https://cursor.com/install -fsS | bash",
        "cursor-agent login",
        (("$CURSOR_CONFIG_DIR", "~/.cursor"), *_xdg("cursor", "CONFIG")),
        (("$XDG_CONFIG_HOME/cursor/auth.json", "~/.config/cursor/auth.json"),),
        ("CURSOR_API_KEY",),
        may_log_in_elsewhere=True,
    ),
    "qwen": KnownAgent(
        "Qwen Code",
        (("qwen", "--acp"),),
        "npm install -g @qwen-code/qwen-code",
        "qwen",
        (("~/.qwen",),),
        (("~/.qwen/oauth_creds.json",),),
        ("OPENAI_API_KEY", "DASHSCOPE_API_KEY"),
    ),
    "kimi": KnownAgent(
        "Kimi CLI",
        (("kimi", "acp"),),
        "npm install -g @moonshot-ai/kimi-code",
        "kimi login",
        (("$KIMI_CODE_HOME", "~/.kimi-code"), ("$KIMI_SHARE_DIR", "~/.kimi")),  # the second is of version 1
        (("$KIMI_CODE_HOME/credentials/kimi-code.json", "~/.kimi-code/credentials/kimi-code.json"),),
        ("KIMI_API_KEY",),
        may_log_in_elsewhere=True,
    ),
    "auggie": KnownAgent(
        "Auggie CLI",
        (("auggie", "--acp"),),
        "npm install -g @augmentcode/auggie",
        "auggie login",
        (("~/.augment",),),
        (("~/.augment/session.json",),),
        ("AUGMENT_SESSION_AUTH", "AUGMENT_API_TOKEN"),
    ),
    "vibe": KnownAgent(
        "Mistral Vibe",
        (("vibe-acp",),),
        "uv tool install mistral-vibe",
        "vibe --setup",
        (("$VIBE_HOME", "~/.vibe"),),
        (("$VIBE_HOME/.env", "~/.vibe/.env"),),
        ("MISTRAL_API_KEY",),
        may_log_in_elsewhere=True,
    ),
    "cline": KnownAgent(
        "Cline CLI",
        (("cline", "--acp"),),
        "npm install -g cline",
        "cline auth",
        (("$CLINE_DIR", "~/.cline"), ("$CLINE_DATA_DIR",)),
        (),
        ("CLINE_API_KEY",),
    ),
}


def roads_to_a_login(name: str) -> str:
    """Name all ways to log in a known agent: its own command, ours that runs it, and a key."""
    known = KNOWN_AGENTS[name]
    key = (f"a key in {known.keys[0]}",) if known.keys else ()
    return " or ".join((known.login, f"greenroom login {name}", *key))


def places_of(places: tuple[Place, ...], environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the paths of these places, by these variables. A place whose variables are unset is left out."""
    for ways in places:
        if (found := _first_path(ways, environ)) is not None:
            yield found


def _first_path(ways: Place, environ: Mapping[str, str]) -> Path | None:
    for way in ways:
        head, slash, rest = way.partition("/")
        value = environ.get("HOME" if head == "~" else head[1:], "")
        if value.startswith("/"):
            return Path(value + slash + rest)
    return None
