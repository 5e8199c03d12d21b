"""Arguments to models, and problems and ignored arguments in the words of Codex. Pure."""

from collections.abc import Iterable
from typing import TypeVar

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic_core import ErrorDetails

NAME_LENGTH = 60  # characters of an unknown name
NAMES_SHOWN = 8  # unknown names listed for one request

Model = TypeVar("Model", bound=BaseModel)


class Undecodable(ValueError):
    """The text describes the first problem."""


def decode(model: type[Model], value: object) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise Undecodable(_describe_problem(error.errors()[0])) from None


def without_effect(name: str, model: type[BaseModel], arguments: object) -> tuple[str, ...]:
    """A warning for each argument without effect: none is dropped silently."""
    if not isinstance(arguments, dict):
        return ()
    unknown = [
        f"{name}: unknown argument {key[:NAME_LENGTH]!a}, ignored"
        for key in _unknown_members(model, arguments)[:NAMES_SHOWN]
    ]
    spellings = ("compact-prompt", "compactPrompt", "compact_prompt")
    early = [f"{name}: {key} has no effect yet: histories are not compacted" for key in spellings if key in arguments]
    return (*unknown, *early)


def _unknown_members(model: type[BaseModel], arguments: Iterable[str]) -> list[str]:
    """Members that the pydantic model does not have. `_meta` is the protocol's own."""
    if model.model_config.get("extra") == "allow":
        return []
    known = {"_meta"}
    for name, field in model.model_fields.items():
        also = field.validation_alias
        choices = also.choices if isinstance(also, AliasChoices) else [also]
        known |= {name, *(alias for alias in (field.alias, *choices) if isinstance(alias, str))}
    return [key for key in arguments if key not in known]


def _describe_problem(error: ErrorDetails) -> str:
    place = [str(part) for part in error["loc"]]
    name = place[-1] if place else ""
    match error["type"]:
        case "missing":
            return f"missing field `{name}`"
        case "enum" | "literal_error":
            expected = error.get("ctx", {}).get("expected", "")
            return f"unknown variant `{error['input']}`, expected one of {expected.replace(chr(39), '`')}"
        case "model_type" | "model_attributes_type":
            return f"invalid type: {_kind(error['input'])}, expected an object"
        case "string_type":
            return f"invalid type: {_kind(error['input'])}, expected a string for `{name}`"
        case _:
            return f"{'.'.join(place)}: {error['msg']}" if place else error["msg"]


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            return f"integer `{value}`"
        case float():
            return f"floating point `{value}`"
        case str():
            return f"string {value!r}"
        case list():
            return "sequence"
        case _:
            return "map"
