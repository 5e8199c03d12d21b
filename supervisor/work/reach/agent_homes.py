"""The homes of agents: a table of the files in which each keeps its writes. All else of a home is read-only to it.

An agent obeys settings, hooks, plugins, scripts and programs in its home. If a confined agent could write them, it
would obey them outside the sandbox when its person starts it by hand. So it keeps only the files that it can't work
without: sessions, logins, logs. Data, and its places for a user; home_views.py makes a sandbox's view of it.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from supervisor.work.reach.known_agents import KNOWN_AGENTS, places_of


class KeptNames(Struct, frozen=True):
    """The names in a home in which an agent keeps its writes: sessions, logins and logs, no settings.

    `folders` are made if they are missing, `begun` are files that are made empty, `files` are written in place.
    `copies` can be changed while the agent runs, but the real files stay as they were. `memory` are subfolders of
    `folders` whose content would be run or obeyed, `fresh` are such folders of the home: both begin empty. A home
    that is a `file` itself is read-only, and made if missing.
    """

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    empty_files: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    empty_folders: tuple[str, ...] = ()
    file: bool = False


DATABASE_FOLDER = "greenroom"  # a folder for the databases that an agent would otherwise make at the top of its home

# By the places of the known agents, in their order. Found by running each in the sandbox, and fixing its failures.
# docs/agents.md shows this table.
HOMES: Mapping[str, tuple[KeptNames, ...]] = {
    "claude": (
        KeptNames(
            folders=("file-history", "image-cache", "paste-cache", "plans", "projects", "tasks", "todos", "uploads"),
            files=(".credentials.json",),
            empty_files=("history.jsonl",),
        ),
        KeptNames(file=True),  # it names MCP servers, which are programs
    ),
    "codex": (
        KeptNames(
            folders=("archived_sessions", DATABASE_FOLDER, "log", "sessions", "thread-writer-locks"),
            files=("auth.json",),
            empty_files=("history.jsonl", "session_index.jsonl", "session_index.jsonl.lock"),
        ),
    ),
    "gemini": (
        KeptNames(
            folders=("tmp",),
            files=("google_accounts.json", "installation_id", "oauth_creds.json"),
            copies=("projects.json", "state.json"),
            memory=("tmp/bin",),  # programs that it has fetched
            empty_folders=("history",),  # repositories of its own, which git obeys
        ),
    ),
    "opencode": (
        # A login may name an address that settings are fetched from, so changes of it are not kept.
        KeptNames(
            folders=("log", DATABASE_FOLDER, "plans", "storage", "tool-output"),
            copies=("auth.json", "mcp-auth.json"),
            empty_folders=("repos", "snapshot"),  # repositories of its own, which git obeys
        ),
        KeptNames(),
        KeptNames(folders=("locks",)),
        KeptNames(),
    ),
}
# Variables that move an agent's databases into a folder that it keeps, by the number of their home.
DATABASES: Mapping[str, Mapping[str, tuple[int, str]]] = {
    "codex": {"CODEX_SQLITE_HOME": (0, DATABASE_FOLDER)},
    "opencode": {"OPENCODE_DB": (0, f"{DATABASE_FOLDER}/opencode.db")},
}
# An agent's variables that name further settings, wherever they lie.
SETTINGS_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "claude": ("CLAUDE_ENV_FILE",),
    "gemini": ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "GEMINI_SYSTEM_MD"),
    "opencode": ("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_TUI_CONFIG"),
}


def homes_of(kind: str, env: Mapping[str, str]) -> tuple[tuple[Path, KeptNames], ...]:
    """Return an agent's homes for a user with these variables, and the names kept in each. Needs no disk."""
    if kind not in HOMES:
        return ()
    found = (next(places_of((place,), env), None) for place in KNOWN_AGENTS[kind].places)
    user = Path(env.get("HOME") or "/")
    return tuple(
        (Path(os.path.normpath(home)), keeps)
        for home, keeps in zip(found, HOMES[kind], strict=True)
        if home is not None and not user.is_relative_to(os.path.normpath(home))
    )


def databases_of(kind: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that move an agent's databases into a folder that it may write."""
    moved = DATABASES.get(kind, {}).items()
    homes = (
        (variable, places_of((KNOWN_AGENTS[kind].places[number],), env), name) for variable, (number, name) in moved
    )
    return {variable: str(home / name) for variable, found, name in homes for home in found}


def logins_of(kind: str, env: Mapping[str, str]) -> tuple[int, ...]:
    """Return the inodes of the files that an agent writes in place. It would not see a replaced or new file."""
    files = (home / name for home, keeps in homes_of(kind, env) for name in (*keeps.files, *keeps.copies))
    return tuple(_inode(file) for file in files)


def _inode(file: Path) -> int:
    try:
        return file.stat().st_ino
    except OSError:
        return 0
