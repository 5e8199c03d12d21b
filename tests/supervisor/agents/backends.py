"""Parts for tests of the runner and its turns: orders, and backends that do as they are told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from actors.messages.orders import PendingInput, RunAgent
from actors.vocabulary.ids import ConversationId, InputId, TurnId
from actors.vocabulary.items import TextItem
from actors.vocabulary.settings import BusyPolicy, Settings
from supervisor.agents.backend import Backend
from supervisor.agents.turn import Turn
from supervisor.engine.runner import Runner
from supervisor.work.processes.processes import Processes

CONVERSATION = ConversationId("c-1")
TURN = TurnId("t-1")

Work = Callable[[Turn], Awaitable[str | None]]


def an_order(turn: TurnId = TURN, conversation: ConversationId = CONVERSATION, *, resume: bool = False) -> RunAgent:
    return RunAgent(conversation, turn, Settings(model="m", cwd=Path("/")), 3, resume, (an_input("hi"),))


def an_input(text: str, name: str = "i-1") -> PendingInput:
    return PendingInput(InputId(name), (TextItem(text=text),), BusyPolicy.STEER)


class Doing:
    """A backend whose turns all do the same. `begun` is set after a turn's first step."""

    def __init__(self, work: Work, *, resumable: bool = True) -> None:
        self._work = work
        self.resumable = resumable
        self.begun = asyncio.Event()
        self.forgotten: list[ConversationId] = []

    async def run(self, turn: Turn) -> str | None:
        self.begun.set()
        return await self._work(turn)

    def hurry(self, turn: TurnId) -> None:
        """Nothing has a grace here but commands, which are the runner's."""

    def forget(self, conversation: ConversationId) -> None:
        self.forgotten.append(conversation)


@contextlib.asynccontextmanager
async def a_runner(
    tmp_path: Path, backend: Backend | Callable[[RunAgent], Backend]
) -> AsyncIterator[tuple[Runner, Processes]]:
    choose = backend if callable(backend) else lambda _: backend
    async with Processes(tmp_path / "ledger", "instance-of-the-tests", 0.15) as processes:
        runner = Runner(asyncio.get_running_loop(), processes, choose)
        try:
            yield runner, processes
        finally:
            await runner.close()


async def for_ever(_: Turn) -> str | None:
    await asyncio.Event().wait()
    return None
