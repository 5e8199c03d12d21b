"""A conversation in the registry's memory. It is in one of these conditions, and an arrow says what ends it:

finding     it may be on disk: its row is looked up, or the name that it is to have; messages wait for that
            → parked: it was found · gone: it is unknown
parked      nobody owns it, and something is known of it that is not on disk, or is not at rest; a message wakes it
            → live: a message · waiting: a message, and no room · removing: a removal · gone: nothing is left to know
live        a session actor owns it; messages are forwarded
            → parking: it is asked to leave · recovering: it fails · parked: it leaves
parking     the session was asked to leave; messages wait for its answer
            → live: it stays · parked: it leaves · removing: it leaves for good · recovering: it fails
recovering  the session failed; messages wait until its processes are gone
            → live: a successor starts · broken: it failed too often · parked: the disk could not be read
removing    nobody owns it, and the disk was asked to forget it; messages wait for the result
            → gone: the disk has · parked: the disk can't
waiting     it is to be live, but another has to leave first; messages wait for that
            → live: another left · parked: none can leave, so the messages are refused
broken      it failed even while recovering; refused until the daemon is restarted
            → removing: a removal

A conversation that is parked and at rest has no entry, only its rows in the journal.
"""

from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from actors.messages.conversation import SessionInput
from actors.messages.routing import EraseRows, SessionFailed
from actors.vocabulary.events import ApprovalRequested
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import AT_REST, Head

UNDER_WAY = frozenset({"starting", "running", "interrupting"})  # at a start, a killed daemon has left these


class EntryStatus(StrEnum):
    FINDING = "finding"
    PARKED = "parked"
    LIVE = "live"
    PARKING = "parking"
    RECOVERING = "recovering"
    REMOVING = "removing"
    WAITING = "waiting"
    BROKEN = "broken"


UNOWNED = frozenset({EntryStatus.FINDING, EntryStatus.PARKED, EntryStatus.REMOVING, EntryStatus.WAITING})
CHANGING = frozenset({EntryStatus.FINDING, EntryStatus.PARKING, EntryStatus.RECOVERING, EntryStatus.WAITING})
OWNED = frozenset({EntryStatus.LIVE, EntryStatus.PARKING})  # by a session that reports each commit


class Entry(Struct):
    """The facts about one conversation. `failures`: when it failed lately, `given_up`: so often that its last owner
    gave it up; `pending`: the open questions.

    `removal` is the caller for whom it is removed, or looked up for that; `removers` have asked for it meanwhile.
    """

    conversation: ConversationId
    status: EntryStatus = EntryStatus.PARKED
    head: Head | None = None
    generation: int = 0
    stash: list[SessionInput] = field(default_factory=list)
    failures: list[float] = field(default_factory=list)
    failed: SessionFailed | None = None
    given_up: bool = False
    pending: tuple[ApprovalRequested, ...] = ()
    removal: Caller | None = None
    removers: list[Caller] = field(default_factory=list)

    @property
    def is_asleep(self) -> bool:
        """True if nobody owns it and nothing of it is open, so that it may be deleted."""
        ended = self.head is not None and self.head.state in AT_REST
        return self.status is EntryStatus.BROKEN or (self.status is EntryStatus.PARKED and ended)

    @property
    def is_at_rest(self) -> bool:
        """True if nothing waits for it, and nothing is known of it that is not on disk."""
        ended = self.head is None or self.head.state in AT_REST
        kept = self.stash or self.removers or self.pending or self.failures
        return self.status is EntryStatus.PARKED and ended and not kept

    @property
    def may_leave(self) -> bool:
        """True if its owner is probably idle, so that it can be asked to make room."""
        return self.status is EntryStatus.LIVE and self.head is not None and self.head.state in AT_REST

    def await_leave(self, caller: Caller) -> None:
        """Wait for the owner, if there is one, which was told to leave for good."""
        if self.status is EntryStatus.LIVE:
            self.status, self.removal = EntryStatus.PARKING, caller

    def begin_removal(self, caller: Caller | None) -> EraseRows:
        self.status, self.removal = EntryStatus.REMOVING, caller
        return EraseRows(self.conversation)

    def empty_stash(self) -> tuple[SessionInput, ...]:
        """Empty the stash; returns the messages that waited for the next owner."""
        waiting, self.stash = tuple(self.stash), []
        return waiting

    def empty_removers(self) -> list[Caller]:
        removers, self.removers = self.removers, []
        return removers

    def visible_head(self, row: Head | None = None) -> Head | None:
        """The row with the state that a reader of lists should see. `row` is the one on disk.

        It may be ahead of its owner, which learns of commits later: a reader that comes now gets less than it says.
        """
        ahead = row is not None and (self.head is None or row.last_seq > self.head.last_seq)
        head = row if ahead and (self.head is None or self.status not in OWNED) else self.head
        if head is not None and self.status in UNOWNED and head.state == "idle":
            return replace(head, state="parked")
        return replace(head, state="failed") if head is not None and self.status is EntryStatus.BROKEN else head
