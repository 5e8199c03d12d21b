"""Failures of owners, and their successors, who get messages and readers. Part of the registry's core; pure."""

from collections import deque

from actors.messages.conversation import SAID_TO_IT, Retire, Revived, SessionInput, ToConversation, caller_of
from actors.messages.effects import EndSubscription, Unsubscribed
from actors.messages.orders import AbandonAgent
from actors.messages.routing import SessionFailed
from actors.routing.decisions import Decisions, refuse_all, remove_again
from actors.routing.entry import Entry, EntryStatus
from actors.routing.index import ConversationIndex
from actors.routing.owners import LiveOwners
from actors.routing.room import Room
from actors.vocabulary.errors import TurnFailed
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import AbortReason

FAILURES_ALLOWED = 3  # in a row; then the conversation is given up, as every message fails
FAILURE_WINDOW_S = 60.0


class Failures:
    def __init__(self, index: ConversationIndex, room: Room, owners: LiveOwners) -> None:
        self._index = index
        self._room = room
        self._owners = owners
        self._lately: deque[tuple[float, ConversationId]] = deque()

    def take_report(self, entry: Entry, failed: SessionFailed, now: float) -> Decisions:
        """End what the failed owner has left running. Its messages wait for the next."""
        entry.failures = [*_recent(entry.failures, now), now]
        self._lately.append((now, entry.conversation))
        entry.status = EntryStatus.RECOVERING
        entry.stash[:0] = [leftover for leftover in failed.leftovers if is_kept(leftover)]
        if entry.removal is not None and entry.removal not in failed.survivors.callers:
            entry.removers.insert(0, entry.removal)
        entry.removal, entry.failed = None, failed
        yield AbandonAgent(entry.conversation)
        yield from self._owners.give_no_room(entry.conversation)

    def recover(self, conversation: ConversationId) -> Decisions:
        """Start the next owner, as the processes are gone: it closes the turn as failed, and serves the readers."""
        entry = self._index.get(conversation)
        if entry is None or entry.status is not EntryStatus.RECOVERING or entry.failed is None:
            return
        failed, times = entry.failed, len(entry.failures)
        if times > FAILURES_ALLOWED:
            yield from self._give_up(entry, failed)
            return
        entry.failed = None
        entry.given_up = times == FAILURES_ALLOWED and not failed.unread
        traceback = failed.traceback if entry.given_up else None
        revived = Revived(AbortReason.FAILED, failed.message, traceback, failed.survivors)
        yield self._owners.start(entry, entry.empty_stash(), revived)
        yield from remove_again(entry)

    def _give_up(self, entry: Entry, failed: SessionFailed) -> Decisions:
        """Give the conversation up; after a disk that could not be read, the next message wakes it once more."""
        self._room.leave(entry.conversation)
        entry.status = EntryStatus.BROKEN
        if failed.unread:
            entry.status, entry.failures, entry.failed = EntryStatus.PARKED, [], None
        error = TurnFailed(f"the conversation can't be loaded: {failed.message}")
        for reader in failed.survivors.readers:
            yield EndSubscription(reader.connection, Unsubscribed(reader.subscription, error.message))
        yield from refuse_all((*failed.survivors.callers, *map(caller_of, entry.empty_stash())), error)
        yield from remove_again(entry)
        yield from self._owners.let_in()
        self._index.let_rest(entry.conversation)

    def forgive(self, now: float) -> None:
        """Forget failures that are a minute old, and conversations of which nothing else is to be remembered."""
        while self._lately and self._lately[0][0] <= now - FAILURE_WINDOW_S:
            _, conversation = self._lately.popleft()
            entry = self._index.get(conversation)
            if entry is not None:
                entry.failures = _recent(entry.failures, now)
                self._index.let_rest(conversation)


def _recent(failures: list[float], now: float) -> list[float]:
    return [failed_at for failed_at in failures if failed_at > now - FAILURE_WINDOW_S]


def is_kept(message: SessionInput) -> bool:
    """True if a message to an owner that has failed waits for the next one. News for the old owner is dropped.

    A removal is asked for again anyway, as `removal` is still set when the failure is reported.
    """
    retires = isinstance(message, ToConversation) and isinstance(message.command, Retire)
    return isinstance(message, SAID_TO_IT) and not retires
