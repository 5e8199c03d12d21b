"""Bounds on what comes from a model, a command or a file. Data; the names are the keys of `[greenroom.limits]`.

A refusal names the key, so that a person can find and raise it.
"""

from msgspec import Struct
from pydantic_core import PydanticSerializationError, to_json

KIB, MIB = 1 << 10, 1 << 20


class Bounds(Struct, frozen=True):
    """The defaults are those of supervisor/config/own.py, where each has its reason; a test compares them."""

    answer_bytes: int = 8 * MIB
    answer_tool_calls: int = 128
    answer_items: int = 1_024
    answer_event_bytes: int = 16 * MIB
    answer_event_values: int = 50_000
    answer_silent_bytes: int = 4 * MIB
    answer_head_bytes: int = 256 * KIB
    answer_headers: int = 500
    refusal_bytes: int = 64 * KIB
    refusal_seconds: float = 10.0
    request_bytes: int = 32 * MIB
    picture_bytes: int = 20 * MIB
    transcripts: int = 2_000
    transcripts_bytes: int = 256 * MIB
    command_bytes: int = 512 * KIB
    patch_bytes: int = 32 * MIB
    patch_files: int = 500
    patch_lines: int = 250_000
    patch_compared_lines: int = 20_000_000
    patch_event_bytes: int = MIB

    def beyond(self, key: str, what: str) -> str:
        """Compose a message for a bound that was met. `what` says what happened, without a full stop."""
        return f"{what}: the bound is {getattr(self, key)} (greenroom.limits.{key} in the configuration)"


DEFAULTS = Bounds()


def json_size(text: str) -> int:
    """Count the bytes that a text takes in an event's JSON."""
    try:
        return len(to_json(text)) - 2
    except PydanticSerializationError:  # halves of surrogate pairs, as in a file name that isn't UTF-8
        return 6 * len(text)
