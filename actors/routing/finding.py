"""Conversations of which nothing is known yet: found on disk, or created. Their entries are *finding* until then.

Part of the registry's core; pure.
"""

from actors.messages.conversation import ToConversation, caller_of
from actors.messages.journal import FindNew, FindRow, NewFound
from actors.messages.routing import Create, Remove, ToRegistry
from actors.routing.decisions import Decisions, Refuse, refuse_all, remove_again
from actors.routing.entry import Entry, EntryStatus
from actors.routing.index import ConversationIndex
from actors.routing.names import NameClaim, Names, name_taken
from actors.routing.owners import LiveOwners
from actors.vocabulary.errors import GreenroomError, UnknownConversation, WrongState
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import Head


class Finding:
    def __init__(self, index: ConversationIndex, names: Names, owners: LiveOwners) -> None:
        self._index = index
        self._names = names
        self._owners = owners

    def create(self, query: Create, caller: Caller) -> Decisions:
        """Create a conversation, once its name is known to be free; its id is fresh. Meanwhile messages wait."""
        conversation, name = query.conversation, query.begin.name or None
        refusal: GreenroomError | None = None
        if conversation in self._index:
            refusal = _already_exists(conversation)
        elif name is not None:
            refusal = self._names.claim(NameClaim(name, conversation, caller, None))
        if refusal is not None:
            return [Refuse(caller, refusal)]
        begin = ToConversation(conversation, query.begin, caller)
        entry = self._index.add(Entry(conversation, EntryStatus.FINDING, stash=[begin]))
        if name is None:
            return self._serve_waiting(entry)
        return [FindNew(conversation, name, caller)]

    def take_new(self, found: NewFound) -> Decisions:
        asked = found.asked
        if found.exists:
            return self.refuse_creation(asked, _already_exists(asked.conversation))
        if found.owner is not None:
            return self.refuse_creation(asked, name_taken(asked.name))
        return self._serve_waiting(self._index[asked.conversation])

    def refuse_creation(self, asked: FindNew, refusal: GreenroomError) -> Decisions:
        """Refuse to create a conversation. If messages for it came meanwhile, it is looked up: it may exist."""
        entry = self._index[asked.conversation]
        del entry.stash[0]  # its beginning
        yield Refuse(asked.caller, refusal)
        if entry.stash or entry.removers:
            yield FindRow(asked.conversation)
        else:
            self._index.forget(asked.conversation)

    def take_row(self, conversation: ConversationId, head: Head | None) -> Decisions:
        entry = self._index[conversation]
        head = head or entry.head  # it may have been imported since
        if head is None:
            return self.refuse_waiting(conversation, UnknownConversation(f"no conversation {conversation}"))
        entry.head, entry.generation = head, head.generation
        return self._serve_waiting(entry)

    def _serve_waiting(self, entry: Entry) -> Decisions:
        """Serve the messages that waited until the conversation was found. If there are none, it may rest."""
        entry.status, first, entry.removal = EntryStatus.PARKED, entry.removal, None
        if first is not None:
            yield ToRegistry(Remove(entry.conversation), first)
        if entry.status is EntryStatus.PARKED and entry.stash:
            yield from self._owners.wake(entry, entry.empty_stash())
        yield from remove_again(entry)
        self._index.let_rest(entry.conversation)

    def refuse_waiting(self, conversation: ConversationId, error: GreenroomError) -> Decisions:
        """Refuse all messages that waited for a conversation that was not found."""
        entry = self._index[conversation]
        self._index.forget(conversation)
        callers = (*map(caller_of, entry.stash), entry.removal, *entry.removers)
        return refuse_all(callers, error)


def _already_exists(conversation: ConversationId) -> WrongState:
    return WrongState(f"conversation {conversation} exists")
