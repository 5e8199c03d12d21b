"""Events of a model's answer, free of any wire. A leaf.

A delta belongs to the item that is open; the `…Done` that closes it repeats the whole text. Reasoning and text come
before the calls of a response, `ResponseEnd` comes last, and items that a broken stream left open are void.
"""

from dataclasses import dataclass

from actors.vocabulary.ids import CallId


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
    """The end of a reasoning item. Without an `id`, as on the chat wire, the model doesn't want it back."""

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
    """Tokens of this response. None where the server gave no number."""

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
