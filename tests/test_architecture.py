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
    "greenroom": {"actors", "supervisor", "greenroom"},
}
# Below the command line nobody knows the client, and of what it stands on it knows only how a daemon is found.
FOR_CLIENTS = {
    "actors.vocabulary.errors",
    "supervisor.daemon.dialling",
    "supervisor.daemon.launch",
    "supervisor.paths",
    "supervisor.daemon.umask",
    "supervisor.version",
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
    assert used - sys.stdlib_module_names <= {"greenroom", "actors", "supervisor"}


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
