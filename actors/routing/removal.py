"""The deletion of a conversation: its owner leaves, then the disk forgets it. Part of the registry's core; pure."""

from actors.messages.conversation import Retire, ToConversation, caller_of
from actors.messages.effects import ReplyTo
from actors.messages.journal import FindRow
from actors.messages.routing import Forward
from actors.routing.decisions import Decisions, HandOver, refuse_all
from actors.routing.entry import Entry, EntryStatus
from actors.routing.index import ConversationIndex
from actors.routing.owners import LiveOwners
from actors.routing.room import Room
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import GreenroomError, UnknownConversation
from actors.vocabulary.ids import Caller, ConversationId


class Removal:
    def __init__(self, index: ConversationIndex, room: Room, owners: LiveOwners) -> None:
        self._index = index
        self._room = room
        self._owners = owners

    def start(self, conversation: ConversationId, caller: Caller) -> Decisions:
        entry = self._index.get(conversation)
        retire = ToConversation(conversation, Retire(), caller)
        if entry is None:
            self._index.add(Entry(conversation, EntryStatus.FINDING, removal=caller))
            yield FindRow(conversation)
        elif entry.is_asleep:
            yield entry.begin_removal(caller)
        elif entry.status is EntryStatus.LIVE:
            entry.await_leave(caller)
            yield Forward(conversation, retire)
        elif entry.status is not EntryStatus.PARKED:
            entry.removers.append(caller)
        elif self._room.is_full and not self._owners.quiescing:
            entry.removers.append(caller)
            yield from self._owners.wait_for_room(entry)
        else:  # something is open there: its owner knows what
            yield from self._owners.wake(entry, (retire,))
            entry.await_leave(caller)

    def finish(self, entry: Entry) -> Decisions:
        """Forget a conversation, as the disk has: a client or a daemon that dies before leaves no half of it."""
        self._index.forget(entry.conversation)
        gone = UnknownConversation(f"conversation {entry.conversation} was deleted")
        if entry.removal is not None:
            yield ReplyTo(entry.removal, Done())
        yield from refuse_all((*map(caller_of, entry.stash), *entry.removers), gone)

    def give_up(self, entry: Entry, error: GreenroomError) -> Decisions:
        """Serve the messages that waited, because the disk could not forget the conversation."""
        entry.status = EntryStatus.PARKED
        askers, entry.removal = (entry.removal, *entry.empty_removers()), None
        waiting = entry.empty_stash()
        self._index.let_rest(entry.conversation)
        yield from refuse_all(askers, error)
        for message in waiting:
            yield HandOver(entry.conversation, message)
