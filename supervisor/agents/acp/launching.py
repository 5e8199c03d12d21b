"""The launch of a third-party agent's program in its sandbox, and the check whether that still fits. Loop thread.

The sandbox is made and removed in worker threads, because that waits for the disk.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import Pin, Settings, WorkspaceWrite
from supervisor.agents.acp.confinement import (
    confine_agent,
    is_confined,
    kind_of,
    sandbox_additions,
    variables_of,
)
from supervisor.agents.acp.git_desk import GitDesk
from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.turn import Turn
from supervisor.config.agent_definitions import AgentDefinition, definition_of
from supervisor.config.load import LoadedConfig
from supervisor.disk.search_paths import writable_folders
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.processes.command import Command
from supervisor.work.processes.processes import Processes
from supervisor.work.reach.agent_homes import logins_of
from supervisor.work.sandbox.order import ConfinedCommand
from supervisor.work.sandbox.sandbox import Sandbox
from transports.supervisor_requests import GivenServer

CLOSED = "what other programs obey in its directories"

log = structlog.get_logger()

ClosedPaths = frozenset[tuple[Path, int]]


class ConfinementInputs(Struct, frozen=True):
    """The inputs of a running agent and its sandbox. If they change, the agent must be started anew."""

    sandbox: str
    directories: tuple[str, ...]
    program: str
    servers: str = ""  # a hash of the client's servers
    login: str = ""  # the files of a login in the sandbox: if they are replaced, the agent does not see the new ones

    def name_changes(self, other: "ConfinementInputs") -> str:
        """Name the differences, in words."""
        both = ((name, getattr(self, name), getattr(other, name)) for name in self.__struct_fields__)
        differing = [name for name, now, then in both if now != then and (name != "login" or (now and then))]
        return " and ".join(f"its {name}" for name in differing)


def fingerprint(
    settings: Settings, definition: AgentDefinition, given: Sequence[GivenServer] = (), login: str = ""
) -> ConfinementInputs:
    """Return the inputs of an agent and its sandbox. Pure and cheap: compared before each prompt."""
    policy = settings.sandbox
    roots = (f"{pin.name} {pin.path} {pin.inode}" for pin in settings.roots or ())
    # The variables may hold secrets, so only their hash is kept.
    program = (
        definition.argv,
        sorted(definition.env.items()),
        definition.own,
        definition.network,
        definition.variables,
    )
    added = sandbox_additions(kind_of(definition), settings.approval_policy)
    return ConfinementInputs(
        sandbox=f"{policy.model_dump_json()} {definition.confine} {added}",
        directories=(str(settings.cwd), str(definition.cwd or ""), *roots),
        program=hashlib.sha256(msgspec.json.encode(program, enc_hook=str)).hexdigest(),
        servers=hashlib.sha256(repr(given).encode("utf-8", "replace")).hexdigest() if given else "",
        login=login,
    )


def login_of(settings: Settings, definition: AgentDefinition, env: Mapping[str, str]) -> str:
    """Return the login files that the agent would be shown now. Takes a few looks at the disk, before each prompt."""
    given = {**env, **definition.env}
    return str(logins_of(kind_of(definition), given)) if is_confined(settings, definition) else ""


class LaunchInputs(Struct, frozen=True):
    """The inputs of a launch. While they stay the same, a running program is the right one.

    `ordered`: the settings when the turn was ordered, which name the agent; `settings` are those of now. `around` is
    the client's whole environment, of which the program gets a part; `given` are the servers that clients give.
    """

    conversation: ConversationId
    ordered: Settings
    settings: Settings
    around: CommandEnvironment
    loaded: LoadedConfig
    given: tuple[GivenServer, ...]

    @property
    def env(self) -> Mapping[str, str]:
        return self.around.env

    def are_same_as(self, other: "LaunchInputs | None") -> bool:
        return (
            other is not None
            and self.loaded is other.loaded
            and self.given == other.given
            and self.settings == other.settings
            and self.env == other.env
        )

    def definition(self) -> AgentDefinition:
        """Look up the agent that settings and variables name. In a worker thread."""
        settings = self.ordered
        config = self.loaded.with_overrides(settings.overrides).config
        writable = writable_folders(settings.sandbox, settings.cwd, self.env)
        return definition_of(settings.agent, config, self.env, writable)

    def login(self, definition: AgentDefinition) -> str:
        return login_of(self.settings, definition, self.env)

    def confinement(self, definition: AgentDefinition) -> ConfinementInputs:
        return fingerprint(self.settings, definition, self.given, self.login(definition))


class ProgramLaunch:
    """The launch of one program, with all that its sandbox was made of. `say` takes notices of the sandbox."""

    def __init__(
        self,
        sandbox: Sandbox,
        processes: Processes,
        definition: AgentDefinition,
        inputs: LaunchInputs,
        say: Callable[[ev.BackgroundEvent], None],
    ) -> None:
        self._sandbox = sandbox
        self._processes = processes
        self._definition = definition
        self._inputs = inputs
        self._say = say
        self._made_of = inputs.confinement(definition)
        self._fitting: LaunchInputs | None = inputs  # the last ones that were found to change nothing
        self._closed: ClosedPaths | None = None  # the closed paths in its writable directories, while it runs

    @asynccontextmanager
    async def open(self, owner: TurnId) -> AsyncIterator[Command]:
        """Yield the confined command that starts the program; the sandbox lasts as long as the context."""
        sandbox, definition, inputs = self._sandbox, self._definition, self._inputs
        settings, around, conversation = inputs.settings, inputs.around, inputs.conversation
        config = inputs.loaded.with_overrides(settings.overrides).config
        env = variables_of(definition, settings, config, around.env)
        pins = await asyncio.to_thread(sandbox.pins, conversation, settings, around.env)
        asks = is_confined(settings, definition) and isinstance(settings.sandbox, WorkspaceWrite)
        folder = sandbox.new_desk() if asks else None

        def confine() -> AbstractContextManager[ConfinedCommand]:
            if asks:
                self._closed = self._closed_paths(inputs, pins)
            return confine_agent(sandbox, settings, definition, env, pins, folder)

        async with AsyncExitStack() as stack:
            stack.callback(self._forget_closed)
            inside = await stack.enter_async_context(in_a_thread(confine, leave_there=True))
            if folder is not None and folder.exists():
                desk = GitDesk(folder, sandbox, self._processes, settings, pins)
                await stack.enter_async_context(desk.open(conversation, owner, around.umask))
            for notice in inside.notices:
                self._say(ev.BackgroundEvent(message=notice))
            yield inside.command(conversation, owner, None, around.umask)
        for finding in inside.aftermath:
            log.warning("agent.left", agent=definition.name, conversation=conversation, finding=finding)

    async def changes(self, now: LaunchInputs) -> str:
        """Name the changes for which the program must be started anew; empty: there are none."""
        if not (now.are_same_as(self._fitting) and self._has_login(now)):
            definition = await asyncio.to_thread(now.definition)
            if changed := self._made_of.name_changes(now.confinement(definition)):
                self._fitting = None
                return changed
            self._fitting = now
        return CLOSED if await self._are_more_closed(now) else ""

    def _has_login(self, now: LaunchInputs) -> bool:
        """Tell whether the agent's login is still that of its start; a person may have made another."""
        return self._made_of.login == now.login(self._definition)

    async def _are_more_closed(self, now: LaunchInputs) -> bool:
        """Tell whether its directories have new paths that should be closed, but its sandbox leaves open."""
        at_start = self._closed
        return at_start is not None and not await asyncio.to_thread(self._closed_now, now) <= at_start

    def _closed_now(self, now: LaunchInputs) -> ClosedPaths:
        return self._closed_paths(now, self._sandbox.pins(now.conversation, now.settings, now.env))

    def _closed_paths(self, inputs: LaunchInputs, pins: Sequence[Pin]) -> ClosedPaths:
        settings = inputs.settings
        return self._sandbox.closed_paths(settings.sandbox, settings.cwd, pins, inputs.env)

    def _forget_closed(self) -> None:
        self._closed = None

    @asynccontextmanager
    async def watch_projects(self, now: LaunchInputs, turn: Turn) -> AsyncIterator[None]:
        """Watch the projects of a confined agent during a turn; afterwards report the changes that were undone."""
        settings = now.settings
        if not (is_confined(settings, self._definition) and isinstance(settings.sandbox, WorkspaceWrite)):
            yield
            return
        pins = await asyncio.to_thread(self._sandbox.pins, now.conversation, settings, now.env)

        def watching() -> AbstractContextManager[list[str]]:
            return self._sandbox.watch_projects(settings.sandbox, settings.cwd, pins, now.env)

        undone: list[str] = []
        try:
            async with in_a_thread(watching, leave_there=True) as undone:
                yield
        finally:
            for finding in undone:
                turn.emit(ev.BackgroundEvent(message=finding))
