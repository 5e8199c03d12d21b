"""What a model reads: one request, free of any wire. Plain data, made by whoever knows the conversation."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from actors.ids import CallId
from actors.settings import ReasoningEffort, ReasoningSummary


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture by https: or data: address."""

    url: str


@dataclass(frozen=True, slots=True)
class LocalImage:
    """A picture in a file, which is read when a request is made."""

    path: Path


Part = Text | Image | LocalImage
Role = Literal["user", "assistant", "developer"]  # on the chat wire the last is `system`


@dataclass(frozen=True, slots=True)
class Said:
    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class Called:
    """`arguments` are the model's own characters, which need not be JSON."""

    call_id: CallId
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Returned:
    call_id: CallId
    output: str


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A reasoning item that its model wants back. `id` is the model's."""

    id: str
    summary: tuple[str, ...] = ()
    encrypted_content: str | None = None


HistoryItem = Said | Called | Returned | Reasoned


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """`parameters` is a JSON Schema; nobody changes it after it was given."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Effort NONE also stands for a model that doesn't reason. By `session_id` the provider finds its cache."""

    model: str
    instructions: str
    items: tuple[HistoryItem, ...]
    tools: tuple[ToolSpec, ...] = ()
    effort: ReasoningEffort = ReasoningEffort.NONE
    summary: ReasoningSummary = ReasoningSummary.AUTO
    session_id: str = ""
    store: bool = True


def unread(picture: LocalImage) -> str:
    """The words for a picture that nobody has read: the wires are total."""
    return f"[the picture {picture.path}]"


def said(role: Role, text: str) -> Said:
    return Said(role, (Text(text),))
