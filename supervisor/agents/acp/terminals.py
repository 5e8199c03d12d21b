"""Terminals of a third-party agent: commands in the conversation's sandbox, until they are released. Loop thread.

Each has an owner of its own, which ends with the turn: no process of a terminal outlives its turn, or its release.
"""

import asyncio
import codecs
import itertools
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import structlog
from msgspec import Struct

from actors.messages.orders import RunAgent
from actors.vocabulary.ids import TurnId
from supervisor.agents.acp.failures import AgentRefused
from supervisor.agents.acp.tool_uses import ShownTerminal
from supervisor.agents.acp.wire import PARAMS_INVALID
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.processes.command import Finished, NotStarted
from supervisor.work.processes.output import Output, Stream
from supervisor.work.processes.processes import Processes
from supervisor.work.processes.spawn import reason
from supervisor.work.sandbox.order import ConfinedCommand

MOST = 32  # unreleased terminals of a turn; each keeps its output
ALL = 1 << 62  # bytes of output that are read: the kept part is bounded here
# Bytes that all terminals of a turn may keep, and the most of each once that is used up, as all of it is stored.
KEPT, KEPT_OF_EACH = 8 << 20, 64 << 10
# Bytes that the terminals write at full speed; after that 200 pieces a second in all: a command that writes without
# end waits for its reader, and holds up nothing else.
AT_ONCE, PAUSE_S = 1 << 20, 0.005
SIGNALLED = 128  # exit codes above it are signals, as in shells

log = structlog.get_logger()


class RequestedCommand(Struct, frozen=True):
    """A command that the agent requests. The last `keep` bytes of its output are kept."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    keep: int


class Terminal:
    """A command, from its start to its release."""

    def __init__(self, keep: int) -> None:
        self.ended: asyncio.Future[Finished | NotStarted] = asyncio.get_running_loop().create_future()
        self._keep = keep
        self._kept = bytearray()
        self._dropped = False
        self.killed = False

    def take(self, chunk: bytes) -> None:
        self._kept += chunk
        if len(self._kept) > self._keep:
            del self._kept[: len(self._kept) - self._keep]
            while self._kept and self._kept[0] & 0xC0 == 0x80:  # the rest of a cut character
                del self._kept[0]
            self._dropped = True

    @property
    def size(self) -> int:
        return len(self._kept)

    def narrow(self, keep: int) -> None:
        """Keep less from now on."""
        self._keep = min(self._keep, keep)
        self.take(b"")

    @property
    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")

    def output(self) -> dict[str, object]:
        status = {"exitStatus": self.status()} if self.ended.done() else {}
        return {"output": self.text, "truncated": self._dropped, **status}

    def status(self) -> dict[str, object]:
        ended = self.ended.result()
        code = ended.exit_code if isinstance(ended, Finished) else None
        if code is None or code < 0 or code > SIGNALLED:
            return {"exitCode": None, "signal": None if code is None else str(max(code - SIGNALLED, 9))}
        return {"exitCode": code, "signal": None}

    def snapshot(self) -> ShownTerminal:
        done = self.ended.result() if self.ended.done() else None
        return ShownTerminal(self.text, done.exit_code if isinstance(done, Finished) else None)


class TerminalOwner(Protocol):
    """The owner of a terminal, for as long as its command runs. `name` is the terminal's id."""

    def confine(self, wanted: RequestedCommand) -> AbstractContextManager[ConfinedCommand]:
        """Confine the command. Runs in a worker thread."""

    async def terminal_wrote(self, name: str, piece: str) -> None: ...

    def terminal_ended(self, name: str, terminal: Terminal) -> None: ...


class Terminals:
    """The terminals of a turn."""

    def __init__(self, processes: Processes, order: RunAgent, umask: int) -> None:
        self._processes = processes
        self._conversation = order.conversation
        self._turn = order.turn
        self._umask = umask
        self._open: dict[str, Terminal] = {}
        self._released: dict[str, ShownTerminal] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._numbers = itertools.count(1)
        self._stored = 0  # bytes that ended terminals keep
        self._taken = 0  # bytes that all terminals have written
        self._pace = asyncio.Lock()

    def create(self, wanted: RequestedCommand, owner: TerminalOwner) -> str:
        if len(self._open) >= MOST:
            raise AgentRefused(f"{MOST} terminals are open in this turn; release one of them first", PARAMS_INVALID)
        name = f"{self._turn}-terminal-{next(self._numbers)}"
        terminal = self._open[name] = Terminal(wanted.keep)
        self._processes.tie(TurnId(name), self._turn)
        self._running[name] = asyncio.create_task(self._run(name, terminal, wanted, owner), name=name)
        return name

    def output(self, name: str) -> dict[str, object]:
        return self._terminal(name).output()

    async def wait(self, name: str) -> dict[str, object]:
        terminal = self._terminal(name)
        await asyncio.wait({terminal.ended})
        return terminal.status()

    async def kill(self, name: str) -> None:
        """End the command with all its processes. Its output can still be read."""
        self._terminal(name).killed = True
        await self._processes.end_turn(TurnId(name))

    async def release(self, name: str) -> None:
        self._terminal(name)
        await self._end(name)
        self._released[name] = ShownTerminal("", self._open.pop(name).snapshot().exit_code)
        if len(self._released) > MOST:
            del self._released[next(iter(self._released))]

    def snapshot(self, name: str) -> ShownTerminal | None:
        """Return the output and exit code that a tool call shows; of a released terminal the exit code alone."""
        terminal = self._open.get(name)
        return terminal.snapshot() if terminal is not None else self._released.get(name)

    async def aclose(self) -> None:
        """End all terminals: the turn is over."""
        await asyncio.gather(*map(self._end, list(self._running)))
        self._open.clear()

    def _terminal(self, name: str) -> Terminal:
        if name not in self._open:
            raise AgentRefused(f"there is no terminal {name[:100]!r} in this turn", PARAMS_INVALID)
        return self._open[name]

    async def _end(self, name: str) -> None:
        self._open[name].killed = True
        await self._processes.end_turn(TurnId(name))
        await asyncio.wait({self._running.pop(name)})

    async def _run(self, name: str, terminal: Terminal, wanted: RequestedCommand, owner: TerminalOwner) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        async def take(_: Stream, chunk: bytes) -> None:
            terminal.take(chunk)
            live = sum(other.size for other in self._open.values() if not other.ended.done())
            if self._stored + live > KEPT:
                terminal.narrow(KEPT_OF_EACH)
            await owner.terminal_wrote(name, decoder.decode(chunk))
            await self._hold_back(len(chunk))

        result: Finished | NotStarted = NotStarted("it was ended before it began")
        try:
            async with in_a_thread(lambda: owner.confine(wanted)) as confined:
                if not terminal.killed:
                    command = confined.command(self._conversation, TurnId(name), None, self._umask)
                    result = await self._processes.run(command, Output(take, keep_bytes=0, live_bytes=ALL))
        except OSError as error:
            result = NotStarted(reason(error))
        except Exception as error:
            log.exception("agent.terminal_failed", conversation=self._conversation)
            result = NotStarted(type(error).__name__)
        finally:
            if isinstance(result, NotStarted):
                terminal.take(f"{result}\n".encode())
            terminal.ended.set_result(result)
            owner.terminal_ended(name, terminal)
            self._stored += terminal.size

    async def _hold_back(self, taken: int) -> None:
        """Pause after each piece, once the terminals have written more than AT_ONCE."""
        self._taken += taken
        if self._taken > AT_ONCE:
            async with self._pace:
                await asyncio.sleep(PAUSE_S)
