"""Models with the members of the structs that are answers, because structs hold models, and one schema has both.

Imported with the schema alone. Pure.
"""

import operator
from dataclasses import is_dataclass
from functools import cache, reduce
from types import GenericAlias, UnionType
from typing import Annotated, Union, cast, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct
from msgspec.structs import fields
from pydantic import BaseModel, ConfigDict, Field, create_model

from transports.dialects.control.api.answers import Encodes
from transports.jsonrpc import JsonObject

CONFIG = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def with_models(annotation: object) -> object:
    """The type with a model in place of each struct."""
    if isinstance(annotation, type) and (issubclass(annotation, Struct) or is_dataclass(annotation)):
        return model_of(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        encoded = next((note.type for note in arguments[1:] if isinstance(note, Encodes)), arguments[0])
        return Annotated[with_models(encoded), *_descriptions(arguments[1:])]
    if origin in {Union, UnionType}:
        return reduce(operator.or_, map(with_models, arguments))
    if isinstance(origin, type) and arguments:
        return GenericAlias(origin, tuple(map(with_models, arguments)))
    return annotation


@cache
def model_of(struct: type) -> type[BaseModel]:
    """A model with the members of a struct or a dataclass. All are required: an answer is written whole."""
    types = get_type_hints(struct, include_extras=True)
    names = {field.name: field.encode_name for field in fields(struct)} if issubclass(struct, Struct) else {}
    members = {names.get(name, name): (with_models(type_), ...) for name, type_ in types.items()}
    doc = struct.__dict__.get("__doc__")
    return create_model(struct.__name__, __config__=CONFIG, __doc__=doc, **cast("JsonObject", members))


def _descriptions(notes: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(Field(description=note.description) if isinstance(note, Meta) else note for note in notes)
