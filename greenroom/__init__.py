"""Greenroom from Python: a client of the daemon that owns coding-agent conversations.

`Client` blocks, `AsyncClient` is for asyncio; both have the same methods. `greenroom.events` has the events of
conversations, `greenroom.errors` all errors. docs/python.md begins with ten lines that do something.

A name is loaded when it is first used, so that importing this package costs nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from greenroom import errors, events
    from greenroom.aio import AsyncClient, AsyncEvents
    from greenroom.answers import (
        AcceptedInput,
        ChangedSettings,
        ConversationRow,
        ConversationSummary,
        CreatedConversation,
        DaemonStatus,
        InterruptedTurn,
        SearchHit,
    )
    from greenroom.client import Client, Events
    from greenroom.errors import ConnectionLost, DaemonDown, GreenroomError, Refusal, TimedOut
    from greenroom.questions import AsyncQuestionWatch, OpenQuestion, Question, QuestionWatch
    from greenroom.record import Event, Gap, UnknownEvent
    from greenroom.turns import Turn

__all__ = [
    "AcceptedInput",
    "AsyncClient",
    "AsyncEvents",
    "AsyncQuestionWatch",
    "ChangedSettings",
    "Client",
    "ConnectionLost",
    "ConversationRow",
    "ConversationSummary",
    "CreatedConversation",
    "DaemonDown",
    "DaemonStatus",
    "Event",
    "Events",
    "Gap",
    "GreenroomError",
    "InterruptedTurn",
    "OpenQuestion",
    "Question",
    "QuestionWatch",
    "Refusal",
    "SearchHit",
    "TimedOut",
    "Turn",
    "UnknownEvent",
    "errors",
    "events",
]

_MODULES = ("errors", "record", "events", "answers", "methods", "questions", "aio", "client")


if not TYPE_CHECKING:  # a checker is to know the names above, and no other

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"greenroom.{name}")
        if name in __all__:
            for module in _MODULES:
                if hasattr(loaded := import_module(f"greenroom.{module}"), name):
                    return getattr(loaded, name)
        raise AttributeError(f"module 'greenroom' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return __all__
