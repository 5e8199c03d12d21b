"""The program of an agent, and what becomes of it when it is ended at an odd moment."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.agents.acp.agent_process import AgentProcess
from supervisor.agents.acp.failures import ChildEnded
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.config.bounds import Bounds
from supervisor.work.processes.command import Command
from supervisor.work.processes.processes import Processes
from tests.supervisor.agents.acp.test_peer import Ears
from tests.supervisor.work.commands import INSTANCE, limited

ENDLESS = (sys.executable, "-c", "import sys; sys.stdin.read()")
CONVERSATION = ConversationId("c")


def test_a_program_that_is_ended_while_its_sandbox_is_made_never_begins(tmp_path: Path) -> None:
    async def story() -> None:
        making, made = asyncio.Event(), asyncio.Event()

        @asynccontextmanager
        async def launch(owner: TurnId) -> AsyncIterator[Command]:
            making.set()
            await made.wait()
            yield Command(ENDLESS, tmp_path, {}, CONVERSATION, owner)

        async with Processes(tmp_path / "ledger", INSTANCE, 0.2) as processes:
            definition = AgentDefinition("slow", "Slow", ENDLESS)
            child = AgentProcess(CONVERSATION, definition, TurnId("owner"), processes, launch, Bounds(), Ears())
            starting = asyncio.create_task(child.start({}))
            await making.wait()
            ending = asyncio.create_task(child.end(kill=True))
            await asyncio.sleep(0)
            made.set()
            await ending
            with pytest.raises(ChildEnded):
                await starting
            assert not processes.living_processes(TurnId("owner"))

    limited(story())
