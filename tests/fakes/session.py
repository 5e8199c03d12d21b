"""The address of a conversation, whose part a test plays step by step: takes batches, answers, gives input.

It stands where a session actor's address stands; news arrives on the loop thread, which is the test's own.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from actors.messages.orders import (
    AgentAbandoned,
    AgentNews,
    AgentOrder,
    AgentOutput,
    GiveInput,
    InputWanted,
    Outcome,
    PendingInput,
    TakeMore,
    TurnEnded,
)
from actors.vocabulary.errors import ActorGone

WAIT_S = 30.0  # far above what any step takes: only a test that would hang gets there
News = TypeVar("News")


class FakeSession:
    """`messages` is everything it was told, in order. Gone, it refuses as an actor that has ended does."""

    def __init__(self) -> None:
        self.messages: list[object] = []
        self.gone = False
        self._changed = asyncio.Event()
        self._read = 0

    def tell(self, message: object) -> None:
        if self.gone:
            raise ActorGone("the session has ended")
        self.messages.append(message)
        self._changed.set()

    async def next(self) -> object:
        """The next message, in order."""
        async with asyncio.timeout(WAIT_S):
            while self._read >= len(self.messages):
                self._changed.clear()
                await self._changed.wait()
        self._read += 1
        return self.messages[self._read - 1]

    async def batch(self) -> tuple[AgentNews, ...]:
        message = await self.next()
        assert isinstance(message, AgentOutput), message
        return message.batch

    async def end(self) -> Outcome:
        message = await self.next()
        assert isinstance(message, TurnEnded), message
        return message.outcome

    @property
    def unread(self) -> int:
        return len(self.messages) - self._read

    async def see_through(
        self,
        order: Callable[[AgentOrder], None],
        answer: Callable[[AgentNews], AgentOrder | None] = lambda _: None,
        inputs: tuple[tuple[PendingInput, ...], ...] = (),
    ) -> tuple[list[AgentNews], Outcome]:
        """Plays the core to the turn's end: takes every batch, gives input where it is wanted, answers as told."""
        news: list[AgentNews] = []
        waiting = list(inputs)
        while True:
            message = await self.next()
            if isinstance(message, TurnEnded):
                return [*news, *message.batch], message.outcome
            assert isinstance(message, AgentOutput), message
            for one in message.batch:
                news.append(one)
                if isinstance(one, InputWanted):
                    order(GiveInput(message.turn, waiting.pop(0) if waiting else ()))
                elif (given := answer(one)) is not None:
                    order(given)
            order(TakeMore(message.turn))

    async def abandoned(self) -> AgentAbandoned:
        message = await self.next()
        assert isinstance(message, AgentAbandoned), message
        return message
