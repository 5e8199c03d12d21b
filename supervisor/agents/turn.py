"""The turn as its backend sees it: a way to emit events, ask for approvals and take input. Loop thread."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import TypeVar, assert_never

from msgspec import Struct

from actors.messages.conversation import Address
from actors.messages.orders import (
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
    UseSettings,
)
from actors.vocabulary.events import ApprovalRequested, DurableEvent, FormValue
from actors.vocabulary.ids import ApprovalId, ItemId
from actors.vocabulary.settings import Decision
from supervisor.agents.output_batcher import OutputBatcher

T = TypeVar("T")


class ApprovalAnswer(Struct, frozen=True):
    decision: Decision
    reason: str = ""
    option: str = ""  # of an agent's question: the id of the option that was chosen, if one was
    content: Mapping[str, FormValue] = {}  # of a server's question: the values of its form
    outside: bool = False  # a yes to a run outside the sandbox, where a yes alone means inside

    @property
    def is_approved(self) -> bool:
        return self.decision in {Decision.APPROVED, Decision.APPROVED_FOR_SESSION}

    def rejection_of(self, what: str) -> str:
        """Compose the text for the model."""
        return f"{what} rejected by user: {self.reason}" if self.reason else f"{what} rejected by user"


class Turn:
    def __init__(self, order: RunAgent, session: Address[AgentOutput | TurnEnded]) -> None:
        self.order = order
        self.settings = order.settings  # as they are now: read anew for each request and each call
        self.output = OutputBatcher(order.turn, session)
        self.input_ready = asyncio.Event()  # more_input would return something
        self.suspending = False  # it ends because it only waits; an answer starts it again
        self.user_messages: tuple[str, ...] = ()  # the user's messages in it, for programs that are told of its end
        self.count: Callable[[DurableEvent], None] | None = None  # told of each event that is emitted
        self._questions: dict[ApprovalId, asyncio.Future[ApprovalAnswer]] = {}
        self._held = 0  # questions during work that can't begin again
        self._input: asyncio.Future[tuple[PendingInput, ...]] | None = None
        self._stored: deque[asyncio.Future[int]] = deque()  # answered in their order: calls may wait side by side
        self._items = 0

    @property
    def input_offered(self) -> bool:
        return self.input_ready.is_set()

    def emit(self, *news: AgentNews) -> None:
        if self.count is not None:
            for item in news:
                if isinstance(item, DurableEvent):
                    self.count(item)
        self.output.emit(*news)

    def hold(self, *news: AgentNews) -> None:
        self.output.hold(*news)

    async def wait_for_room(self) -> None:
        await self.output.wait_for_room()

    def new_item(self) -> ItemId:
        """Return an id that is unique in the conversation; the `seq` makes it so for a resumed turn."""
        self._items += 1
        return ItemId(f"{self.order.turn}.{self.order.seq}.{self._items}")

    async def ask(self, request: ApprovalRequested, *, resumable: bool = True) -> ApprovalAnswer:
        """Ask, and return the answer. The future is registered first, so that no answer can be too fast.

        Not `resumable`: something is under way that waits for the answer, so the turn can't be ended meanwhile.
        """
        answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        self._questions[request.approval_id] = answer
        self._held += not resumable
        try:
            self.emit(request)
            return await answer
        finally:
            del self._questions[request.approval_id]
            self._held -= not resumable

    async def more_input(self) -> tuple[PendingInput, ...]:
        """Return the input since the last request. When this returns, the session has stored it as taken."""
        self.input_ready.clear()
        self._input = asyncio.get_running_loop().create_future()
        self.emit(InputWanted())
        return await self._input

    async def wait_until_stored(self) -> int:
        """Wait until everything emitted is on disk, so that no crash takes it back. Returns the seq of its end."""
        stored: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._stored.append(stored)
        self.emit(StorageAwaited())
        return await stored

    # --- from the session, through the runner ---------------------------------------------------------------------

    @property
    def only_waits(self) -> bool:
        return bool(self._questions) and not self._held

    def take(self, order: OfferInput | GiveInput | AllStored | AnswerAgent | UseSettings) -> None:
        match order:
            case OfferInput():
                self.input_ready.set()
            case GiveInput():
                _settle(self._input, order.inputs)
            case AllStored():
                _settle(self._stored.popleft() if self._stored else None, order.seq)
            case AnswerAgent():
                answer = ApprovalAnswer(order.decision, order.reason, order.option, order.content, order.outside)
                _settle(self._questions.get(order.approval), answer)
            case UseSettings():
                self.settings = order.settings
            case _:
                assert_never(order)


def _settle(future: asyncio.Future[T] | None, value: T) -> None:
    if future is not None and not future.done():
        future.set_result(value)
