"""The base of events and of answers: objects made of the JSON that the daemon sends.

Members that this version does not know are left out, so that a later daemon can be read.
"""

import os
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform, get_type_hints

KINDS: dict[str, type["Event"]] = {}  # by the type that the daemon says


class Fresh:
    """The default of a member: made anew for each object."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


def fresh(*, default_factory: Callable[[], Any]) -> Any:
    return Fresh(default_factory)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(fresh,))
class FromJson:
    """Members are given by name, and can't be changed. Objects of a class are equal if their members are.

    No dataclass: eighty of those take 60 ms of a program's start.
    """

    members: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = (name for name, kind in vars(cls).get("__annotations__", {}).items() if not _is_of_the_class(kind))
        cls.members = tuple(dict.fromkeys((*cls.members, *own)))

    def __init__(self, **members: Any) -> None:
        if not members.keys() <= {*self.members}:
            raise TypeError(f"{type(self).__name__} has no {', '.join(members.keys() - {*self.members})}")
        for name in self.members:
            if name not in members:
                members[name] = self._default(name)
        self.__dict__.update(members)

    def _default(self, name: str) -> object:
        if not hasattr(type(self), name):
            raise TypeError(f"{type(self).__name__} needs {name}")
        default = getattr(type(self), name)
        return default.make() if isinstance(default, Fresh) else default

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Self:
        return cls(**{name: members[name] for name in cls.members if name in members})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} can't be changed")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _is_of_the_class(kind: object) -> bool:
    return str(kind).startswith(("ClassVar", "typing.ClassVar"))


def descriptions(kind: type) -> dict[str, str]:
    """The descriptions of the members of an answer, its parts or an event, in their order."""
    from greenroom import events

    hints = get_type_hints(kind, localns=vars(events), include_extras=True)  # text, which is quicker to load
    return {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}


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

        return summary(vars(self), os.environ.get("HOME", ""))


class Gap(Event):
    """Retention has removed the events from `first` to `last`."""

    type: ClassVar[str] = "gap"
    first: int
    last: int


class UnknownEvent(Event):
    """An event of a later version than this package."""

    body: dict[str, Any]


def event_of(envelope: Mapping[str, Any]) -> Event:
    import greenroom.events  # noqa: F401  # which fills KINDS; here, because verbs that show no event do without

    body = envelope["event"]
    kind = KINDS.get(body["type"], UnknownEvent)
    if kind is UnknownEvent:
        return UnknownEvent.from_json({**envelope, "body": body})
    chunk = {"chunk": b64decode(body["chunk"])} if "chunk" in body else {}
    return kind.from_json({**envelope, **body, **chunk})
