"""Names of settings in a project that make agents, editors and shells start programs or ask less. Data, and matching.

Programs obey these without asking, once their person trusts the folder; so a change of one needs a question, like a
change of `.git`. Texts that an agent only reads (AGENTS.md, CLAUDE.md) are no settings. Pure, standard library alone.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase, translate
from typing import NamedTuple


class Setting(NamedTuple):
    """The names that a program reads in a project.

    `folders` are held by an empty folder while a command that may write runs: git does not list it, and no program
    finds anything in it. An empty file would be found, and be no JSON; so `others`, which are files, lie deeper, or
    are read by few programs, are checked afterwards.
    """

    who: str
    why: str
    folders: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.folders, *self.others)


TABLE = (
    Setting("Claude Code", "hooks, permissions, MCP servers, plugins, skills", (".claude",), (".mcp.json",)),
    Setting("Codex", "hooks, MCP servers, rules, its sandbox", (".codex",)),
    Setting("Codex, Gemini, Amp and others", "skills with their scripts, plugins", (".agents",), (".agent",)),
    Setting("Gemini CLI", "hooks, MCP servers, extensions, its own .env", (".gemini",)),
    Setting("Qwen Code", "hooks, MCP servers, its own .env", (), (".qwen",)),
    Setting(
        "opencode",
        "plugins, MCP servers, language servers, permissions",
        (),  # it writes into its folder if it finds one, even an empty one
        (".opencode", "opencode.json", "opencode.jsonc", ".opencode.json", ".opencode.jsonc"),
    ),
    Setting("Cursor", "hooks, MCP servers, permissions, set-up commands", (".cursor",)),
    Setting("VS Code", "tasks, paths of programs, MCP servers", (".vscode",), ("*.code-workspace",)),
    Setting("Visual Studio", "MCP servers, tasks", (), (".vs",)),
    Setting("Zed", "tasks, language servers, MCP servers", (".zed",)),
    Setting("JetBrains IDEs", "file watchers, start-up tasks, interpreters", (".idea",), (".fleet",)),
    Setting("Junie", "MCP servers", (), (".junie",)),
    Setting("Windsurf", "hooks, workflows", (), (".windsurf",)),
    Setting("Kiro", "hooks, MCP servers", (), (".kiro",)),
    Setting("Roo Code", "MCP servers, modes", (), (".roo", ".roomodes")),
    Setting("Kilo Code", "MCP servers, permissions", (), (".kilo", ".kilocode", "kilo.json", "kilo.jsonc")),
    Setting("Cline", "hooks, MCP servers", (), (".cline", ".clinerules/hooks")),
    Setting("Continue", "MCP servers", (), (".continue",)),
    Setting(
        "GitHub Copilot",
        "hooks, MCP servers, agents, skills",
        (),
        (
            *(".copilot", ".github/agents", ".github/copilot", ".github/extensions", ".github/hooks"),
            *(".github/mcp.json", ".github/plugins", ".github/skills"),
        ),
    ),
    Setting("Aider", "commands that check and test", (), (".aider.conf.yml", ".aider.conf.yaml")),
    Setting(
        "Crush",
        "MCP servers, language servers, hooks",
        (),
        (".crush", "crush.json", ".crush.json", ".crushrc", "crushrc"),
    ),
    Setting("goose", "recipes, skills", (), (".goose",)),
    Setting("Amp", "MCP servers, permissions", (), (".amp",)),
    Setting("Factory", "hooks, MCP servers", (), (".factory",)),
    Setting("Augment", "MCP servers, commands", (), (".augment",)),
    Setting("OpenHands", "its set-up script, hooks", (), (".openhands",)),
    Setting("Mistral Vibe", "MCP servers, tools", (), (".vibe",)),
    Setting("Kimi", "MCP servers, hooks", (), (".kimi", ".kimi-code")),
    Setting("Grok", "MCP servers, hooks", (), (".grok",)),
    Setting("Pi", "extensions, which are programs", (), (".pi",)),
    Setting("Trae", "MCP servers", (), (".trae",)),
    Setting("CodeBuddy, Qoder, iFlow", "hooks, MCP servers", (), (".codebuddy", ".qoder", ".iflow")),
    Setting("dev containers", "a command on this machine", (), (".devcontainer", ".devcontainer.json")),
    Setting("direnv", "a script at each change of directory", (), (".envrc",)),
    Setting(
        "mise",
        "hooks at each change of directory, programs on the search path",
        (),
        (
            *("mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", "mise.*.toml", ".mise.*.toml"),
            *(
                ".mise",
                "mise/config*.toml",
                "mise/conf.d",
                ".config/mise",
                ".config/mise.toml",
                ".config/mise.*.toml",
            ),
        ),
    ),
    Setting(
        "Vim, Neovim",
        "commands, language servers",
        (),
        (".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".vim"),
    ),
    Setting("Helix", "language servers", (), (".helix",)),
    Setting("Sublime Text", "language servers, builds", (), ("*.sublime-project",)),
)


def _fold(name: str) -> str:
    """Return a name in the form in which lenient file systems compare it: without case, and invisible letters."""
    if not name.isascii():
        visible = (letter for letter in name if unicodedata.category(letter) != "Cf")
        name = unicodedata.normalize("NFKC", "".join(visible))
    return name.casefold().rstrip(". ")


_BY_NAME = {_fold(name): setting for setting in TABLE for name in setting.names if "*" not in name}
_BY_PATTERN = {name: setting for setting in TABLE for name in setting.names if "*" in name}
_PATTERN = re.compile("|".join(map(translate, _BY_PATTERN)))
_ABOVE = frozenset(name.partition("/")[0] for setting in TABLE for name in setting.names if "/" in name)
HELD = tuple(name for setting in TABLE for name in setting.folders)


def goes_on_below(name: str) -> bool:
    """Tell whether a folder may contain settings with a name of two parts, such as `.github/hooks`."""
    return _fold(name) in _ABOVE


def setting_of(name: str, folder: str = "") -> Setting | None:
    """Return the setting that has this name, if any. `folder`: the name of the folder above."""
    folded = _fold(name)
    found = _BY_NAME.get(folded)
    if found is None and (above := _fold(folder)) in _ABOVE:
        found = _BY_NAME.get(f"{above}/{folded}") or _by_pattern(f"{above}/{folded}")
    return found or _by_pattern(folded)


def _by_pattern(folded: str) -> Setting | None:
    if _PATTERN.match(folded) is None:
        return None
    return next(setting for name, setting in _BY_PATTERN.items() if fnmatchcase(folded, name))


def settings_in(parts: Sequence[str]) -> Iterator[tuple[int, Setting]]:
    """Yield the settings that a path below a project is or lies in, each with its position in the path."""
    for at, name in enumerate(parts):
        if (setting := setting_of(name, parts[at - 1] if at else "")) is not None:
            yield at, setting
