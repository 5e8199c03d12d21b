"""The result of a tool call: the model's text, and the message for people if it failed. Plain data."""

from typing import Literal

from msgspec import Struct

from actors.vocabulary.brief import brief
from actors.vocabulary.events import ToolFailure
from actors.vocabulary.items import ImageItem

LINE = 300  # characters that people are shown of a failure

FailureKind = Literal["arguments", "unknown_tool", "patch", "time_out", "refused", "tool"]


class ToolResult(Struct, frozen=True):
    """A result. Pictures have data: addresses, and are bounded by the tool that made them."""

    text: str
    failed: ToolFailure | None = None
    pictures: tuple[ImageItem, ...] = ()


def failure(kind: FailureKind, text: str, message: str | None = None) -> ToolResult:
    """Return the result of a failed call. People are shown the message, or the first line of the model's text."""
    lines = (message or text).strip().splitlines() or [""]
    line = lines[0].removeprefix("error: ")
    return ToolResult(text, ToolFailure(kind=kind, message=brief(line, LINE)))
