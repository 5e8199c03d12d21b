"""The directions of imports between the packages."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("actors", "transports", "supervisor", "greenroom")
ORDER = re.compile(r"^([a-z_/]+) {2,}\S", re.MULTILINE)
# Each kind of agent is behind a wall: who outside of it imports anything of it, and why.
WALLS = {
    "supervisor/agents/own": {
        "supervisor/engine/engine.py": "makes the agent",
        "supervisor/engine/load_ahead.py": "loads it before the first turn",
        "supervisor/cli/mcp_servers.py": "tries a server without a daemon",
    },
    "supervisor/agents/acp": {
        "supervisor/engine/engine.py": "makes the agent",
        "supervisor/services/agent_services.py": "tries an agent for `greenroom agents --check`",
        "supervisor/cli/agents.py": "shows what came of it",
    },
}
# Below the command line nobody knows the client, and of what it stands on it knows only how a daemon is found.
FOR_CLIENTS = {
    "actors.vocabulary.errors",
    "supervisor.daemon.connecting",
    "supervisor.daemon.launch",
    "supervisor.paths",
    "supervisor.disk.umask",
    "supervisor.version",
    "transports.question_text",
}
NOT_PACKAGED = {"bench", "tests", "tools"}
KNOWS_PYKKA = {"actors/runtime/base.py", "actors/runtime/mailbox.py"}
PURE = ("actors/conversation", "actors/routing")
SHELLS = {"actors/conversation/session.py", "actors/routing/registry.py"}  # the actors round them
IMPURE_MODULES = {
    "asyncio",
    "datetime",
    "logging",
    "os",
    "random",
    "socket",
    "structlog",
    "subprocess",
    "threading",
    "time",
    "uuid",
}
# What is read for a model, an agent or a client goes through `supervisor.work.reach.readable`, which judges it.
# Whoever opens files besides has a reason, by file or by folder: nothing of them is shown to any of those.
MAY_OPEN = {
    "supervisor/agents/acp/confinement.py": "makes the files that an agent must find, and reads none",
    "supervisor/agents/acp/git_asking.py": "a program in the agent's sandbox, which asks through its desk",
    "supervisor/agents/acp/git_desk.py": "the pipe of the desk, in our own folder",
    "supervisor/work/files/gitignore.py": "patterns, of which none is shown; it follows no link",
    "supervisor/work/files/searching.py": "a program in the sandbox, told what is hidden; it follows no link",
    "supervisor/disk/folders.py": "folders, component by component",
    "supervisor/work/patch/files.py": "a place that the plan has judged, without following a link",
    "supervisor/work/patch/transaction.py": "writes the files of a plan that was judged",
    "supervisor/disk/pins.py": "the boot's id",
    "supervisor/work/processes/": "facts about processes",
    "supervisor/work/reach/": "the reach itself, and git's configuration, of which it says what to close",
    "supervisor/disk/ordinary_files.py": "what the others read with",
    "supervisor/work/sandbox/": "what is mounted, locked and left behind, and the state of a repository",
    "supervisor/disk/search_paths.py": "the first line of a script, for the name of its interpreter",
    "supervisor/agents/skills/finding.py": "for `greenroom skills`, where a person reads what is theirs",
    "supervisor/agents/spending/prices.py": "our own table",
    "supervisor/config/agent_variables.py": "the names of variables in a person's own settings of an agent",
    "supervisor/config/inherited_things.py": "names in the settings of agents, for a person",
    "supervisor/config/load.py": "the config",
    "supervisor/config/single_settings.py": "the config",
    "supervisor/config/stored_keys.py": "the keys, for requests to providers alone",
    "supervisor/services/history_files.py": "histories that a person exports and imports: each line must be an event",
    "transports/address.py": "the folder of a socket",
    "transports/dialects/mcp/protocol/offline_answers.py": "our own table",
    "transports/stdio.py": "the streams of a bridge",
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def imports(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module or ""


def tops(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def folders_in_order() -> list[str]:
    """The folders as docs/architecture.md lists them: each may import those before it."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return ORDER.findall(text.partition("## 1.")[2].partition("```")[2].partition("```")[0])


def folder_of(path: Path) -> str:
    return str(path.parent.relative_to(ROOT))


def imported_files(path: Path) -> Iterator[Path]:
    """The files of ours that a file imports anything of, wherever in it the import stands."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from filter(None, map(file_of, names))


@cache
def file_of(name: str) -> Path | None:
    """The module of this name, or the one that has this name in it."""
    for candidate in (name, name.rpartition(".")[0]):
        place = ROOT / candidate.replace(".", "/")
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if candidate and file.is_file():
                return file
    return None


# The entry points of programs, which nobody imports, belong to no room.
ROOMS = [path for package in PACKAGES for path in modules(package) if path.name != "__main__.py"]


def test_each_folder_imports_only_those_before_it_in_the_table() -> None:
    order = folders_in_order()
    place = {folder: number for number, folder in enumerate(order)}
    wrong = {
        f"{path.relative_to(ROOT)} imports {file.relative_to(ROOT)}"
        for path in ROOMS
        for file in imported_files(path)
        if folder_of(file).partition("/")[0] in PACKAGES and place[folder_of(file)] > place[folder_of(path)]
    }
    assert not wrong


def test_the_table_has_every_folder_once_and_no_other() -> None:
    order = folders_in_order()
    holding = {folder_of(path) for path in ROOMS if path.name != "__init__.py"}
    assert sorted(order) == sorted(holding)


def test_nobody_imports_what_is_not_packaged() -> None:
    wrong = {f"{path.relative_to(ROOT)} imports {name}" for path in ROOMS for name in tops(path) & NOT_PACKAGED}
    assert not wrong


@pytest.mark.parametrize("room", WALLS)
def test_the_daemon_can_be_read_without_the_agents(room: str) -> None:
    outside = [path for path in ROOMS if not folder_of(path).startswith(room)]
    over = {
        str(path.relative_to(ROOT))
        for path in outside
        if any(folder_of(file).startswith(room) for file in imported_files(path))
    }
    assert over == set(WALLS[room])


def test_the_client_for_programs_stands_between_the_daemon_and_the_command_line() -> None:
    above = [path for path in modules("supervisor") if "greenroom" in tops(path)]
    assert [str(path) for path in above if not path.is_relative_to(ROOT / "supervisor" / "cli")] == []
    below = {name for path in modules("greenroom") for name in imports(path)}
    assert {name for name in below if name.partition(".")[0] in set(PACKAGES) - {"greenroom"}} <= FOR_CLIENTS


def test_the_client_for_programs_needs_the_standard_library_alone() -> None:
    used = {name for path in modules("greenroom") for name in tops(path)}
    assert used - sys.stdlib_module_names <= {"greenroom", "actors", "supervisor", "transports"}


def test_only_the_actor_base_knows_pykka() -> None:
    users = {
        str(path.relative_to(ROOT)) for package in PACKAGES for path in modules(package) if "pykka" in tops(path)
    }
    assert users <= KNOWS_PYKKA


def test_the_functional_cores_touch_neither_clock_nor_disk_nor_chance() -> None:
    rooms = [path for path in modules("actors") if str(path.relative_to(ROOT)).startswith(PURE)]
    cores = [path for path in rooms if str(path.relative_to(ROOT)) not in SHELLS]
    wrong = {f"{path.relative_to(ROOT)} imports {name}" for path in cores for name in tops(path) & IMPURE_MODULES}
    assert not wrong


def test_every_module_says_what_it_owns() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in modules(package)
        if not ast.get_docstring(tree_of(path))
    ]
    assert not silent


def opens_files(path: Path) -> bool:
    return any(map(is_opening, nodes_of(path)))


def is_opening(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="open" | "read_ordinary")):
            return True
        case ast.Call(func=ast.Attribute(attr="read_text" | "read_bytes")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="os" | "io"), attr="open")):
            return True
        case ast.Call(func=ast.Attribute(attr="open"), args=[ast.Constant(value=str()), *_]):  # a mode
            return True
        case _:
            return False


def test_files_read_for_others_go_through_the_reach() -> None:
    work = ("agents", "work", "disk", "loop", "formats", "config", "services")
    places = [*(f"supervisor/{room}" for room in work), "transports"]
    found = [str(path.relative_to(ROOT)) for place in places for path in modules(place) if opens_files(path)]
    unexplained = [one for one in found if not one.startswith(tuple(MAY_OPEN))]
    assert unexplained == [], "read through Reach, or say in MAY_OPEN why nothing of it reaches a model or an agent"
    assert [one for one in MAY_OPEN if not any(path.startswith(one) for path in found)] == [], (
        "these open nothing now"
    )
