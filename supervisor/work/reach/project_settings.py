"""Names of settings in a project that make agents, editors and shells start programs or ask less. Data, and matching.

Programs obey these without asking, once their person trusts the folder; so a change of one needs a question, like a
change of `.git`. Texts that an agent only reads (AGENTS.md, CLAUDE.md) are no settings. Pure, standard library alone.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase, translate
from typing import NamedTuple


class ProjectSetting(NamedTuple):
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
    ProjectSetting("Claude Code", "hooks, permissions, MCP servers, plugins, skills", (".claude",), (".mcp.json",)),
    ProjectSetting("Codex", "hooks, MCP servers, rules, its sandbox", (".codex",)),
    ProjectSetting("Codex, Gemini, Amp and others", "skills with their scripts, plugins", (".agents",), (".agent",)),
    ProjectSetting("Gemini CLI", "hooks, MCP servers, extensions, its own .env", (".gemini",)),
    ProjectSetting("Qwen Code", "hooks, MCP servers, its own .env", (), (".qwen",)),
    ProjectSetting(
        "opencode",
        "plugins, MCP servers, language servers, permissions",
        (),  # it writes into its folder if it finds one, even an empty one
        (".opencode", "opencode.json", "opencode.jsonc", ".opencode.json", ".opencode.jsonc"),
    ),
    ProjectSetting("Cursor", "hooks, MCP servers, permissions, set-up commands", (".cursor",)),
    ProjectSetting("VS Code", "tasks, paths of programs, MCP servers", (".vscode",), ("*.code-workspace",)),
    ProjectSetting("Visual Studio", "MCP servers, tasks", (), (".vs",)),
    ProjectSetting("Zed", "tasks, language servers, MCP servers", (".zed",)),
    ProjectSetting("JetBrains IDEs", "file watchers, start-up tasks, interpreters", (".idea",), (".fleet",)),
    ProjectSetting("Junie", "MCP servers", (), (".junie",)),
    ProjectSetting("Windsurf", "hooks, workflows", (), (".windsurf",)),
    ProjectSetting("Kiro", "hooks, MCP servers", (), (".kiro",)),
    ProjectSetting("Roo Code", "MCP servers, modes", (), (".roo", ".roomodes")),
    ProjectSetting("Kilo Code", "MCP servers, permissions", (), (".kilo", ".kilocode", "kilo.json", "kilo.jsonc")),
    ProjectSetting("Cline", "hooks, MCP servers", (), (".cline", ".clinerules/hooks")),
    ProjectSetting("Continue", "MCP servers", (), (".continue",)),
    ProjectSetting(
        "GitHub Copilot",
        "hooks, MCP servers, agents, skills",
        (),
        (
            *(".copilot", ".github/agents", ".github/copilot", ".github/extensions", ".github/hooks"),
            *(".github/mcp.json", ".github/plugins", ".github/skills"),
        ),
    ),
    ProjectSetting("Aider", "commands that check and test", (), (".aider.conf.yml", ".aider.conf.yaml")),
    ProjectSetting(
        "Crush",
        "MCP servers, language servers, hooks",
        (),
        (".crush", "crush.json", ".crush.json", ".crushrc", "crushrc"),
    ),
    ProjectSetting("goose", "recipes, skills", (), (".goose",)),
    ProjectSetting("Amp", "MCP servers, permissions", (), (".amp",)),
    ProjectSetting("Factory", "hooks, MCP servers", (), (".factory",)),
    ProjectSetting("Augment", "MCP servers, commands", (), (".augment",)),
    ProjectSetting("OpenHands", "its set-up script, hooks", (), (".openhands",)),
    ProjectSetting("Mistral Vibe", "MCP servers, tools", (), (".vibe",)),
    ProjectSetting("Kimi", "MCP servers, hooks", (), (".kimi", ".kimi-code")),
    ProjectSetting("Grok", "MCP servers, hooks", (), (".grok",)),
    ProjectSetting("Pi", "extensions, which are programs", (), (".pi",)),
    ProjectSetting("Trae", "MCP servers", (), (".trae",)),
    ProjectSetting("CodeBuddy, Qoder, iFlow", "hooks, MCP servers", (), (".codebuddy", ".qoder", ".iflow")),
    ProjectSetting("dev containers", "a command on this machine", (), (".devcontainer", ".devcontainer.json")),
    ProjectSetting("direnv", "a script at each change of directory", (), (".envrc",)),
    ProjectSetting(
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
    ProjectSetting(
        "Vim, Neovim",
        "commands, language servers",
        (),
        (".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".vim"),
    ),
    ProjectSetting("Helix", "language servers", (), (".helix",)),
    ProjectSetting("Sublime Text", "language servers, builds", (), ("*.sublime-project",)),
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
HELD_FOLDERS = tuple(name for setting in TABLE for name in setting.folders)


def may_hold_settings(name: str) -> bool:
    """Tell whether a folder may contain settings with a name of two parts, such as `.github/hooks`."""
    return _fold(name) in _ABOVE


def setting_of(name: str, folder: str = "") -> ProjectSetting | None:
    """Return the setting that has this name, if any. `folder`: the name of the folder above."""
    folded = _fold(name)
    found = _BY_NAME.get(folded)
    if found is None and (above := _fold(folder)) in _ABOVE:
        found = _BY_NAME.get(f"{above}/{folded}") or _by_pattern(f"{above}/{folded}")
    return found or _by_pattern(folded)


def _by_pattern(folded: str) -> ProjectSetting | None:
    if _PATTERN.match(folded) is None:
        return None
    return next(setting for name, setting in _BY_PATTERN.items() if fnmatchcase(folded, name))


def settings_in(parts: Sequence[str]) -> Iterator[tuple[int, ProjectSetting]]:
    """Yield the settings that a path below a project is or lies in, each with its position in the path."""
    for at, name in enumerate(parts):
        if (setting := setting_of(name, parts[at - 1] if at else "")) is not None:
            yield at, setting
