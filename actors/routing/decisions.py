"""The decisions of the parts of the registry's core: effects for its shell, and orders for the front (core.py). Pure.

A part yields its decisions, and the front carries out each order before the part goes on. So a part reads from top to
bottom, and has to know only the parts that it stands on. A generator that nobody carries out has done nothing.
"""

from collections.abc import Iterable

from msgspec import Struct

from actors.messages.conversation import SessionInput
from actors.messages.journal import Lookup
from actors.messages.routing import Remove, RoutingEffect, ToRegistry
from actors.routing.entry import Entry
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller, ConversationId


class HandOver(Struct, frozen=True):
    """Hand a message that has waited to the owner of the conversation, as if it came now."""

    conversation: ConversationId
    message: SessionInput


class Refuse(Struct, frozen=True):
    """Give a request this error as its one answer. No caller: nobody waits for an answer."""

    caller: Caller | None
    error: GreenroomError


Order = HandOver | ToRegistry | Refuse | Lookup
Decisions = Iterable[RoutingEffect | Order]


def refuse_all(callers: Iterable[Caller | None], error: GreenroomError) -> Decisions:
    return [Refuse(caller, error) for caller in callers]


def remove_again(entry: Entry) -> Decisions:
    """Handle the requests to remove the conversation that came while it was between two owners."""
    return [ToRegistry(Remove(entry.conversation), caller) for caller in entry.empty_removers()]
