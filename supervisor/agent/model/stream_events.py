"""What a model says while it answers, free of any wire. A leaf.

A delta belongs to the item that is open; the `…Done` that closes it says everything again. Reasoning and text come
before the calls of a response, `ResponseEnd` comes last, and what a broken stream left open is void.
"""

from dataclasses import dataclass

from actors.ids import CallId


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class TextDone:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the summary of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class SectionBreak:
    """The summary goes on in a new part."""


@dataclass(frozen=True, slots=True)
class RawReasoningDelta:
    """More of the reasoning as the model wrote it."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDone:
    """`id` is the model's, empty where the wire has none: then the model doesn't want the item back."""

    id: str
    summary: tuple[str, ...] = ()
    raw: str = ""
    encrypted_content: str | None = None


@dataclass(frozen=True, slots=True)
class CallDone:
    call_id: CallId
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of this response. None where the server didn't say."""

    input: int
    output: int
    total: int
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class ResponseEnd:
    response_id: str = ""


Delta = TextDelta | ReasoningDelta | RawReasoningDelta
StreamEvent = Delta | TextDone | SectionBreak | ReasoningDone | CallDone | Usage | ResponseEnd
