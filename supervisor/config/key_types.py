"""The keys of the config models, read from their annotations, each with its expected value in words.

Knows the fields of pydantic, but no particular key. Pure; safe from any thread.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from msgspec import Struct
from pydantic import BaseModel
from pydantic.fields import FieldInfo

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string", Path: "a path"}

KeyPath = tuple[str | int, ...]


class Expect(Struct, frozen=True):
    """The expected value in words, for annotations whose type alone does not say it."""

    words: str


class KeyType(Struct, frozen=True):
    """The type of a key or an element, without its annotations, and its limits."""

    bare: Any
    limits: tuple[object, ...] = ()

    @staticmethod
    def from_annotation(annotation: Any, limits: Sequence[object] = ()) -> "KeyType":
        bare, found = annotation, list(limits)
        while True:
            if get_origin(bare) is Annotated:
                bare, *more = get_args(bare)
                for item in more:
                    found.extend(item.metadata if isinstance(item, FieldInfo) else [item])
            elif get_origin(bare) in (Union, UnionType):
                (bare,) = (each for each in get_args(bare) if each is not NoneType)
            else:
                return KeyType(bare, tuple(found))

    def __getitem__(self, key: str | int) -> "KeyType | None":
        """The type of a key or an element below this one; None if there is no such key."""
        if (table := self.table) is not None:
            field = table.model_fields.get(str(key))
            return KeyType.from_annotation(field.annotation, field.metadata) if field else None
        inner = get_args(self.bare)
        if get_origin(self.bare) is tuple:
            return KeyType.from_annotation(inner[0])
        return KeyType.from_annotation(inner[1]) if self.is_free else None

    @property
    def table(self) -> type[BaseModel] | None:
        return self.bare if isinstance(self.bare, type) and issubclass(self.bare, BaseModel) else None

    @property
    def is_free(self) -> bool:
        """Whether this is a table whose keys the user chooses."""
        origin: object = get_origin(self.bare)
        return origin is Mapping

    @property
    def choices(self) -> tuple[str, ...]:
        if get_origin(self.bare) is Literal:
            return tuple(str(value) for value in get_args(self.bare))
        if isinstance(self.bare, type) and issubclass(self.bare, Enum):
            return tuple(str(member.value) for member in self.bare)
        return ()

    @property
    def expectation(self) -> str:
        """The expected value, in words that can follow `expected`."""
        for limit in self.limits:
            if isinstance(limit, Expect):
                return limit.words
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.table is not None:
            return "a table"
        item = self[0]
        if item is not None:
            return f"{'a list' if get_origin(self.bare) is tuple else 'a table'}, each value {item.expectation}"
        return f"{_WORDS[self.bare]}{self._bounds()}"

    def _bounds(self) -> str:
        words = [
            f"more than {limit.gt}" if isinstance(limit, Gt) else f"at least {limit.ge}"
            for limit in self.limits
            if isinstance(limit, (Gt, Ge))
        ]
        words += [f"at most {limit.le}" for limit in self.limits if isinstance(limit, Le)]
        return f", {' and '.join(words)}" if words else ""


def key_type_at(model: type[BaseModel], path: KeyPath) -> KeyType | None:
    key_type: KeyType | None = KeyType.from_annotation(model)
    for key in path:
        key_type = key_type[key] if key_type is not None else None
    return key_type


def unknown_keys(
    key_type: KeyType, tree: Mapping[str, object], path: KeyPath = ()
) -> Iterator[tuple[KeyPath, list[str]]]:
    """The keys that no model knows, each with the known keys of its table."""
    for key, value in tree.items():
        below = key_type[key]
        if below is None:
            table = key_type.table
            yield (*path, key), list(table.model_fields) if table else []
        elif isinstance(value, Mapping) and (below.table is not None or below.is_free):
            yield from unknown_keys(below, value, (*path, key))
