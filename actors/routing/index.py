"""The conversations in memory: live, between two owners, or with something open. Part of the registry's core; pure.

Sleeping conversations are on disk alone, so the index does not grow with them. A list comes from both.
"""

from collections.abc import ItemsView, Iterable

from msgspec.structs import replace

from actors.messages.effects import ReplyTo
from actors.messages.journal import FindReference, ReadList
from actors.messages.routing import ListConversations
from actors.routing.entry import UNOWNED, Entry, EntryStatus
from actors.vocabulary.answers import ConversationList, PendingApprovals, ResolvedReference
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import Head, HeadPage, ListPlace, ListQuery

IN_MEMORY = frozenset({"starting", "running", "interrupting", "waiting", "idle"})  # states without sleepers
LIST_LIMIT = 1000  # rows of a page, whatever is asked for


class ConversationIndex:
    def __init__(self) -> None:
        self._entries: dict[ConversationId, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, conversation: ConversationId) -> bool:
        return conversation in self._entries

    def __getitem__(self, conversation: ConversationId) -> Entry:
        return self._entries[conversation]

    def get(self, conversation: ConversationId | None) -> Entry | None:
        return self._entries.get(conversation) if conversation else None

    def items(self) -> ItemsView[ConversationId, Entry]:
        return self._entries.items()

    def is_live(self, conversation: ConversationId) -> bool:
        entry = self._entries.get(conversation)
        return entry is not None and entry.status not in UNOWNED

    def add(self, entry: Entry) -> Entry:
        self._entries[entry.conversation] = entry
        return entry

    def forget(self, conversation: ConversationId) -> None:
        del self._entries[conversation]

    def let_rest(self, conversation: ConversationId) -> None:
        """Forget the conversation if all that there is to know about it is on disk."""
        entry = self._entries.get(conversation)
        if entry is not None and entry.is_at_rest:
            del self._entries[conversation]

    # --- questions ------------------------------------------------------------------------------------------------

    def awake(self) -> ConversationList:
        return ConversationList(tuple(head for head in self._visible_heads() if head.state != "parked"))

    def approvals(self, conversation: ConversationId | None) -> PendingApprovals:
        requests = (
            (known, request)
            for known, entry in self._entries.items()
            if conversation in {None, known}
            for request in entry.pending
        )
        return PendingApprovals(tuple(requests))

    def _awake_page(self, query: ListQuery) -> HeadPage:
        """A page of conversations in one of these states. `key` of a place: how many up to it have its time."""
        heads = [head for head in self._visible_heads() if _fits(head, query)]
        heads.sort(key=lambda head: (-_time(head, query), head.conversation))
        after = query.after
        first = 0 if after is None else sum(_time(head, query) > after.at for head in heads) + after.key
        shown, left = heads[first : first + query.limit], heads[first + query.limit :]
        if not left:
            return HeadPage(tuple(shown), None, len(heads))
        at = _time(shown[-1], query)
        before = sum(_time(head, query) == at for head in heads[: first + query.limit])
        return HeadPage(tuple(shown), ListPlace(at, before), len(heads))

    def resolve(self, reference: str, caller: Caller) -> ReplyTo | FindReference:
        if self.is_live(ConversationId(reference)):
            return ReplyTo(caller, ResolvedReference(ConversationId(reference)))
        return FindReference(reference, caller)

    def page(self, asked: ListConversations, caller: Caller) -> ReplyTo | ReadList:
        query = replace(asked.query, limit=min(asked.query.limit, LIST_LIMIT))
        if asked.only is not None:
            return ReadList(query, caller, only=asked.only[:LIST_LIMIT])
        if query.state in IN_MEMORY:
            return ReplyTo(caller, self._awake_page(query))
        return self._lookup_of(query, caller)

    def _lookup_of(self, query: ListQuery, caller: Caller) -> ReadList:
        """The lookup of a page. On disk a sleeping conversation is idle, and a broken one in any state."""
        match query.state:
            case "parked":
                return ReadList(replace(query, state="idle"), caller, self._ids_of(self.awake().heads))
            case "failed":
                return ReadList(query, caller, self._ids_of(self._broken_heads()))
            case _:
                return ReadList(query, caller)

    def complete_page(self, lookup: ReadList, page: HeadPage) -> HeadPage:
        """The page from the disk, brought up to date from memory."""
        query, place = lookup.query, page.next
        entries = (self._entries.get(row.conversation) or Entry(row.conversation) for row in page.heads)
        heads = [entry.visible_head(row) or row for entry, row in zip(entries, page.heads, strict=True)]
        total = page.total - sum(
            entry.head is not None and _fits(entry.head, query)
            for entry in map(self._entries.get, lookup.leaving_out)
            if entry is not None
        )
        if query.state == "failed" and lookup.only is None:
            broken = [head for head in self._broken_heads() if _fits(head, query)]
            here = [
                head
                for head in broken
                if (query.after is None or _time(head, query) < query.after.at)
                and (place is None or _time(head, query) >= place.at)
            ]
            heads = sorted([*here, *heads], key=lambda head: -_time(head, query)) if here else heads
            total += len(broken)
        return HeadPage(tuple(heads), place, total)

    def _visible_heads(self) -> Iterable[Head]:
        return (head for entry in self._entries.values() if (head := entry.visible_head()))

    def _broken_heads(self) -> list[Head]:
        broken = (entry for entry in self._entries.values() if entry.status is EntryStatus.BROKEN)
        return [head for entry in broken if (head := entry.visible_head())]

    @staticmethod
    def _ids_of(heads: Iterable[Head]) -> frozenset[ConversationId]:
        return frozenset(head.conversation for head in heads)


def _fits(head: Head, query: ListQuery) -> bool:
    return (
        query.archived >= head.archived
        and query.state in {None, head.state}
        and query.cwd in {None, head.cwd}
        and query.name in {None, head.name}
    )


def _time(head: Head, query: ListQuery) -> float:
    return head.updated if query.order == "updated" else head.created
