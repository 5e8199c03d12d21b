"""The input of a model: one request, free of any wire. Plain data, made by code that knows the conversation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from actors.vocabulary.ids import CallId
from actors.vocabulary.settings import ReasoningEffort, ReasoningSummary


class TextPart(Struct, frozen=True):
    text: str


class Image(Struct, frozen=True):
    """A picture by https: or data: address."""

    url: str


class LocalImage(Struct, frozen=True):
    """A picture in a file, which is read when a request is made."""

    path: Path


Part = TextPart | Image | LocalImage
Role = Literal["user", "assistant", "developer"]  # the chat wire calls the last `system`


class MessageItem(Struct, frozen=True):
    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


class CallItem(Struct, frozen=True):
    """A call. `arguments` is the model's own text, which need not be JSON; `signature` is for Gemini models."""

    call_id: CallId
    name: str
    arguments: str
    signature: str = ""


class OutputItem(Struct, frozen=True):
    call_id: CallId
    output: str
    failed: bool = False


class ReasoningItem(Struct, frozen=True):
    """A reasoning item that its model wants back, on the wire it came from. `id` is the model's."""

    id: str
    summary: tuple[str, ...] = ()
    encrypted_content: str | None = None
    signature: str = ""
    wire: Literal["responses", "messages"] = "responses"
    model: str = ""


class SearchItem(Struct, frozen=True):
    """A search of the web by the provider of `model`. `kept`: a JSON list of its items, for the same wire only."""

    wire: Literal["responses", "messages"]
    model: str
    kept: str


HistoryItem = MessageItem | CallItem | OutputItem | ReasoningItem | SearchItem


class HistoryPiece(NamedTuple):
    """Consecutive items in the bytes of a wire, see pieces.py. `begins` and `ends`: the wire's names of its ends.

    `weight` is whatever the form counts, by default items; joined pieces have the sum.
    """

    begins: str
    ends: str
    data: bytes
    weight: int = 1


class ToolSpec(Struct, frozen=True, eq=False):
    """A tool for the model. `parameters` is a JSON Schema, which must not be changed afterwards.

    Wires keep the bytes of a description that they have written, so it is made once and not anew for each request.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


class ModelRequest(Struct, frozen=True):
    """A request. Effort NONE also means no reasoning; the provider's cache goes by `session_id`.

    Pieces among the items are those of the wire that the request is sent on.
    """

    model: str
    instructions: str
    items: tuple[HistoryItem | HistoryPiece, ...]
    tools: tuple[ToolSpec, ...] = ()
    effort: ReasoningEffort = ReasoningEffort.NONE
    summary: ReasoningSummary = ReasoningSummary.AUTO
    session_id: str = ""
    store: bool = True


def unread_picture_text(picture: LocalImage) -> str:
    """Return the words for a picture that was not read, so that a wire can encode every part."""
    return f"[the picture {picture.path}]"


def text_message(role: Role, text: str) -> MessageItem:
    return MessageItem(role, (TextPart(text),))
