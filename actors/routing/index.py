"""Every conversation that there is, by its id, a prefix of it, or its name. Part of the registry's core; pure."""

from collections.abc import ItemsView, Iterable
from typing import assert_never

from actors.conversation.effects import ReplyTo
from actors.routing.entry import Entry
from actors.routing.messages import ListApprovals, ListConversations, Resolve, Trim
from actors.vocabulary.answers import Listing, PendingApprovals, Resolved
from actors.vocabulary.errors import AmbiguousConversation, GreenroomError, UnknownConversation
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import Head

PREFIX_LENGTH = 2  # the shortest prefix that names a conversation


class Index:
    def __init__(self) -> None:
        self._entries: dict[ConversationId, Entry] = {}
        self._names: dict[str, ConversationId] = {}
        self._renames: dict[Caller, str] = {}  # names that are taken while their Rename is on its way

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

    def add(self, conversation: ConversationId, entry: Entry, name: str | None) -> None:
        self._entries[conversation] = entry
        if name:
            self._names.setdefault(name, conversation)

    def forget(self, conversation: ConversationId) -> None:
        del self._entries[conversation]
        for name in [name for name, one in self._names.items() if one == conversation]:
            del self._names[name]

    # --- names ----------------------------------------------------------------------------------------------------

    def is_taken(self, name: str | None) -> bool:
        return bool(name) and name in self._names

    def take(self, name: str | None, conversation: ConversationId, caller: Caller | None) -> bool:
        """Reserve a name at once, because another conversation may ask for it before the rename is on disk."""
        if not name:
            return True
        if name not in self._names and caller is not None:
            self._names[name] = conversation
            self._renames[caller] = name
        return self._names.get(name, conversation) == conversation

    def settle(self, caller: Caller) -> None:
        """Free the name that this request reserved and did not get, because its one answer is out."""
        name = self._renames.pop(caller, None)
        entry = self.get(self._names.get(name)) if name else None
        if name and (entry is None or entry.head is None or entry.head.name != name):
            self._names.pop(name, None)

    def rename(self, head: Head, old: str | None) -> None:
        """Note that the conversation is on disk under another name than before."""
        if old == head.name:
            return
        if old and self._names.get(old) == head.conversation:
            del self._names[old]
        if head.name:
            self._names[head.name] = head.conversation

    # --- questions ------------------------------------------------------------------------------------------------

    def look_up(self, query: ListConversations | ListApprovals | Resolve, caller: Caller) -> ReplyTo:
        match query:
            case ListConversations(archived):
                heads = (head for entry in self._entries.values() if (head := entry.shown()))
                wanted = (head for head in heads if archived or not head.archived)
                return ReplyTo(caller, Listing(tuple(sorted(wanted, key=lambda head: -head.updated))))
            case ListApprovals(conversation):
                requests = (
                    (one, request)
                    for one, entry in self._entries.items()
                    if conversation in {None, one}
                    for request in entry.pending
                )
                return ReplyTo(caller, PendingApprovals(tuple(requests)))
            case Resolve(reference):
                return ReplyTo(caller, self._resolve(reference))
            case _:
                assert_never(query)

    def _resolve(self, reference: str) -> Resolved | GreenroomError:
        exact = ConversationId(reference)
        if exact in self._entries:
            return Resolved(exact)
        if reference in self._names:
            return Resolved(self._names[reference])
        if len(reference) < PREFIX_LENGTH:
            return UnknownConversation(f"{reference!r} is too short for a prefix, and no conversation has this name")
        candidates = [one for one in self._entries if one.startswith(reference)]
        if len(candidates) == 1:
            return Resolved(candidates[0])
        if candidates:
            return AmbiguousConversation(
                f"{reference!r} matches {len(candidates)} conversations", candidates=candidates
            )
        return UnknownConversation(f"no conversation {reference!r}")

    def surplus(self, wanted: Trim) -> Iterable[ConversationId]:
        """The sleeping conversations that are too many or too old, longest untouched first."""
        asleep = [(one, entry.head.updated) for one, entry in self._entries.items() if entry.is_asleep and entry.head]
        asleep.sort(key=lambda one: one[1])
        too_many = 0 if wanted.most is None else max(0, len(self._entries) - wanted.most)
        oldest = wanted.untouched_since
        return [one for at, (one, updated) in enumerate(asleep) if at < too_many or (oldest and updated < oldest)]
