"""Start of a third-party agent's program in its sandbox, and the check whether that sandbox still fits. Loop thread.

The sandbox is made and removed in worker threads, because that waits for the disk.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

import structlog
from msgspec import Struct

from actors.messages.orders import RunAgent
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agents.acp.child import Launch
from supervisor.agents.acp.confinement import (
    ConfinementInputs,
    confine_agent,
    fingerprint,
    is_confined,
    login_of,
    variables_of,
)
from supervisor.agents.acp.git_desk import GitDesk
from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.turn import Turn
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.config.load import LoadedConfig
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.processes.command import Command
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.order import ConfinedCommand
from supervisor.work.sandbox.sandbox import Sandbox
from transports.supervisor_requests import GivenServer

log = structlog.get_logger()

ClosedPaths = frozenset[tuple[Path, int]]
Define = Callable[[RunAgent, CommandEnvironment], AgentDefinition]


class LookupInputs(Struct, frozen=True):
    """The inputs of a definition's lookup. While they stay the same, a running program is the right one."""

    settings: Settings
    env: Mapping[str, str]
    loaded: LoadedConfig
    given: tuple[GivenServer, ...]

    def is_same_as(self, other: "LookupInputs | None") -> bool:
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
        around: Callable[[RunAgent], CommandEnvironment],
        define: Define,
        loaded: Callable[[], LoadedConfig],
        given: Callable[[ConversationId], tuple[GivenServer, ...]],
    ) -> None:
        """`given`: the servers that clients have given a conversation."""
        self._sandbox = sandbox
        self._processes = processes
        self._around = around
        self._define = define
        self._loaded = loaded
        self._given = given
        self._closed: dict[TurnId, ClosedPaths] = {}  # by running agent: the closed paths in its writable directories

    def environ(self, order: RunAgent) -> Mapping[str, str]:
        """Return the variables of the conversation's client."""
        return self._around(order).env

    def lookup_inputs(self, turn: Turn) -> LookupInputs:
        """Return the present inputs of the definition's lookup. Cheap, and needs no disk."""
        return LookupInputs(turn.settings, self.environ(turn.order), self._loaded(), self._given_to(turn))

    async def definition(self, turn: Turn) -> AgentDefinition:
        """Look up the agent that the conversation's settings and variables name now."""
        order = turn.order
        return await asyncio.to_thread(self._define, order, self._around(order))

    def prepare(self, turn: Turn, definition: AgentDefinition) -> tuple[Launch, ConfinementInputs]:
        """Return the launch of an agent, and the inputs of its sandbox."""
        return self._launch(turn, definition), self._fingerprint(turn, definition)

    async def changes(self, made_of: ConfinementInputs, turn: Turn) -> str:
        """Name the inputs of an agent's sandbox that have changed; empty: it still fits."""
        return made_of.name_changes(self._fingerprint(turn, await self.definition(turn)))

    async def are_more_closed(self, owner: TurnId, turn: Turn) -> bool:
        """Tell whether an agent's directories have new paths that should be closed, but its sandbox leaves open."""
        at_start = self._closed.get(owner)
        return at_start is not None and not await asyncio.to_thread(self._closed_now, turn) <= at_start

    def _closed_now(self, turn: Turn) -> ClosedPaths:
        settings, around = turn.settings, self._around(turn.order)
        pins = self._sandbox.pins(turn.order.conversation, settings, around.env)
        return self._sandbox.closed_paths(settings.sandbox, settings.cwd, pins, around.env)

    @asynccontextmanager
    async def watch_projects(self, turn: Turn, definition: AgentDefinition) -> AsyncIterator[None]:
        """Watch the projects of a confined agent during a turn; afterwards report the changes that were undone."""
        settings, around = turn.settings, self._around(turn.order)
        if not (is_confined(settings, definition) and isinstance(settings.sandbox, WorkspaceWrite)):
            yield
            return
        pins = await asyncio.to_thread(self._sandbox.pins, turn.order.conversation, settings, around.env)

        def watching() -> AbstractContextManager[list[str]]:
            return self._sandbox.watch_projects(settings.sandbox, settings.cwd, pins, around.env)

        undone: list[str] = []
        try:
            async with in_a_thread(watching, leave_there=True) as undone:
                yield
        finally:
            for finding in undone:
                turn.emit(ev.BackgroundEvent(message=finding))

    def has_login(self, made_of: ConfinementInputs, turn: Turn, definition: AgentDefinition) -> bool:
        """Tell whether the agent's login is still that of its start; a person may have made another."""
        return made_of.login == login_of(turn.settings, definition, self.environ(turn.order))

    def _fingerprint(self, turn: Turn, definition: AgentDefinition) -> ConfinementInputs:
        login = login_of(turn.settings, definition, self.environ(turn.order))
        return fingerprint(turn.settings, definition, self._given_to(turn), login)

    def _given_to(self, turn: Turn) -> tuple[GivenServer, ...]:
        return self._given(turn.order.conversation)

    def _launch(self, turn: Turn, definition: AgentDefinition) -> Launch:
        settings, conversation, around = turn.settings, turn.order.conversation, self._around(turn.order)
        sandbox, config = self._sandbox, self._loaded().with_overrides(settings.overrides).config
        env = variables_of(definition, settings, config, around.env)

        @asynccontextmanager
        async def launch(owner: TurnId) -> AsyncIterator[Command]:
            pins = await asyncio.to_thread(sandbox.pins, conversation, settings, around.env)
            asks = is_confined(settings, definition) and isinstance(settings.sandbox, WorkspaceWrite)
            folder = sandbox.new_desk() if asks else None

            def confine() -> AbstractContextManager[ConfinedCommand]:
                if asks:
                    self._closed[owner] = sandbox.closed_paths(settings.sandbox, settings.cwd, pins, around.env)
                return confine_agent(sandbox, settings, definition, env, pins, folder)

            async with AsyncExitStack() as stack:
                stack.callback(self._closed.pop, owner, None)
                inside = await stack.enter_async_context(in_a_thread(confine, leave_there=True))
                if folder is not None and folder.exists():
                    desk = GitDesk(folder, sandbox, self._processes, settings, pins)
                    await stack.enter_async_context(desk.open(conversation, owner, around.umask))
                for notice in inside.notices:
                    turn.emit(ev.BackgroundEvent(message=notice))
                yield inside.command(conversation, owner, None, around.umask)
            for finding in inside.aftermath:
                log.warning("agent.left", agent=definition.name, conversation=conversation, finding=finding)

        return launch
