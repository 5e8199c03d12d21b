"""Lookups on disk that are not answered yet, and the way of their results to the parts that wait for them.

Part of the registry's core; pure.
"""

from itertools import count
from typing import assert_never

from actors.messages.effects import ReplyTo
from actors.messages.journal import (
    FindBeginning,
    FindName,
    FindNew,
    FindReference,
    FindRow,
    FindSurplus,
    ListRead,
    Lookup,
    LookupDone,
    LookupFailed,
    NameFound,
    NewFound,
    ReadList,
    ReferenceFound,
    RowFound,
    SurplusFound,
)
from actors.messages.routing import AskDirectory
from actors.routing.decisions import Decisions
from actors.routing.finding import Finding
from actors.routing.index import ConversationIndex
from actors.routing.names import Names
from actors.routing.trimming import Trimming
from actors.vocabulary.errors import GreenroomError, Overloaded

LOOKUPS_LIMIT = 1024  # that wait for the disk; a client has far fewer in flight


class Lookups:
    def __init__(self, index: ConversationIndex, names: Names, finding: Finding, trimming: Trimming) -> None:
        self._index = index
        self._names = names
        self._finding = finding
        self._trimming = trimming
        self._open: set[int] = set()
        self._numbers = count(1)

    def __len__(self) -> int:
        return len(self._open)

    def start(self, lookup: Lookup) -> Decisions:
        if len(self._open) >= LOOKUPS_LIMIT:
            return self._fail(lookup, Overloaded("too much is being looked up on disk already; try again"))
        number = next(self._numbers)
        self._open.add(number)
        return [AskDirectory(number, lookup)]

    def take(self, message: LookupDone) -> Decisions:
        """Go on with the result of a lookup. An answer that comes too late means nothing any more."""
        if message.number not in self._open:
            return ()
        self._open.remove(message.number)
        match message.result:
            case RowFound(conversation, head):
                return self._finding.take_row(conversation, head)
            case NameFound(caller, owner):
                return self._names.take_owner(caller, owner)
            case NewFound():
                return self._finding.take_new(message.result)
            case ReferenceFound(caller, answer):
                return [ReplyTo(caller, answer)]
            case ListRead(asked, page):
                return [ReplyTo(asked.caller, self._index.complete_page(asked, page))]
            case SurplusFound(conversations):
                return self._trimming.take_batch(conversations)
            case LookupFailed(lookup, error):
                return self._fail(lookup, error)
            case _:
                assert_never(message.result)

    def _fail(self, lookup: Lookup, error: GreenroomError) -> Decisions:
        match lookup:
            case FindRow(conversation):
                return self._finding.refuse_waiting(conversation, error)
            case FindName(_, caller):
                return self._names.refuse(caller, error)
            case FindNew():
                return self._finding.refuse_creation(lookup, error)
            case FindReference(_, caller) | FindBeginning(_, _, caller) | ReadList(_, caller):
                return [ReplyTo(caller, error)]
            case FindSurplus():
                return self._trimming.end()
            case _:
                assert_never(lookup)
