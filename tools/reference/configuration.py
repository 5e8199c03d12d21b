"""The list of all keys of the configuration, written from the models that check it."""

import json
from collections.abc import Iterator
from enum import Enum

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from supervisor.config.key_types import KeyType
from supervisor.config.shared_keys import WITHOUT_EFFECT
from supervisor.config.whole_config import Config
from tools.reference.parts import with_part


def with_keys(page: str) -> str:
    return with_part(page, "keys", "\n".join([*_sections(Config, ""), _without_effect()]))


def _sections(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """The model's own keys, then a section for each table below it."""
    title = f"### `[{prefix}]`" if prefix else "### Top level"
    yield "\n".join([title, "", *_description(model, prefix), *_rows(model), ""])
    for name, info in model.model_fields.items():
        key_type = KeyType.from_annotation(info.annotation, info.metadata)
        path = f"{prefix}.{name}" if prefix else name
        if key_type.table is not None:
            yield from _sections(key_type.table, path)
        elif key_type.is_free and (below := key_type["NAME"]) is not None and below.table is not None:
            yield from _sections(below.table, f"{path}.NAME")


def _description(model: type[BaseModel], prefix: str) -> list[str]:
    if not prefix:
        return []
    return [*(line.strip() for line in (model.__doc__ or "").strip().splitlines()), ""]


def _rows(model: type[BaseModel]) -> list[str]:
    head = ["| Key | Expected | Default | Meaning |", "|---|---|---|---|"]
    return [*head, *(_row(name, info) for name, info in model.model_fields.items())]


def _row(name: str, info: FieldInfo) -> str:
    key_type = KeyType.from_annotation(info.annotation, info.metadata)
    default = "" if key_type.table is not None else "needed" if info.is_required() else _default_cell(info.default)
    cells = [f"`{name}`", key_type.expectation, default, info.description or ""]
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _default_cell(default: object) -> str:
    match default:
        case None:
            return "unset"
        case Enum():
            return f"`{json.dumps(default.value)}`"
        case () | {}:
            return "empty"
        case _:
            return f"`{json.dumps(default)}`"


def _without_effect() -> str:
    rows = [f"- `{name}`: {reason}" for name, reason in WITHOUT_EFFECT.items()]
    return "\n".join(["## Codex's keys that have no effect here", "", *rows, ""])
