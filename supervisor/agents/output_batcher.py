"""One turn's output on its way to the session: collected, coalesced, one batch under way at a time.

On the loop's thread alone, which is the session's too: the session itself fetches the next batch.
"""

import asyncio

from actors.conversation.tail import content_of, join_pieces, key_of, with_content
from actors.messages.conversation import Address
from actors.messages.orders import AgentNews, AgentOutput, Outcome, TurnEnded
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import Delta
from actors.vocabulary.ids import TurnId

ROOM = 128 * 1024  # characters that may wait; a producer of more waits for the session

NOT_A_DELTA = 64  # characters that any other event counts as
NEW_DELTA = 256  # a delta that starts a new item costs this much beside its text


class _Growing:
    """Adjacent deltas of one item, to be sent as one. Only their content is kept, and joined when they leave."""

    __slots__ = ("_key", "_pieces", "_sample")

    def __init__(self, first: Delta) -> None:
        self._sample = first
        self._key = key_of(first)
        self._pieces = [content_of(first)]

    def add(self, delta: Delta) -> bool:
        """Add a delta, or return False if it is of another item, kind or stream."""
        same = key_of(delta) == self._key
        if same:
            self._pieces.append(content_of(delta))
        return same

    def as_delta(self) -> Delta:
        return with_content(self._sample, join_pieces(tuple(self._pieces)))


class OutputBatcher:
    """Collects output while a batch is under way, so the busier the session, the fewer the messages."""

    def __init__(self, turn: TurnId, session: Address[AgentOutput | TurnEnded]) -> None:
        self._turn = turn
        self._session = session
        self._waiting: list[AgentNews | _Growing] = []
        self._held: list[AgentNews] = []  # news that go with the next
        self._size = 0
        self._under_way = False
        self._due = False  # some waiting output need not wait for more
        self._ending = False
        self._room = asyncio.Event()
        self._room.set()
        self.session_gone = False  # the session does not exist any more; output is dropped

    def emit(self, *news: AgentNews) -> None:
        self._release()
        for item in news:
            self._add(item)
        self._due = True
        if not self._under_way:
            self._send_if_due()

    def hold(self, *news: AgentNews) -> None:
        """Keep the news for the next batch, or the end: alone they would be a commit of their own."""
        self._held.extend(news)

    async def wait_for_room(self) -> None:
        """Wait until the session keeps up (back-pressure)."""
        await self._room.wait()

    def send_next(self) -> None:
        """Send the next batch, if there is one: the session has taken the last."""
        self._under_way = False
        self._send_if_due()

    def end_soon(self) -> None:
        """Prepare for the end of a stopped turn: output still streams, everything else waits for the last message."""
        self._ending = True

    def finish(self, outcome: Outcome) -> None:
        """Send the outcome, and with it everything that waits, so that both are one commit."""
        self._release()
        self._tell(TurnEnded(self._turn, outcome, self._take_waiting()))

    def _release(self) -> None:
        for item in self._held:
            self._add(item)
        self._held.clear()

    def _add(self, news: AgentNews) -> None:
        if isinstance(news, Delta):
            self._size += len(content_of(news))
            self._grow(news)
        else:
            self._size += NOT_A_DELTA
            self._waiting.append(news)
        if self._size > ROOM:
            self._room.clear()

    def _grow(self, delta: Delta) -> None:
        last = self._waiting[-1] if self._waiting else None
        if type(last) is type(delta):
            last = self._waiting[-1] = _Growing(last)
        if not (isinstance(last, _Growing) and last.add(delta)):
            self._size += NEW_DELTA
            self._waiting.append(delta)

    def _send_if_due(self) -> None:
        if self._due and not (self._ending and not any(isinstance(item, Delta | _Growing) for item in self._waiting)):
            self._under_way = True
            self._tell(AgentOutput(self._turn, self._take_waiting()))

    def _take_waiting(self) -> tuple[AgentNews, ...]:
        batch = tuple(item.as_delta() if isinstance(item, _Growing) else item for item in self._waiting)
        self._waiting = []
        self._due = False
        self._size = 0
        self._room.set()
        return batch

    def _tell(self, message: AgentOutput | TurnEnded) -> None:
        try:
            self._session.tell(message)
        except GreenroomError:
            self.session_gone = True  # the registry abandons this turn in a moment
            self._under_way = False
