"""The live owners of conversations: their start, their leaving, and who has to wait for another to leave.

Part of the registry's core; pure. It counts nobody's failures (failures.py), and who is asked to leave next is the
room's to say (room.py).
"""

from collections import deque
from collections.abc import Iterable

from actors.messages.conversation import Park, Revived, SessionInput, caller_of
from actors.messages.routing import Forward, ParkOffered, SessionLeft, SessionStayed, StartSession
from actors.routing.decisions import Decisions, HandOver, refuse_all, remove_again
from actors.routing.entry import Entry, EntryStatus
from actors.routing.index import ConversationIndex
from actors.routing.names import naming_by
from actors.routing.room import Room
from actors.vocabulary.errors import Overloaded
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import AT_REST, Head


class LiveOwners:
    def __init__(self, index: ConversationIndex, room: Room) -> None:
        self._index = index
        self._room = room
        self._generation = 0  # of the owner that was started last
        self._unsettled: deque[ConversationId] = deque()  # of the last daemon, for which there was no room yet
        self.quiescing = False

    def start(
        self, entry: Entry, first: tuple[SessionInput, ...] = (), revived: Revived | None = None
    ) -> StartSession:
        """Start an owner. `revived` says how the last one ended; None: it left, or it went with the last daemon."""
        unborn = entry.head is None and entry.generation == 0
        entry.status = EntryStatus.LIVE
        self._room.use(entry.conversation)
        entry.generation = self._generation = max(self._generation, entry.generation) + 1
        return StartSession(entry.conversation, entry.generation, revived or Revived(), first, unborn)

    def wake(self, entry: Entry, messages: tuple[SessionInput, ...]) -> Decisions:
        """Give a parked conversation an owner for these messages, or let them wait until there is room."""
        if self.quiescing:
            self._index.let_rest(entry.conversation)
            stopping = Overloaded("the daemon is stopping; try again in a moment")
            yield from refuse_all(map(caller_of, messages), stopping)
        elif self._room.is_full:
            entry.stash.extend(messages)
            yield from self.wait_for_room(entry)
        elif any(naming_by(message, entry) for message in messages):
            yield self.start(entry)
            for message in messages:
                yield HandOver(entry.conversation, message)
        else:
            yield self.start(entry, messages)

    def take_answer(self, entry: Entry, message: ParkOffered | SessionStayed | SessionLeft) -> Decisions:
        """Go on after a word of the present owner about its leaving."""
        match message, entry.status:
            case ParkOffered(), EntryStatus.LIVE:
                entry.status = EntryStatus.PARKING
                yield Forward(entry.conversation, Park())
            case SessionStayed(), EntryStatus.PARKING:
                entry.status, entry.removal = EntryStatus.LIVE, None
                for held in entry.empty_stash():
                    yield Forward(entry.conversation, held)
                yield from remove_again(entry)
                yield from self.give_no_room(entry.conversation)
            case SessionLeft(), EntryStatus.PARKING if entry.removal is not None:
                self._room.leave(entry.conversation)
                yield entry.begin_removal(entry.removal)
                yield from self.let_in()
            case SessionLeft(), EntryStatus.PARKING | EntryStatus.LIVE:
                entry.status = EntryStatus.PARKED
                self._room.leave(entry.conversation)
                if entry.stash:
                    yield self.start(entry, entry.empty_stash())
                yield from self.let_in()
                yield from remove_again(entry)
                self._index.let_rest(entry.conversation)
            case _:
                pass  # it was asked to leave, or has left, by another way

    # --- room -----------------------------------------------------------------------------------------------------

    def wait_for_room(self, entry: Entry) -> Decisions:
        entry.status = EntryStatus.WAITING
        self._room.waiting.append(entry.conversation)
        return self._make_room()

    def give_no_room(self, conversation: ConversationId) -> Decisions:
        """Ask another one, if this conversation was asked to leave and does not."""
        return self._make_room() if self._room.take_answer(conversation) else ()

    def _make_room(self) -> Decisions:
        """Ask one idle conversation at a time to leave, as long as others wait for room and one is left to ask."""
        if not self._room.waiting or self._room.asked_to_leave is not None:
            return
        asked = self._room.next_to_ask(lambda conversation: self._index[conversation].may_leave)
        if asked is None:
            yield from self._refuse_the_waiting()
        else:
            self._index[asked].status = EntryStatus.PARKING
            yield Forward(asked, Park())

    def _refuse_the_waiting(self) -> Decisions:
        most = f"{self._room.most} conversations are live and none is idle (greenroom.limits.live_sessions)"
        full = Overloaded(f"{most}; try again when a turn has ended")
        while self._room.waiting:
            entry = self._index[self._room.waiting.popleft()]
            entry.status = EntryStatus.PARKED
            yield from refuse_all(map(caller_of, entry.empty_stash()), full)
            # of one that is not asleep, its owner would have to decide, for whom there is no room either
            yield from remove_again(entry) if entry.is_asleep else refuse_all(entry.empty_removers(), full)
            self._index.let_rest(entry.conversation)

    def let_in(self) -> Decisions:
        """Use the room of a conversation that left: for those that wait, then for those of the last daemon."""
        while self._room.waiting and not self._room.is_full:
            entry = self._index[self._room.waiting.popleft()]
            yield self.start(entry, entry.empty_stash())
            yield from remove_again(entry)
        yield from self._settle_more()
        yield from self._make_room()

    # --- those of the last daemon ---------------------------------------------------------------------------------

    def settle(self, heads: Iterable[Head]) -> Decisions:
        """Settle what is not at rest: first running turns of the last daemon, then those that wait for an answer."""
        unsettled = [head for head in heads if head.state not in AT_REST]
        unsettled.sort(key=lambda head: head.state == "waiting")
        self._unsettled.extend(head.conversation for head in unsettled)
        return self._settle_more()

    def _settle_more(self) -> Decisions:
        """Load as many conversations as there is room for; the rest when another leaves."""
        while self._unsettled and not self._room.is_full:
            entry = self._index.get(self._unsettled.popleft())
            if entry is not None and entry.status is EntryStatus.PARKED:
                yield self.start(entry)
