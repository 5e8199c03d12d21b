"""A third-party agent's process, for one conversation: its start, what it can do, its wire, its end. Loop thread.

It is spawned, marked and ended as commands are, under an owner of its own: its tree ends, never its pid alone.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from contextvars import Context
from io import FileIO
from typing import Any

import structlog
from msgspec import Struct

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.agents.acp.failures import ChildEnded
from supervisor.agents.acp.json_readers import Shape, member_at, shape
from supervisor.agents.acp.peer import MISUSES, AgentPeer, PeerReceiver, TooManyMisuses
from supervisor.agents.acp.wire import Json
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.config.bounds import Bounds
from supervisor.formats.lines import IN_A_ROW, LineCutter, MessageTooLong, StderrLog
from supervisor.version import VERSION
from supervisor.work.processes.command import Command, Finished, NotStarted
from supervisor.work.processes.input import Input
from supervisor.work.processes.output import Output, Stream
from supervisor.work.processes.processes import Processes

KEEP_BYTES = 1  # byte of output that is kept after it was read: it is not needed again
READ_BYTES = 1 << 62  # bytes that are read in all; each turn has a bound of its own
PROTOCOL = 1  # of ACP

Launch = Callable[[TurnId], AbstractAsyncContextManager[Command]]  # the confined start command, valid in the context

log = structlog.get_logger()


CAPABILITIES: Mapping[str, tuple[str, ...]] = {  # the name in events, and its path in the answer
    "load sessions": ("agentCapabilities", "loadSession"),
    "resume sessions": ("agentCapabilities", "sessionCapabilities", "resume"),
    "close sessions": ("agentCapabilities", "sessionCapabilities", "close"),
    "list sessions": ("agentCapabilities", "sessionCapabilities", "list"),
    "fork sessions": ("agentCapabilities", "sessionCapabilities", "fork"),
    "delete sessions": ("agentCapabilities", "sessionCapabilities", "delete"),
    "further directories": ("agentCapabilities", "sessionCapabilities", "additionalDirectories"),
    "pictures": ("agentCapabilities", "promptCapabilities", "image"),
    "sound": ("agentCapabilities", "promptCapabilities", "audio"),
    "embedded context": ("agentCapabilities", "promptCapabilities", "embeddedContext"),
    "MCP over HTTP": ("agentCapabilities", "mcpCapabilities", "http"),
    "MCP over SSE": ("agentCapabilities", "mcpCapabilities", "sse"),
    "log out": ("agentCapabilities", "auth", "logout"),
    "steering": ("_meta", "steering", "supported"),
}


class Capabilities(Struct, frozen=True):
    """The capabilities that an agent has announced, by name."""

    names: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.names


def capabilities_of(answer: Shape) -> Capabilities:
    members = shape(answer)
    return Capabilities(tuple(name for name, path in CAPABILITIES.items() if _is_offered(member_at(members, *path))))


def _is_offered(value: Any) -> bool:
    """Tell whether a value announces a capability: `true`, an empty object, or an object with such a member."""
    if isinstance(value, Mapping):
        return not value or any(_is_offered(member) for member in value.values())
    return value is True


class DeferredInput(Input):
    """An input whose writes wait until the process is started."""

    def __init__(self) -> None:
        super().__init__()
        self._opened = asyncio.Event()

    def open(self, file: FileIO) -> None:
        super().open(file)
        self._opened.set()

    async def write(self, data: bytes) -> int:
        await self._opened.wait()
        return await super().write(data)


class TooMuchOutput(Exception):
    """The agent has written more in one turn than the bound allows."""


class AgentProcess:
    def __init__(
        self,
        conversation: ConversationId,
        definition: AgentDefinition,
        owner: TurnId,
        processes: Processes,
        launch: Launch,
        bounds: Bounds,
        hears: PeerReceiver,
    ) -> None:
        self.conversation = conversation
        self.definition = definition
        self.owner = owner
        self.initialize_answer: Json = {}  # its answer to `initialize`
        self.capabilities = Capabilities()  # from that answer
        self.ended_event = asyncio.Event()  # set when none of its processes is alive
        self._why = ""  # why it ended; a text, as an error would keep the frames that raised it
        self.ended_at = math.inf  # when that was noticed
        self._seen: frozenset[tuple[int, int]] = frozenset()  # processes of its tree, at the last look
        self._settled = self._seen  # processes that belong to no turn
        self._processes = processes
        self._launch = launch
        self._bounds = bounds
        self._input = DeferredInput()
        self._lines = LineCutter(bounds.frame_bytes)
        self._words = StderrLog("agent.stderr", agent=definition.name, conversation=conversation)
        self._said = 0
        self._ending = False
        self.peer = AgentPeer(definition.name, self._input.write, hears)
        self._running: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        state = "over" if self.ended_event.is_set() else "lives"
        return f"<AgentProcess {self.definition.name} {self.owner} {state}>"

    @property
    def is_alive(self) -> bool:
        return self._running is not None and not self._why and not self._ending

    @property
    def program(self) -> str:
        """The program's own name, with its version."""
        info = self.initialize_answer.get("agentInfo")
        words = [str(info[key]) for key in ("name", "version") if info.get(key)] if isinstance(info, dict) else []
        return " ".join(words)[:200]

    @property
    def can_be_steered(self) -> bool:
        """Tell whether the agent takes input while a prompt is open."""
        return "steering" in self.capabilities

    async def start(self, client_capabilities: Json) -> None:
        """Start the program, and wait until it has answered `initialize`. Raises ChildEnded; then nothing is left."""
        self._running = asyncio.create_task(self._run(), name=self.owner, context=Context())  # not the turn's context
        limit_s = self.definition.start_s
        try:
            async with asyncio.timeout(limit_s):
                self.initialize_answer = await self._initialize(client_capabilities)
                self.capabilities = capabilities_of(self.initialize_answer)
        except TimeoutError:
            longer = f"`startup_timeout_seconds` in [agents.{self.definition.name}] gives it longer"
            self._note_end(f"it did not answer `initialize` within {limit_s:g} s; {longer}")
            await self.end(kill=True)
            raise self.ended_error() from None
        except BaseException:
            await self.end(kill=True)
            raise
        log.info("agent.ready", agent=self.definition.name, conversation=self.conversation, program=self.program)

    async def _initialize(self, client_capabilities: Json) -> Json:
        client = {"name": "greenroom", "title": "Greenroom", "version": VERSION}
        params = {"protocolVersion": PROTOCOL, "clientCapabilities": client_capabilities, "clientInfo": client}
        answer = await self.peer.request("initialize", params)
        about = answer if isinstance(answer, dict) else {}
        spoken = about.get("protocolVersion", PROTOCOL)
        if spoken != PROTOCOL:
            raise self._note_end(
                f"it speaks version {str(spoken)[:20]} of ACP, Greenroom speaks {PROTOCOL}; install a version of it "
                "that does"
            )
        return about

    def begin_turn(self) -> None:
        """Reset the counts that bound the output of a turn."""
        self._said = 0
        self.peer.begin_turn()

    # --- its processes ----------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Count the processes that live now as the program's own: they belong to no later turn."""
        if self.is_alive:
            self.new_processes()
            self.settle_seen()

    def settle_seen(self) -> None:
        """Do the same with the processes of the last look, without another one."""
        self._settled = self._seen

    def new_processes(self) -> frozenset[tuple[int, int]]:
        """Look for processes that began since the last settling; return each as pid and start time."""
        self._seen = frozenset(process.name for process in self._processes.living_processes(self.owner))
        return self._seen - self._settled

    # --- its end ----------------------------------------------------------------------------------------------------

    async def end(self, *, kill: bool = False, why: str = "it was ended") -> None:
        """End the whole process tree: TERM, a grace, KILL; with `kill`, without the grace. Return when none lives."""
        self._ending = True
        self._note_end(why)
        if kill:
            self.kill()
        await self._processes.end_turn(self.owner)
        if self._running is not None:
            await asyncio.wait({self._running})

    def kill(self) -> None:
        """End the grace of an end that is under way."""
        self._processes.kill_now(self.owner)

    def ended_error(self) -> ChildEnded:
        return ChildEnded(f"{self.definition.name} has ended{self._why and f': {self._why}'}")

    def _note_end(self, why: str) -> ChildEnded:
        """Note why the program ended, unless an earlier reason is noted, and return the error that says it."""
        if not self._why:
            self.ended_at = time.monotonic()
            self._why = why
        return self.ended_error()

    async def _run(self) -> None:
        """Run the program. The processes that it leaves are ended before its end is announced."""
        why = "it was ended"
        try:
            why = await self._run_to_the_end()
        except MessageTooLong:
            bound = self._bounds.describe_excess("frame_bytes", "a line of its output is too long")
            why = f"it was ended, because {bound}"
        except TooMuchOutput:
            bound = self._bounds.describe_excess("agent_turn_bytes", "it said too much in one turn")
            why = f"it was ended, because {bound}"
        except TooManyMisuses as error:
            why = (
                f"it was ended, because it sent {MISUSES:,} messages that nobody can answer in one turn, last {error}"
            )
        except OSError as error:  # it could not be confined, say
            why = f"it could not be started: {error}"
        except Exception as error:
            log.exception("agent.crashed_us", agent=self.definition.name)
            why = f"{type(error).__name__}: {error}"
        finally:
            self._note_end(why)
            await self._processes.end_turn(self.owner)
            self.peer.end(str(self.ended_error()))
            self.ended_event.set()
            log.info(
                "agent.ended", agent=self.definition.name, conversation=self.conversation, why=str(self.ended_error())
            )

    async def _run_to_the_end(self) -> str:
        output = Output(self._take, keep_bytes=KEEP_BYTES, live_bytes=READ_BYTES)
        async with self._launch(self.owner) as command:
            if self._ending:  # an end was asked for before there was a process
                return "it was ended before it began"
            result = await self._processes.run(command, output, self._input)
        return describe_end(result, self._words.text)

    async def _take(self, stream: Stream, piece: bytes) -> None:
        self._said += len(piece)
        if self._said > self._bounds.agent_turn_bytes:
            raise TooMuchOutput
        if stream == "stderr":
            self._words.take(piece)
            return
        for number, line in enumerate(self._lines.complete_lines(piece), 1):
            if line.strip():
                await self.peer.hear(line)
            if number % IN_A_ROW == 0:
                await asyncio.sleep(0)


def describe_end(result: Finished | NotStarted, words: str) -> str:
    """Describe how a program ended, with its last words."""
    if isinstance(result, NotStarted):
        return f"it could not be started: {result.reason}"
    code = result.exit_code
    end = f"it was killed by signal {code - 128}" if code > 128 else f"it exited with status {code}"
    return f"{end}{words and f', and said last: {words}'}"
