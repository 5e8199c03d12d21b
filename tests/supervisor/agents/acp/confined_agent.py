"""An agent in its sandbox: a home of its own, a workspace, and a program that reports what it could do."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import ApprovalPolicy, Pin, SandboxPolicy, Settings, WorkspaceWrite
from supervisor.agents.acp.confinement import confine_agent
from supervisor.agents.acp.git_desk import GitDesk
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.disk.pins import pins_of
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.processes.command import Finished, NotStarted
from supervisor.work.processes.input import Input
from supervisor.work.processes.processes import Processes
from supervisor.work.reach.known_agents import KNOWN_AGENTS, places_of
from supervisor.work.sandbox.order import ConfinedCommand
from supervisor.work.sandbox.roots import Protection
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.commands import INSTANCE, Watched, limited, until
from tests.supervisor.work.place import CLOSED, Place

# Evaluates each line it is told, and answers with a line of JSON: it lives as long as its input.
PROGRAM = """
import ctypes, json, os, shutil, signal, socket, subprocess, sys, time
from pathlib import Path
for line in sys.stdin:
    try:
        told = repr(eval(json.loads(line)))
    except BaseException as error:
        told = f"{type(error).__name__}: {error}"
    print(json.dumps(told), flush=True)
"""
OWNER = TurnId("agent-1")
REFUSED = ("Read-only file system", "Permission denied")

PYTHON = os.path.realpath(
    sys.executable
)  # a virtual environment may lie in /tmp, which agents have one of their own of


@dataclass
class Agent:
    """All that an agent is started with, and its home."""

    place: Place
    name: str = "claude"
    policy: SandboxPolicy = CLOSED
    env: Mapping[str, str] = field(default_factory=dict)
    own: tuple[Path, ...] | None = None
    network: bool = True
    approvals: ApprovalPolicy = ApprovalPolicy.ON_REQUEST
    confine: str = "workspace"
    cwd: Path | None = None

    desk: Path | None = None

    def __post_init__(self) -> None:
        self.home = self.place.outside / "home"
        self.home.mkdir(exist_ok=True)
        self.ours = self.place.outside / "greenroom"
        self.ours.mkdir(exist_ok=True)
        self.protection = Protection(hidden=(self.ours,), files=(self.home / ".codex/config.toml",))
        self.sandbox = Sandbox(self.protection, self.place.outside / "state/leftovers")

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], **self.env}

    @property
    def definition(self) -> AgentDefinition:
        known = KNOWN_AGENTS.get(self.name)
        own = tuple(places_of(known.places, self.environment)) if known and self.own is None else self.own or ()
        argv = (PYTHON, "-SEc", PROGRAM)
        return AgentDefinition(
            self.name,
            self.name,
            argv,
            own=own,
            network=self.network,
            confine=self.confine,  # type: ignore[arg-type]
        )

    @property
    def settings(self) -> Settings:
        where = self.cwd or self.place.workspace
        return Settings(model="m", cwd=where, sandbox=self.policy, approval_policy=self.approvals, agent=self.name)

    def pins(self) -> tuple[Pin, ...]:
        return pins_of(self.policy, self.settings.cwd, None)

    @contextlib.contextmanager
    def confined(self) -> Iterator[ConfinedCommand]:
        self.desk = self.sandbox.new_desk() if isinstance(self.policy, WorkspaceWrite) else None
        with confine_agent(
            self.sandbox, self.settings, self.definition, self.environment, self.pins(), self.desk
        ) as inside:
            yield inside

    @contextlib.asynccontextmanager
    async def lives(self, processes: Processes | None = None) -> AsyncIterator["Living"]:
        """Run it as the daemon does, until the context is left."""
        async with contextlib.AsyncExitStack() as stack:
            if processes is None:
                processes = await stack.enter_async_context(Processes(self.place.outside / "ledger", INSTANCE, 0.2))
            inside = await stack.enter_async_context(in_a_thread(self.confined, leave_there=True))
            if self.desk is not None and self.desk.exists():
                desk = GitDesk(self.desk, self.sandbox, processes, self.settings, self.pins())
                await stack.enter_async_context(desk.open(ConversationId("conversation-1"), OWNER, 0o022))
            command = inside.command(ConversationId("conversation-1"), OWNER, None, 0o022)
            living = Living(inside, processes)
            running = asyncio.create_task(processes.run(command, living.watched.output, living.given))
            living.running = running
            try:
                await until(lambda: living.given.is_open or running.done())
                yield living
            finally:
                await processes.end_turn(OWNER)
                await running


class Living:
    def __init__(self, inside: ConfinedCommand, processes: Processes) -> None:
        self.inside = inside
        self.processes = processes
        self.watched = Watched()
        self.given = Input()
        self.owner = OWNER
        self.running: asyncio.Future[Finished | NotStarted]

    async def over(self) -> None:
        await asyncio.wait({self.running})

    async def does(self, expression: str) -> str:
        """Let the agent evaluate an expression; return what it says of it."""
        before = self.watched.of("stdout").count(b"\n")
        await self.given.write(json.dumps(expression).encode() + b"\n")
        while (said := self.watched.of("stdout")).count(b"\n") == before:
            self.watched.spoke.clear()
            await self.watched.spoke.wait()
        return str(json.loads(said.splitlines()[before]))

    async def sh(self, script: str) -> str:
        return await self.does(f"subprocess.run(['sh', '-c', {script!r}], capture_output=True, text=True)")


def did(agent: Agent, *expressions: str) -> list[str]:
    async def work() -> list[str]:
        async with agent.lives() as living:
            return [await living.does(one) for one in expressions]

    return limited(work())


def refused(said: str) -> bool:
    return any(words in said for words in REFUSED)


def write(path: Path, text: str = "x") -> str:
    """Return the expression that writes a file, and makes its folder."""
    return f"Path({str(path.parent)!r}).mkdir(parents=True, exist_ok=True), Path({str(path)!r}).write_text({text!r})"


WITH_TMP = WorkspaceWrite(exclude_tmpdir_env_var=True)
