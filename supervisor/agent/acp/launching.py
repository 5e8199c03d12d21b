"""The start of an agent's program in its sandbox, and whether that sandbox still fits. Loop thread.

The sandbox is made and taken down in worker threads, because it waits for the disk.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager

import structlog
from msgspec import Struct

from actors.conversation.orders import RunAgent
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agent.acp.child import Launch
from supervisor.agent.acp.confinement import Confinement, confined, fingerprint, is_confined
from supervisor.agent.acp.git_desk import GitDesk
from supervisor.agent.entering import in_a_thread
from supervisor.agent.environments import Around
from supervisor.agent.processes.command import Command
from supervisor.agent.processes.processes import Processes
from supervisor.agent.sandbox.confined import Confined
from supervisor.agent.sandbox.sandbox import Sandbox
from supervisor.agent.turn import Turn
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.config.load import LoadedConfig
from transports.requests import GivenServer

log = structlog.get_logger()

Define = Callable[[RunAgent, Around], AgentDefinition]


class LookedUp(Struct, frozen=True):
    """The things that a definition is looked up by. While they are the same, a program that runs is the right one."""

    settings: Settings
    env: Mapping[str, str]
    loaded: LoadedConfig
    given: tuple[GivenServer, ...]

    def is_like(self, other: "LookedUp | None") -> bool:
        return (
            other is not None
            and self.loaded is other.loaded
            and self.given == other.given
            and self.settings == other.settings
            and self.env == other.env
        )


class Launching:
    def __init__(
        self,
        sandbox: Sandbox,
        processes: Processes,
        around: Callable[[RunAgent], Around],
        define: Define,
        loaded: Callable[[], LoadedConfig],
        given: Callable[[ConversationId], tuple[GivenServer, ...]],
    ) -> None:
        """`given`: the servers that clients give."""
        self._sandbox = sandbox
        self._processes = processes
        self._around = around
        self._define = define
        self._loaded = loaded
        self._given = given

    def environ(self, order: RunAgent) -> Mapping[str, str]:
        """Return the variables of the conversation's client."""
        return self._around(order).env

    def looked_up(self, turn: Turn) -> LookedUp:
        """Return what the definition is looked up by now. Cheap, and needs no disk."""
        return LookedUp(turn.settings, self.environ(turn.order), self._loaded(), self._given_to(turn))

    async def definition(self, turn: Turn) -> AgentDefinition:
        """Look for the agent as the conversation's settings and variables name it now."""
        order = turn.order
        return await asyncio.to_thread(self._define, order, self._around(order))

    def of(self, turn: Turn, definition: AgentDefinition) -> tuple[Launch, Confinement]:
        """Return what starts it, and what its sandbox is made of."""
        return self._launch(turn, definition), self._fingerprint(turn, definition)

    async def changes(self, made_of: Confinement, turn: Turn) -> str:
        """Name what an agent's sandbox was made of and is another now; nothing: it still fits."""
        return made_of.changes(self._fingerprint(turn, await self.definition(turn)))

    def _fingerprint(self, turn: Turn, definition: AgentDefinition) -> Confinement:
        return fingerprint(turn.settings, definition, self._given_to(turn))

    def _given_to(self, turn: Turn) -> tuple[GivenServer, ...]:
        return self._given(turn.order.conversation)

    def _launch(self, turn: Turn, definition: AgentDefinition) -> Launch:
        settings, conversation, around = turn.settings, turn.order.conversation, self._around(turn.order)
        sandbox = self._sandbox

        @asynccontextmanager
        async def launch(owner: TurnId) -> AsyncIterator[Command]:
            pins = await asyncio.to_thread(sandbox.pins, conversation, settings, around.env)
            asks = is_confined(settings, definition) and isinstance(settings.sandbox, WorkspaceWrite)
            folder = sandbox.new_desk() if asks else None

            def made() -> AbstractContextManager[Confined]:
                return confined(sandbox, settings, definition, around.env, pins, folder)

            async with in_a_thread(made, leave_there=True) as inside, AsyncExitStack() as stack:
                if folder is not None and folder.exists():
                    desk = GitDesk(folder, sandbox, self._processes, settings, pins)
                    await stack.enter_async_context(desk.open(conversation, owner, around.umask))
                for notice in inside.notices:
                    turn.emit(ev.BackgroundEvent(message=notice))
                yield inside.command(conversation, owner, None, around.umask)
            for finding in inside.aftermath:
                log.warning("agent.left", agent=definition.name, conversation=conversation, finding=finding)

        return launch
