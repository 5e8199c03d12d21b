"""Imports of dialects: each uses the kit, and but for mcp, which speaks codex, no other; the kit uses none of them.

And no annotation in them is `Any`.
"""

import ast
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import transports.dialects

ROOT = Path(transports.dialects.__file__).parent
PACKAGE = transports.dialects.__name__
KIT = "kit"
SPEAKS = {"mcp": {"codex"}}  # dialects that speak another
ROOMS = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())
MODULES = sorted(ROOT.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """The imported names in full, those for type checkers alone included; of `from a import b` both `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_of(tree: ast.AST) -> set[str]:
    """The packages below `transports.dialects` that are imported."""
    names = (
        name.removeprefix(f"{PACKAGE}.").partition(".")[0] for name in imported(tree) if name.startswith(PACKAGE)
    )
    return set(names) & set(ROOMS)


def names(tree: ast.AST) -> Iterator[str]:
    """Every identifier, in annotations that are written as strings, too."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
            case ast.Constant(value=str(text)) if text.isidentifier() or "[" in text:
                with suppress(SyntaxError):  # a text, and no annotation
                    yield from names(ast.parse(text, mode="eval"))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def wrong_imports(tree: ast.AST, room: str) -> set[str]:
    return rooms_of(tree) - {KIT, room} - SPEAKS.get(room, set())


def test_there_are_dialects_to_look_at() -> None:
    assert {KIT, "control", "mcp", "codex", "acp"} <= set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_dialect_imports_the_kit_and_no_other_and_the_kit_imports_none(room: str) -> None:
    found = {
        f"{path.relative_to(ROOT)} imports {other}"
        for path in MODULES
        if path.relative_to(ROOT).parts[0] == room
        for other in wrong_imports(parsed(path), room)
    }
    assert not found


def test_nothing_in_the_dialects_is_of_any_type() -> None:
    assert [str(path.relative_to(ROOT)) for path in MODULES if "Any" in names(parsed(path))] == []


@pytest.mark.parametrize(
    "code",
    [
        "from transports.dialects.mcp.protocol.sinks import CallSink",
        "import transports.dialects.mcp.protocol.sinks as s",
        "from transports.dialects import mcp",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from transports.dialects.mcp import sinks",
        "def late():\n    from transports.dialects.mcp import sinks",
    ],
)
def test_a_way_through_the_wall_is_seen(code: str) -> None:
    tree = ast.parse(code)
    assert wrong_imports(tree, "codex") == {"mcp"}
    assert wrong_imports(tree, KIT) == {"mcp"}
    assert wrong_imports(tree, "mcp") == set()


@pytest.mark.parametrize("code", ["def f(a: Any): ...", "import typing\nx: typing.Any", "cast('list[Any]', 1)"])
def test_any_is_seen_wherever_it_stands(code: str) -> None:
    assert "Any" in names(ast.parse(code))
