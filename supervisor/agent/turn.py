"""The turn as its backend sees it: a way to emit events, ask for approvals and take input. Loop thread."""

import asyncio
from typing import TypeVar, assert_never

from msgspec import Struct

from actors.conversation.messages import Address
from actors.conversation.orders import (
    AgentNews,
    AgentOutput,
    AllStored,
    AnswerAgent,
    GiveInput,
    InputWanted,
    OfferInput,
    PendingInput,
    RunAgent,
    StorageAwaited,
    TurnEnded,
)
from actors.vocabulary.events import ApprovalRequest
from actors.vocabulary.ids import ApprovalId, ItemId
from actors.vocabulary.settings import Decision
from supervisor.agent.output_batcher import OutputBatcher

T = TypeVar("T")


class ApprovalAnswer(Struct, frozen=True):
    decision: Decision
    reason: str = ""

    @property
    def approved(self) -> bool:
        return self.decision in {Decision.APPROVED, Decision.APPROVED_FOR_SESSION}

    def rejects(self, what: str) -> str:
        """Compose the text for the model."""
        return f"{what} rejected by user: {self.reason}" if self.reason else f"{what} rejected by user"


class Turn:
    def __init__(self, order: RunAgent, session: Address[AgentOutput | TurnEnded]) -> None:
        self.order = order
        self.output = OutputBatcher(order.turn, session)
        self.input_offered = False  # more_input would return something
        self.heard: tuple[str, ...] = ()  # the user's messages in it, for programs that are told of its end
        self._questions: dict[ApprovalId, asyncio.Future[ApprovalAnswer]] = {}
        self._input: asyncio.Future[tuple[PendingInput, ...]] | None = None
        self._stored: asyncio.Future[None] | None = None
        self._items = 0

    def emit(self, *news: AgentNews) -> None:
        self.output.emit(*news)

    async def room(self) -> None:
        await self.output.room()

    def new_item(self) -> ItemId:
        """Return an id that is unique in the conversation; the `seq` makes it so for a resumed turn."""
        self._items += 1
        return ItemId(f"{self.order.turn}.{self.order.seq}.{self._items}")

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Ask, and return the answer. The future is registered first, so that no answer can be too fast."""
        answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        self._questions[request.approval_id] = answer
        try:
            self.emit(request)
            return await answer
        finally:
            del self._questions[request.approval_id]

    async def more_input(self) -> tuple[PendingInput, ...]:
        """Return the input since the last request. When this returns, the session has stored it as taken."""
        self.input_offered = False
        self._input = asyncio.get_running_loop().create_future()
        self.emit(InputWanted())
        return await self._input

    async def stored(self) -> None:
        """Wait until everything emitted is on disk, so that no crash takes it back after what happens next."""
        self._stored = asyncio.get_running_loop().create_future()
        self.emit(StorageAwaited())
        await self._stored

    # --- from the session, through the runner ---------------------------------------------------------------------

    @property
    def only_waits(self) -> bool:
        return bool(self._questions)

    def take(self, order: OfferInput | GiveInput | AllStored | AnswerAgent) -> None:
        match order:
            case OfferInput():
                self.input_offered = True
            case GiveInput():
                _settle(self._input, order.inputs)
            case AllStored():
                _settle(self._stored, None)
            case AnswerAgent():
                _settle(self._questions.get(order.approval), ApprovalAnswer(order.decision, order.reason))
            case _:
                assert_never(order)


def _settle(future: asyncio.Future[T] | None, value: T) -> None:
    if future is not None and not future.done():
        future.set_result(value)
