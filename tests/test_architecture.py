"""The directions of imports between the packages."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAY_IMPORT = {
    "actors": {"actors"},
    "transports": {"actors", "transports"},
    "supervisor": {"actors", "transports", "supervisor", "greenroom"},
    "greenroom": {"actors", "transports", "supervisor", "greenroom"},
}
# Below the command line nobody knows the client, and of what it stands on it knows only how a daemon is found.
FOR_CLIENTS = {
    "actors.vocabulary.errors",
    "supervisor.daemon.dialling",
    "supervisor.daemon.launch",
    "supervisor.paths",
    "supervisor.daemon.umask",
    "supervisor.version",
    "transports.question",
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
# What is read for a model, an agent or a client goes through `supervisor.agent.reach.readable`, which judges it.
# Whoever opens files besides has a reason, by file or by folder: nothing of them is shown to any of those.
MAY_OPEN = {
    "supervisor/agent/acp/confinement.py": "makes the files that an agent must find, and reads none",
    "supervisor/agent/acp/git_asking.py": "a program in the agent's sandbox, which asks through its desk",
    "supervisor/agent/acp/git_desk.py": "the pipe of the desk, in our own folder",
    "supervisor/agent/files/ignoring.py": "patterns, of which none is shown; it follows no link",
    "supervisor/agent/files/searching.py": "a program in the sandbox, told what is hidden; it follows no link",
    "supervisor/agent/folders.py": "folders, component by component",
    "supervisor/agent/patch/files.py": "a place that the plan has judged, without following a link",
    "supervisor/agent/patch/transaction.py": "writes the files of a plan that was judged",
    "supervisor/agent/pins.py": "the boot's id",
    "supervisor/agent/processes/": "facts about processes",
    "supervisor/agent/reach/": "the reach itself, and git's configuration, of which it says what to close",
    "supervisor/agent/reading.py": "what the others read with",
    "supervisor/agent/sandbox/": "what is mounted, locked and left behind, and the state of a repository",
    "supervisor/agent/search_paths.py": "the first line of a script, for the name of its interpreter",
    "supervisor/agent/skills/finding.py": "for `greenroom skills`, where a person reads what is theirs",
    "supervisor/agent/spending/prices.py": "our own table",
    "supervisor/config/agent_variables.py": "the names of variables in a person's own settings of an agent",
    "supervisor/config/inherited.py": "names in the settings of agents, for a person",
    "supervisor/config/load.py": "the config",
    "supervisor/config/single_settings.py": "the config",
    "supervisor/config/stored_keys.py": "the keys, for requests to providers alone",
    "transports/address.py": "the folder of a socket",
    "transports/dialects/mcp/table.py": "our own table",
    "transports/listener.py": "a descriptor in reserve",
    "transports/stdio.py": "the streams of a bridge",
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module or ""


def tops(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_go_one_way(package: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(package)
        for name in tops(path) & (NOT_PACKAGED | set(MAY_IMPORT) - MAY_IMPORT[package])
    }
    assert not wrong


def test_the_client_for_programs_stands_between_the_daemon_and_the_command_line() -> None:
    above = [path for path in modules("supervisor") if "greenroom" in tops(path)]
    assert [str(path) for path in above if not path.is_relative_to(ROOT / "supervisor" / "cli")] == []
    below = {name for path in modules("greenroom") for name in imports(path)}
    assert {name for name in below if name.partition(".")[0] in set(MAY_IMPORT) - {"greenroom"}} <= FOR_CLIENTS


def test_the_client_for_programs_needs_the_standard_library_alone() -> None:
    used = {name for path in modules("greenroom") for name in tops(path)}
    assert used - sys.stdlib_module_names <= {"greenroom", "actors", "supervisor", "transports"}


def test_only_the_actor_base_knows_pykka() -> None:
    users = {
        str(path.relative_to(ROOT)) for package in MAY_IMPORT for path in modules(package) if "pykka" in tops(path)
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
        for package in MAY_IMPORT
        for path in modules(package)
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent


def opens_files(path: Path) -> bool:
    return any(is_opening(node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


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


def test_what_is_read_for_others_goes_through_the_reach() -> None:
    places = ("supervisor/agent", "supervisor/config", "supervisor/services", "transports")
    found = [str(path.relative_to(ROOT)) for place in places for path in modules(place) if opens_files(path)]
    unexplained = [one for one in found if not one.startswith(tuple(MAY_OPEN))]
    assert unexplained == [], "read through Reach, or say in MAY_OPEN why nothing of it reaches a model or an agent"
    assert [one for one in MAY_OPEN if not any(path.startswith(one) for path in found)] == [], (
        "these open nothing now"
    )
