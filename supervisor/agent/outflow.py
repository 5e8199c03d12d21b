"""One turn's news on its way to the session: collected, coalesced, one batch under way at a time. Loop thread."""

import asyncio

from actors.errors import GreenroomError
from actors.events import (
    AgentMessageDelta,
    AgentReasoningDelta,
    AgentReasoningRawContentDelta,
    ExecCommandOutputDelta,
)
from actors.ids import TurnId
from actors.messages import Address
from actors.orders import AgentNews, AgentOutput, Outcome, TurnEnded

ROOM = 128 * 1024  # characters that may wait; whoever produces more waits for the session

TEXT_DELTAS = (AgentMessageDelta, AgentReasoningDelta, AgentReasoningRawContentDelta)


class Outflow:
    """While a batch is under way the next one grows, so the busier the session, the fewer the messages."""

    def __init__(self, turn: TurnId, session: Address) -> None:
        self._turn = turn
        self._session = session
        self._waiting: list[AgentNews] = []
        self._size = 0
        self._under_way = False
        self._room = asyncio.Event()
        self._room.set()
        self.gone = False  # the session does not exist any more; what is said is said to nobody

    def emit(self, *news: AgentNews) -> None:
        for one in news:
            self._add(one)
        if not self._under_way:
            self._send()

    async def room(self) -> None:
        """Back-pressure: returns when the session keeps up."""
        await self._room.wait()

    def taken(self) -> None:
        self._under_way = False
        if self._waiting:
            self._send()

    def finish(self, outcome: Outcome) -> None:
        """The last word. What waits goes before it."""
        if self._waiting:
            self._send()
        self._tell(TurnEnded(self._turn, outcome))

    def _add(self, news: AgentNews) -> None:
        merged = _merged(self._waiting[-1], news) if self._waiting else None
        if merged is not None:
            self._waiting[-1] = merged
        else:
            self._waiting.append(news)
        self._size += _size(news)
        if self._size > ROOM:
            self._room.clear()

    def _send(self) -> None:
        batch, self._waiting = tuple(self._waiting), []
        self._size = 0
        self._room.set()
        self._under_way = True
        self._tell(AgentOutput(self._turn, batch))

    def _tell(self, message: AgentOutput | TurnEnded) -> None:
        try:
            self._session.tell(message)
        except GreenroomError:
            self.gone = True  # its registry abandons us in a moment
            self._under_way = False


def _merged(last: AgentNews, news: AgentNews) -> AgentNews | None:
    """Two deltas of one item in a row are one."""
    match last, news:
        case ExecCommandOutputDelta(), ExecCommandOutputDelta():
            if (last.item_id, last.stream) == (news.item_id, news.stream):
                return news.model_copy(update={"chunk": last.chunk + news.chunk})
        case _ if isinstance(last, TEXT_DELTAS) and isinstance(news, TEXT_DELTAS):
            if type(last) is type(news) and last.item_id == news.item_id:
                return type(news)(delta=last.delta + news.delta, item_id=news.item_id)
        case _:
            pass
    return None


def _size(news: AgentNews) -> int:
    match news:
        case ExecCommandOutputDelta():
            return len(news.chunk)
        case AgentMessageDelta() | AgentReasoningDelta() | AgentReasoningRawContentDelta():
            return len(news.delta)
        case _:
            return 64
