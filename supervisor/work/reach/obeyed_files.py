"""Finds the files that an agent obeys and no table names: by their names, and in the text of settings. Blocking.

Starts and changes nothing. Sandboxes close the files that it finds and leave the others open, so too many are better.
"""

import contextlib
import json
import os
import re
import shlex
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from supervisor.disk.folders import lies_in
from supervisor.disk.ordinary_files import read_ordinary

LOOKED_AT, DEEP = 4_000, 6  # entries of a place that are searched, and how deep
MOST_FOUND = 400  # in a place: each is a mount
SETTINGS_BYTES = 1 << 20  # of a file that is read for names of scripts
HOME_WORD = re.compile(r"^(~|\$HOME|\$\{HOME\})(?=/)")
NAMED_PATH = re.compile(r"(?:~|\$HOME|\$\{HOME\}|(?<![\w.$}~-]))/[^\s\"'`;|&()<>\\,$*?]+")

# The usual names of settings, for homes that no table knows. Compared without regard to case.
_SETTINGS = re.compile(
    r"\.env(\..*)?|.*\.(toml|ya?ml|jsonc|ini|conf)|(.*[-_.])?(settings|config|hooks|mcp|keybindings|trusted\w*)"
    r"(\.local)?\.json|(agents|claude|gemini|qwen|kimi|vibe|goose)(\.\w+)?\.md|package(-lock)?\.json"
)
_FOLDERS = frozenset(
    [
        "agent",
        "agents",
        "bin",
        "command",
        "commands",
        "extension",
        "extensions",
        "hook",
        "hooks",
        "local",
        "node_modules",
        "packages",
        "plugin",
        "plugins",
        "policies",
        "prompts",
        "recipes",
        "rules",
        "scripts",
        "skill",
        "skills",
        "tool",
        "tools",
    ]
)
_HELD = (
    "extensions",
    "hooks",
    "plugins",
    "skills",
)  # closed even if missing, so that an agent can't make them; an empty folder does nothing
# Keys of settings below which programs are named.
_STARTING = frozenset(
    "apikeyhelper args awsauthrefresh awscredentialexport command commands env extensions fileSuggestion hooks mcp "
    "mcp_servers mcpservers notify otelheadershelper path plugin plugins script statusline".casefold().split()
)
_SCRIPTS = frozenset(
    [".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".lua", ".ps1"]
)


def named_programs(homes: Sequence[Path], env: Mapping[str, str]) -> Iterator[Path]:
    """Yield the scripts and programs that settings at the top of the homes name by full path.

    A home may be a file of settings itself.
    """
    for file in (file for home in homes for file in _settings_in(home)):
        paths = (path for words in _program_words(file) for path in _paths(words, env.get("HOME", "")))
        for path in dict.fromkeys(paths):
            with contextlib.suppress(OSError, ValueError):
                if path.is_file() and (_is_script(path) or any(lies_in(path, home) for home in homes)):
                    yield from dict.fromkeys((path, Path(os.path.realpath(path))))


def _paths(text: str, user: str) -> Iterator[Path]:
    """Yield the paths in a text: the whole of it, its words as a shell splits them, and paths in its middle."""
    words = [text]
    with contextlib.suppress(ValueError):  # a quote that is not closed
        words += shlex.split(text)
    for word in (*words, *(found[0] for found in NAMED_PATH.finditer(text))):
        whole = HOME_WORD.sub(lambda _: user, word)
        if whole.startswith("/") and "\0" not in whole:
            yield Path(os.path.normpath(whole))


def _program_words(file: Path) -> Iterator[str]:
    """Yield the texts of settings that may name programs; of a file that can't be parsed, the whole text."""
    try:
        text = read_ordinary(file, SETTINGS_BYTES).decode("utf-8", "surrogateescape")
        content: object = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except OSError:
        return
    except (ValueError, RecursionError):
        yield text
    else:
        yield from _texts(content, leading=False)


def _texts(content: object, *, leading: bool) -> Iterator[str]:
    match content:
        case dict():
            for key, value in content.items():
                yield from _texts(value, leading=leading or str(key).casefold() in _STARTING)
        case list():
            for value in content:
                yield from _texts(value, leading=leading)
        case str() if leading:
            yield content


def _settings_in(home: Path) -> Iterator[Path]:
    found = [home]
    with contextlib.suppress(OSError), os.scandir(home) as entries:
        found = [Path(entry) for entry in entries if entry.is_file()]
    yield from (file for file in found if file.suffix in {".json", ".jsonc", ".toml"} or file.name == ".env")


def links_below(folder: Path) -> Iterator[Path]:
    """Yield the targets of the links in a folder."""
    yield from (Path(os.path.realpath(entry)) for entry in _entries_below(folder) if entry.is_symlink())


def obeyed_in_place(place: Path) -> Iterator[Path]:
    """Yield the settings, scripts, programs and links with their targets in an agent's place that no table knows."""
    yield from islice(_leading_in(place), MOST_FOUND)


def _leading_in(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        if _SETTINGS.fullmatch(place.name.casefold()):
            yield place
        return
    yield from (place / name for name in _HELD if not os.path.lexists(place / name))
    for entry in _entries_below(place, _FOLDERS):
        path = Path(entry)
        if entry.is_symlink():
            yield from (path, Path(os.path.realpath(path)))
        elif entry.is_dir(follow_symlinks=False):
            if entry.name.casefold() in _FOLDERS:
                yield path
        elif is_obeyed_by_name(entry):
            yield path


def is_obeyed_by_name(entry: "os.DirEntry[str]") -> bool:
    """Tell by its name whether an entry of a home is a setting, a script or a program, or a folder of these."""
    name = entry.name.casefold()
    if entry.is_dir(follow_symlinks=False):
        return name in _FOLDERS
    return _SETTINGS.fullmatch(name) is not None or _is_script(Path(entry))


def _is_script(path: Path) -> bool:
    return path.suffix.casefold() in _SCRIPTS or (path.is_file() and os.access(path, os.X_OK))


def _entries_below(folder: Path, skipped: frozenset[str] = frozenset()) -> Iterator["os.DirEntry[str]"]:
    """Yield the entries of a folder and of the folders below, the shallow ones first, within the bounds."""
    folders, looked = deque([(folder, 0)]), 0
    while folders and looked < LOOKED_AT:
        at, depth = folders.popleft()
        with contextlib.suppress(OSError), os.scandir(at) as entries:
            for entry in entries:
                looked += 1
                yield entry
                if depth < DEEP and entry.is_dir(follow_symlinks=False) and entry.name.casefold() not in skipped:
                    folders.append((Path(entry), depth + 1))
