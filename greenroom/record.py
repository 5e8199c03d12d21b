"""The base of events and of answers: objects made of the JSON that the daemon sends.

Members that this version does not know are left out, so that a later daemon can be read.
"""

import os
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self, dataclass_transform

KINDS: dict[str, type["Event"]] = {}  # by the type that the daemon says


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class FromJson:
    """Each class below is a frozen dataclass whose fields are given by name."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Self:
        return cls(**{member.name: members[member.name] for member in fields(cls) if member.name in members})  # type: ignore[arg-type]  # each class below is a dataclass


class Event(FromJson):
    """Something that happened in a conversation. `greenroom.events` has a class for each kind."""

    type: ClassVar[str] = ""
    conversation: str  # Whose history this is.
    seq: int | None  # Its place, dense from 1; None for a delta, which the item's finished event says again.
    ts: float  # When it happened, in seconds since 1970.
    turn: str | None = None  # The turn it belongs to.

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.type:
            KINDS[cls.type] = cls


class QuestionEvent(Event):
    """An event that asks. `id` and `what` are those of `greenroom approvals --json`."""

    approval_id: str = ""

    @property
    def id(self) -> str:
        """The id under which the question is answered."""
        return self.approval_id

    @property
    def what(self) -> str:
        """The command as a shell needs it; or the patch, the tool or the server's words in short."""
        from transports.question_text import summary  # most programs never ask for it

        return summary(
            {member.name: getattr(self, member.name) for member in fields(self)}, os.environ.get("HOME", "")
        )


class Gap(Event):
    """Retention has removed the events from `first` to `last`."""

    type: ClassVar[str] = "gap"
    first: int
    last: int


class UnknownEvent(Event):
    """An event of a later version than this package."""

    body: dict[str, Any]


def event_of(envelope: Mapping[str, Any]) -> Event:
    body = envelope["event"]
    kind = KINDS.get(body["type"], UnknownEvent)
    if kind is UnknownEvent:
        return UnknownEvent.from_json({**envelope, "body": body})
    chunk = {"chunk": b64decode(body["chunk"])} if "chunk" in body else {}
    return kind.from_json({**envelope, **body, **chunk})
