"""The directory: finds conversations on disk by id, name and prefix, and reads pages of lists, for the registry.

Its thread may wait for the disk, so that no other has to. It never writes, and it answers every lookup: with a
result, or with an error.
"""

from typing import assert_never

import structlog
from msgspec.structs import replace

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
    LookupResult,
    NameFound,
    NewFound,
    ReadList,
    ReferenceFound,
    RowFound,
    RunLookup,
    SurplusFound,
)
from actors.messages.ports import Journal
from actors.runtime.base import Actor
from actors.vocabulary.answers import Candidates, ResolvedReference
from actors.vocabulary.errors import AmbiguousConversation, GreenroomError, StorageFailed, UnknownConversation
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import HeadPage, ListQuery

log = structlog.get_logger()

PREFIX_LENGTH = 2  # the shortest prefix that names a conversation
CANDIDATES = 100  # of a prefix that several have: more would not help a person


class Directory(Actor[RunLookup]):
    fatal = False
    name = "directory"

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def on_receive(self, message: RunLookup) -> object:
        try:
            message.reply_to.tell(LookupDone(message.number, self._answer(message.lookup)))
        except GreenroomError as gone:
            log.debug("directory.nobody_to_tell", reason=gone.code)
        return None

    def _answer(self, lookup: Lookup) -> LookupResult:
        try:
            return self._look_up(lookup)
        except GreenroomError as error:
            return LookupFailed(lookup, error)
        except Exception as error:
            log.exception("journal.lookup_failed", kind=type(lookup).__name__)
            return LookupFailed(lookup, StorageFailed(f"the journal failed: {type(error).__name__}"))

    def _look_up(self, lookup: Lookup) -> LookupResult:
        match lookup:
            case FindRow(conversation):
                return RowFound(conversation, self._journal.row(conversation))
            case FindName(name, caller):
                return NameFound(caller, self._journal.find_name(name))
            case FindNew(conversation, name):
                exists = self._journal.row(conversation) is not None
                return NewFound(lookup, exists, self._journal.find_name(name))
            case FindReference(reference, caller):
                return ReferenceFound(caller, self._resolve(reference))
            case FindBeginning(prefix, limit, caller):
                return ReferenceFound(caller, Candidates(tuple(self._journal.starting_with(prefix, limit))))
            case ReadList():
                return ListRead(lookup, self._page(lookup))
            case FindSurplus():
                return SurplusFound(self._surplus(lookup))
            case _:
                assert_never(lookup)

    def _resolve(self, reference: str) -> ResolvedReference | GreenroomError:
        if self._journal.row(ConversationId(reference)) is not None:
            return ResolvedReference(ConversationId(reference))
        if (named := self._journal.find_name(reference)) is not None:
            return ResolvedReference(named)
        if len(reference) < PREFIX_LENGTH:
            return UnknownConversation(f"{reference!r} is too short for a prefix, and no conversation has this name")
        candidates = self._journal.starting_with(reference, CANDIDATES + 1)
        if len(candidates) == 1:
            return ResolvedReference(candidates[0])
        if candidates:
            many = f"more than {CANDIDATES}" if len(candidates) > CANDIDATES else len(candidates)
            return AmbiguousConversation(
                f"{reference!r} matches {many} conversations", candidates=candidates[:CANDIDATES]
            )
        return UnknownConversation(f"no conversation {reference!r}")

    def _page(self, lookup: ReadList) -> HeadPage:
        """A full page, if there are enough rows: those left out are live, so they are no more than may be live."""
        query = lookup.query
        if lookup.only is not None:
            rows = [row for conversation in lookup.only if (row := self._journal.row(conversation)) is not None]
            return HeadPage(tuple(rows), None, len(rows))
        page = self._journal.list_page(query)
        heads = [head for head in page.heads if head.conversation not in lookup.leaving_out]
        while page.next is not None and len(heads) < query.limit:
            page = self._journal.list_page(replace(query, after=page.next, limit=query.limit - len(heads)))
            heads += [head for head in page.heads if head.conversation not in lookup.leaving_out]
        return HeadPage(tuple(heads), page.next, page.total)

    def _surplus(self, lookup: FindSurplus) -> tuple[ConversationId, ...]:
        """The conversations that may be deleted. All others count as well, so that more of these go."""
        too_many: tuple[ConversationId, ...] = ()
        too_old: tuple[ConversationId, ...] = ()
        if lookup.most is not None:
            count = self._journal.list_page(ListQuery(archived=True, limit=1)).total
            too_many = self._at_rest(lookup, max(0, lookup.most - len(lookup.leaving_out)), None)
            too_many = too_many[: max(0, count - lookup.most)]
        if lookup.untouched_since is not None:
            too_old = self._at_rest(lookup, None, lookup.untouched_since)
        return max(too_many, too_old, key=len)[: lookup.limit]  # both begin with the longest untouched

    def _at_rest(
        self, lookup: FindSurplus, most: int | None, untouched_since: float | None
    ) -> tuple[ConversationId, ...]:
        found = self._journal.surplus(most, untouched_since, lookup.limit + len(lookup.leaving_out))
        return tuple(conversation for conversation in found if conversation not in lookup.leaving_out)
