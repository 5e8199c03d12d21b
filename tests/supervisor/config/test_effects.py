"""A key of the configuration does something, or says that it doesn't."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from actors.vocabulary.events import BudgetUnit
from supervisor.config.load import load
from supervisor.config.new_settings import Arguments, settings_for
from supervisor.config.shared_keys import WITHOUT_EFFECT, Profile
from supervisor.config.whole_config import Config

ROOT = Path(__file__).resolve().parents[3]
DECLARATIONS = {ROOT / "supervisor" / "config" / name for name in ("own.py", "shared.py", "models.py")}


def keys(table: type[BaseModel], above: str = "") -> Iterator[str]:
    """All keys, dotted; profiles repeat keys of the top level."""
    for name, info in table.model_fields.items():
        inner = [one for one in _types(info.annotation) if issubclass(one, BaseModel) and one is not Profile]
        yield f"{above}{name}"
        for one in inner:
            yield from keys(one, f"{above}{name}.")


def _types(annotation: Any) -> Iterator[type]:
    if isinstance(annotation, type) and not get_args(annotation):
        yield annotation
    for one in get_args(annotation):
        yield from _types(one)


def read_somewhere() -> set[str]:
    """The attributes that the program reads."""
    files = [file for file in (ROOT / "supervisor").rglob("*.py") if file not in DECLARATIONS]
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    return set(get_args(BudgetUnit)) | {  # read by their names
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


def test_every_key_of_the_configuration_is_read_by_the_program() -> None:
    read = read_somewhere()
    idle = [key for key in keys(Config) if key.rpartition(".")[2] not in read]
    assert not idle, f"keys that nothing reads: {idle}"


@pytest.mark.parametrize("key", WITHOUT_EFFECT)
def test_a_key_without_effect_is_said_to_have_none(tmp_path: Path, key: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"{key} = 1\n", encoding="utf-8")
    (warning,) = load(str(file), environ={"HOME": str(tmp_path)}).warnings
    assert "has no effect here" in warning
    assert key not in keys(Config)


@pytest.mark.parametrize("key", ["include_plan_tool", "include_apply_patch_tool"])
def test_a_tool_that_the_configuration_includes_is_offered_unless_the_request_says_otherwise(
    tmp_path: Path, key: str
) -> None:
    config = load(overrides={key: True}, environ={"HOME": str(tmp_path)}).config

    silent, refusing = Arguments(), Arguments(include_plan_tool=False, include_apply_patch_tool=False)
    assert getattr(settings_for(config, silent, tmp_path, {}), key)
    assert not getattr(settings_for(config, refusing, tmp_path, {}), key)
