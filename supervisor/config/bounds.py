"""Bounds on input from models, commands and files: the configuration's limits, and their defaults. A leaf."""

from pydantic_core import PydanticSerializationError, to_json

from supervisor.config.limits import LimitsTable

KIB = 1 << 10
Bounds = LimitsTable
DEFAULTS = Bounds()


def json_size(text: str) -> int:
    """Count the bytes that a text takes in an event's JSON."""
    try:
        return len(to_json(text)) - 2
    except PydanticSerializationError:  # halves of surrogate pairs, as in a file name that isn't UTF-8
        return 6 * len(text)
