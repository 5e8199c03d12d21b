"""The agent's own files that count in a conversation: settings, instructions, servers, hooks and rules.

Reads the files, never starts the agent; blocking. Names only: a value may be a secret. Standard library alone.
"""

import json
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from supervisor.disk.ordinary_files import read_ordinary
from supervisor.work.reach.known_agents import KNOWN_AGENTS, Place, places_of
from transports.supervisor_answers import InheritedThing

READ_BYTES = 4 << 20  # of a file of settings; Claude Code keeps its projects in one
MOST_NAMES = 12  # names of one kind in one file; the others are counted
MOST_FOLDERS_ABOVE = 32  # folders above the working directory that may hold instructions
MOST_THINGS = 100  # things in all
_PROJECT = "."  # the beginning of a path in the project, in these tables


class _Brings(NamedTuple):
    """The places of one agent's files: `instructions` are also looked for above the project, `folders` are listed."""

    settings: tuple[Place, ...]
    instructions: tuple[str, ...]
    folders: tuple[Place, ...] = ()
    own_instructions: tuple[Place, ...] = ()  # the person's own


_CLAUDE, _CODEX = "$CLAUDE_CONFIG_DIR", "$CODEX_HOME"
_BRINGS: Mapping[str, _Brings] = {
    "claude": _Brings(
        (
            ("/etc/claude-code/managed-settings.json",),
            (f"{_CLAUDE}/settings.json", "~/.claude/settings.json"),
            (f"{_CLAUDE}/.claude.json", "~/.claude.json"),
            ("./.claude/settings.json",),
            ("./.claude/settings.local.json",),
            ("./.mcp.json",),
        ),
        ("CLAUDE.md", "CLAUDE.local.md"),
        tuple(
            place
            for kind in ("agents", "commands", "plugins", "skills")
            for place in ((f"{_CLAUDE}/{kind}", f"~/.claude/{kind}"), (f"./.claude/{kind}",))
        ),
        ((f"{_CLAUDE}/CLAUDE.md", "~/.claude/CLAUDE.md"),),
    ),
    "codex": _Brings(
        ((f"{_CODEX}/config.toml", "~/.codex/config.toml"), ("./.codex/config.toml",)),
        ("AGENTS.md", "AGENTS.override.md"),
        tuple((f"{_CODEX}/{kind}", f"~/.codex/{kind}") for kind in ("prompts", "rules", "skills")),
        ((f"{_CODEX}/AGENTS.md", "~/.codex/AGENTS.md"),),
    ),
    "gemini": _Brings(
        (("~/.gemini/settings.json",), ("./.gemini/settings.json",)),
        ("GEMINI.md",),
        tuple(
            (f"{home}/.gemini/{kind}",) for kind in ("commands", "extensions", "skills") for home in ("~", _PROJECT)
        ),
        (("~/.gemini/GEMINI.md",),),
    ),
    "opencode": _Brings(
        tuple(
            place
            for name in ("opencode.json", "opencode.jsonc")
            for place in ((f"$XDG_CONFIG_HOME/opencode/{name}", f"~/.config/opencode/{name}"), (f"./{name}",))
        ),
        ("AGENTS.md",),
        tuple(
            place
            for kind in ("agent", "command", "plugin", "tool")
            for place in (
                (f"$XDG_CONFIG_HOME/opencode/{kind}", f"~/.config/opencode/{kind}"),
                (f"./.opencode/{kind}",),
            )
        ),
        (("$XDG_CONFIG_HOME/opencode/AGENTS.md", "~/.config/opencode/AGENTS.md"),),
    ),
    "qwen": _Brings((("~/.qwen/settings.json",), ("./.qwen/settings.json",)), ("QWEN.md", "AGENTS.md")),
}
# Keys of settings that count, with their words. Of a table the keys are shown, of a list the length.
_WORDS: Mapping[str, str] = {
    "mcpServers": "MCP servers",
    "mcp_servers": "MCP servers",
    "mcp": "MCP servers",
    "hooks": "hooks",
    "enabledPlugins": "plugins",
    "plugin": "plugins",
    "extensions": "extensions",
    "notify": "a program that it notifies",
    "sandbox_mode": "its own sandbox mode",
    "approval_policy": "its own approval policy",
    "permission": "permissions",
}
_RULES = ("allow", "ask", "deny", "additionalDirectories")


def find_inherited(agent: str, environ: Mapping[str, str], cwd: Path) -> tuple[InheritedThing, ...]:
    """Return the things that an agent would bring to a conversation in a directory; none for an unknown agent."""
    brings = _BRINGS.get(agent, _Brings((), ("AGENTS.md",) if agent in KNOWN_AGENTS else ()))
    found: dict[InheritedThing, None] = {}
    for thing in _all(brings, environ, cwd):
        if len(found) >= MOST_THINGS:
            break
        found[thing] = None
    return tuple(found)


def _all(brings: _Brings, environ: Mapping[str, str], cwd: Path) -> Iterator[InheritedThing]:
    for file in _places(brings.settings, environ, cwd):
        yield from _settings(file, cwd)
    for file in _places(brings.own_instructions, environ, cwd):
        if _is_filled(file):
            yield InheritedThing("instructions", str(file))
    for folder in (cwd, *list(cwd.parents)[:MOST_FOLDERS_ABOVE]):
        for name in brings.instructions:
            if _is_filled(folder / name):
                yield InheritedThing("instructions", str(folder / name))
    for folder in _places(brings.folders, environ, cwd):
        if names := _names_in(folder):
            yield InheritedThing(f"{folder.name}: {_enumeration(names)}", str(folder))


def _is_filled(file: Path) -> bool:
    """Whether there are instructions. An empty file may be a placeholder of ours, so that no other file is made."""
    try:
        found = file.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def _places(places: tuple[Place, ...], environ: Mapping[str, str], cwd: Path) -> Iterator[Path]:
    for ways in places:
        if ways[0].startswith("./"):
            yield cwd / ways[0][2:]
        elif ways[0].startswith("/"):
            yield Path(ways[0])
        else:
            yield from places_of((ways,), environ)


def _settings(file: Path, cwd: Path) -> Iterator[InheritedThing]:
    try:
        if not file.is_file():
            return
        text = read_ordinary(file, READ_BYTES).decode("utf-8-sig")
        settings: Any = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text or "{}")
    except (OSError, ValueError, RecursionError):
        yield InheritedThing("settings that can't be read here", str(file))
        return
    if not isinstance(settings, dict) or not settings:
        return
    things = [*_describe(settings), *_describe(_table_at(settings, "projects", str(cwd)))]
    yield from (InheritedThing(thing, str(file)) for thing in things or ["settings"])


def _describe(settings: Mapping[str, Any]) -> Iterator[str]:
    for key, words in _WORDS.items():
        value = settings.get(key)
        if isinstance(value, dict) and value:
            yield f"{words}: {_enumeration(value)}"
        elif isinstance(value, (list, str)) and value:
            yield f"{words}: {value}" if key in {"sandbox_mode", "approval_policy"} else f"{words} ({_count(value)})"
    for rules in (settings.get("permissions"), settings.get("tools")):
        if isinstance(rules, dict):
            if isinstance(mode := rules.get("defaultMode"), str):
                yield f"its own mode: {mode[:60]}"
            counted = [f"{_count(rules[key])} {key}" for key in (*_RULES, "allowed") if rules.get(key)]
            if counted:
                yield f"rules of its own: {', '.join(counted)}"


def _table_at(tree: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list) else 1


def _names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except OSError:
        return []


def _enumeration(names: Any) -> str:
    known = [str(name)[:60] for name in names]
    rest = len(known) - MOST_NAMES
    return ", ".join(known[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
