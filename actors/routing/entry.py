"""One conversation as the registry knows it. It is in one of these conditions:

parked      only rows in the journal; a message wakes it
live        a session actor owns it; messages are forwarded
parking     the session was asked to leave; messages wait for its answer
recovering  the session failed; messages wait until its processes are gone
removing    nobody owns it, and the disk was asked to forget it; messages wait for what becomes of that
waiting     it is to be live, and so many are that another has to leave first; messages wait for that
broken      it failed even while recovering; refused until the daemon is restarted
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from actors.conversation.messages import SessionInput, ToConversation
from actors.routing.messages import SessionFailed
from actors.vocabulary.events import ApprovalRequest
from actors.vocabulary.ids import Caller
from actors.vocabulary.records import Head

ENDED = frozenset({"idle", "archived", "failed"})  # states that a restart of the daemon leaves as they are
UNDER_WAY = frozenset({"starting", "running", "interrupting"})  # and those that seem to run when it was killed


class EntryStatus(StrEnum):
    PARKED = "parked"
    LIVE = "live"
    PARKING = "parking"
    RECOVERING = "recovering"
    REMOVING = "removing"
    WAITING = "waiting"
    BROKEN = "broken"


class Entry(Struct):
    """One conversation. A parked conversation costs its head and nothing else.

    `removal` is the caller it is being removed for, `removers` ask for that while it is between two owners.
    """

    status: EntryStatus = EntryStatus.PARKED
    head: Head | None = None
    generation: int = 0
    stash: list[SessionInput] = field(default_factory=list)
    failures: list[float] = field(default_factory=list)
    failed: SessionFailed | None = None
    pending: tuple[ApprovalRequest, ...] = ()
    removal: Caller | None = None
    removers: list[Caller] = field(default_factory=list)

    @property
    def is_asleep(self) -> bool:
        """True if nobody owns it and nothing of it is open, so that it may be deleted."""
        ended = self.head is not None and self.head.state in ENDED
        return self.status is EntryStatus.BROKEN or (self.status is EntryStatus.PARKED and ended)

    @property
    def never_was(self) -> bool:
        """True if nothing of it is on disk, and nobody is about to put it there."""
        return self.head is None and self.status is EntryStatus.PARKED

    def emptied(self) -> Iterable[SessionInput]:
        """Empty the stash; returns the messages that waited for the next owner."""
        waiting, self.stash = self.stash, []
        return waiting

    def shown(self) -> Head | None:
        """The row with the state that a reader of lists should see."""
        if self.head is None:
            return None
        if self.status in {EntryStatus.PARKED, EntryStatus.WAITING} and self.head.state == "idle":
            return replace(self.head, state="parked")
        return replace(self.head, state="failed") if self.status is EntryStatus.BROKEN else self.head


def caller_of(message: object) -> Caller | None:
    """The caller that waits for the answer to this message. A cancel has none of its own."""
    return message.caller if isinstance(message, ToConversation) else None
