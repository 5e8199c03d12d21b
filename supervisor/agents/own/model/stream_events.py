"""Events of a model's answer, free of any wire. A leaf.

A delta belongs to the item that is open; the `…Done` that closes it repeats the whole text. Several are open at once
where `block` tells them apart. Reasoning and text come before the calls of a response, `ResponseEnd` comes last, and
items that a broken stream left open are void.
"""

from typing import Literal

from msgspec import Struct

from actors.vocabulary.ids import CallId
from supervisor.agents.spending.usage import TokenUsage


class TextDelta(Struct, frozen=True):
    text: str
    block: int = 0


class TextDone(Struct, frozen=True):
    text: str
    block: int = 0


class ReasoningDelta(Struct, frozen=True):
    """More of the summary of the model's reasoning."""

    text: str
    block: int = 0


class SectionBreak(Struct, frozen=True):
    """The summary goes on in a new part."""

    block: int = 0


class RawReasoningDelta(Struct, frozen=True):
    """More of the reasoning as the model wrote it."""

    text: str
    block: int = 0


class ReasoningDone(Struct, frozen=True):
    """The end of a reasoning item. With neither `id` nor `wire`, as on the chat wire, the model has no use for it."""

    id: str
    summary: tuple[str, ...] = ()
    raw: str = ""
    encrypted_content: str | None = None
    signature: str = ""
    wire: Literal["responses", "messages"] | None = None
    block: int = 0


class SearchDone(Struct, frozen=True):
    """A search of the web that the provider has carried out, and the items that it wants back, as a JSON list."""

    id: str
    query: str
    wire: Literal["responses", "messages"]
    kept: str = ""


class CallDone(Struct, frozen=True):
    call_id: CallId
    name: str
    arguments: str
    signature: str = ""


class ResponseEnd(Struct, frozen=True):
    response_id: str = ""


Delta = TextDelta | ReasoningDelta | RawReasoningDelta
StreamEvent = Delta | TextDone | SectionBreak | ReasoningDone | SearchDone | CallDone | TokenUsage | ResponseEnd
