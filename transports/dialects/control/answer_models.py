"""Models with the members of the structs that are answers, because structs hold models, and one schema has both.

Imported with the schema alone. Pure.
"""

import operator
from functools import cache, reduce
from types import GenericAlias, UnionType
from typing import Annotated, Union, cast, get_args, get_origin

from msgspec import Meta, Struct
from msgspec.structs import fields
from pydantic import BaseModel, ConfigDict, Field, create_model

from transports.jsonrpc import JsonObject

CONFIG = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def with_models(annotation: object) -> object:
    """The type with a model in place of each struct."""
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return model_of(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return Annotated[with_models(arguments[0]), *_descriptions(arguments[1:])]
    if origin in {Union, UnionType}:
        return reduce(operator.or_, map(with_models, arguments))
    if isinstance(origin, type) and arguments:
        return GenericAlias(origin, tuple(map(with_models, arguments)))
    return annotation


@cache
def model_of(struct: type[Struct]) -> type[BaseModel]:
    """A model with the members of a struct. All are required: an answer is written whole."""
    members = {field.encode_name: (with_models(field.type), ...) for field in fields(struct)}
    doc = struct.__dict__.get("__doc__")
    return create_model(struct.__name__, __config__=CONFIG, __doc__=doc, **cast("JsonObject", members))


def _descriptions(notes: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(Field(description=note.description) if isinstance(note, Meta) else note for note in notes)
