"""Events of a model's answer, free of any wire. A leaf.

A delta belongs to the item that is open; the `…Done` that closes it repeats the whole text. Reasoning and text come
before the calls of a response, `ResponseEnd` comes last, and items that a broken stream left open are void.
"""

from msgspec import Struct

from actors.vocabulary.ids import CallId


class TextDelta(Struct, frozen=True):
    text: str


class TextDone(Struct, frozen=True):
    text: str


class ReasoningDelta(Struct, frozen=True):
    """More of the summary of the model's reasoning."""

    text: str


class SectionBreak(Struct, frozen=True):
    """The summary goes on in a new part."""


class RawReasoningDelta(Struct, frozen=True):
    """More of the reasoning as the model wrote it."""

    text: str


class ReasoningDone(Struct, frozen=True):
    """The end of a reasoning item. Without an `id`, as on the chat wire, the model doesn't want it back."""

    id: str
    summary: tuple[str, ...] = ()
    raw: str = ""
    encrypted_content: str | None = None


class CallDone(Struct, frozen=True):
    call_id: CallId
    name: str
    arguments: str


class Usage(Struct, frozen=True):
    """Tokens of this response. None where the server gave no number."""

    input: int
    output: int
    total: int
    cached: int | None = None
    reasoning: int | None = None


class ResponseEnd(Struct, frozen=True):
    response_id: str = ""


Delta = TextDelta | ReasoningDelta | RawReasoningDelta
StreamEvent = Delta | TextDone | SectionBreak | ReasoningDone | CallDone | Usage | ResponseEnd
