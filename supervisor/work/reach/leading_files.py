"""Find the files that lead an agent, where no table names them: by their names, and by what settings say. Blocking.

Starts and changes nothing. What it finds is shut in sandboxes, what it misses stays open, so too much is better.
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
from supervisor.disk.reading import read_ordinary

LOOKED_AT, DEEP = 4_000, 6  # entries of a place that are looked at, and how deep
MOST_FOUND = 400  # in one place: each is a mount
SETTINGS_BYTES = 1 << 20  # of a file that is read for the scripts that it names
HOME_WORD = re.compile(r"^(~|\$HOME|\$\{HOME\})(?=/)")
NAMED_PATH = re.compile(r"(?:~|\$HOME|\$\{HOME\}|(?<![\w.$}~-]))/[^\s\"'`;|&()<>\\,$*?]+")

# Settings by their usual names, in homes that no table knows. Names are compared without their case.
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
)  # must not come to be where they are missing; empty ones say nothing
# Keys of settings below which programs are named.
_STARTING = frozenset(
    "apikeyhelper args awsauthrefresh awscredentialexport command commands env extensions fileSuggestion hooks mcp "
    "mcp_servers mcpservers notify otelheadershelper path plugin plugins script statusline".casefold().split()
)
_SCRIPTS = frozenset(
    [".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".lua", ".ps1"]
)


def named_programs(homes: Sequence[Path], env: Mapping[str, str]) -> Iterator[Path]:
    """Yield the scripts and programs that settings at the top of the homes name by their whole path.

    A home may be a file of settings itself.
    """
    for file in (file for home in homes for file in _settings_in(home)):
        for path in dict.fromkeys(path for said in _said(file) for path in _paths(said, env.get("HOME", ""))):
            with contextlib.suppress(OSError, ValueError):
                if path.is_file() and (_is_script(path) or any(lies_in(path, home) for home in homes)):
                    yield from dict.fromkeys((path, Path(os.path.realpath(path))))


def _paths(said: str, user: str) -> Iterator[Path]:
    """Yield the paths that words name: all of them as one, by a shell's quotes, or standing anywhere."""
    words = [said]
    with contextlib.suppress(ValueError):  # a quote that is not closed
        words += shlex.split(said)
    for word in (*words, *(found[0] for found in NAMED_PATH.finditer(said))):
        whole = HOME_WORD.sub(lambda _: user, word)
        if whole.startswith("/") and "\0" not in whole:
            yield Path(os.path.normpath(whole))


def _said(file: Path) -> Iterator[str]:
    """Yield the words of settings that may name programs; of a file that can't be taken apart, all of them."""
    try:
        text = read_ordinary(file, SETTINGS_BYTES).decode("utf-8", "surrogateescape")
        said: object = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except OSError:
        return
    except (ValueError, RecursionError):
        yield text
    else:
        yield from _words(said, leading=False)


def _words(said: object, *, leading: bool) -> Iterator[str]:
    match said:
        case dict():
            for key, value in said.items():
                yield from _words(value, leading=leading or str(key).casefold() in _STARTING)
        case list():
            for value in said:
                yield from _words(value, leading=leading)
        case str() if leading:
            yield said


def _settings_in(home: Path) -> Iterator[Path]:
    found = [home]
    with contextlib.suppress(OSError), os.scandir(home) as entries:
        found = [Path(one) for one in entries if one.is_file()]
    yield from (file for file in found if file.suffix in {".json", ".jsonc", ".toml"} or file.name == ".env")


def links_below(folder: Path) -> Iterator[Path]:
    """Yield where the links in a folder lead."""
    yield from (Path(os.path.realpath(one)) for one in _below(folder) if one.is_symlink())


def recognised(place: Path) -> Iterator[Path]:
    """Yield the settings, scripts and programs in a place of an agent that no table knows, and where links lead."""
    yield from islice(_recognised(place), MOST_FOUND)


def _recognised(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        if _SETTINGS.fullmatch(place.name.casefold()):
            yield place
        return
    yield from (place / name for name in _HELD if not os.path.lexists(place / name))
    for one in _below(place, _FOLDERS):
        path = Path(one)
        if one.is_symlink():
            yield from (path, Path(os.path.realpath(path)))
        elif one.is_dir(follow_symlinks=False):
            if one.name.casefold() in _FOLDERS:
                yield path
        elif is_leading(one):
            yield path


def is_leading(entry: "os.DirEntry[str]") -> bool:
    """Tell whether an entry of a home is a setting, a script or a program, or a folder of these, by its name."""
    name = entry.name.casefold()
    if entry.is_dir(follow_symlinks=False):
        return name in _FOLDERS
    return _SETTINGS.fullmatch(name) is not None or _is_script(Path(entry))


def _is_script(path: Path) -> bool:
    return path.suffix.casefold() in _SCRIPTS or (path.is_file() and os.access(path, os.X_OK))


def _below(folder: Path, passed_over: frozenset[str] = frozenset()) -> Iterator["os.DirEntry[str]"]:
    """Yield the entries of a folder and of those in it, the shallow ones first, as far as the bounds reach."""
    folders, looked = deque([(folder, 0)]), 0
    while folders and looked < LOOKED_AT:
        at, depth = folders.popleft()
        with contextlib.suppress(OSError), os.scandir(at) as entries:
            for one in entries:
                looked += 1
                yield one
                if depth < DEEP and one.is_dir(follow_symlinks=False) and one.name.casefold() not in passed_over:
                    folders.append((Path(one), depth + 1))
