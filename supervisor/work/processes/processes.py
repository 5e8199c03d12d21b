"""The owner of every process of every turn: starts commands, reads them, and ends the processes that they leave.

One per daemon, on the loop thread. Cancelling a run interrupts its turn: no process of the turn is alive when the
cancellation is raised again. No other code of the daemon may spawn into a session of its own.
"""

import asyncio
import itertools
import os
import time
from functools import partial
from pathlib import Path
from typing import Self

import structlog

from actors.vocabulary.ids import TurnId
from supervisor.work.processes.command import COMMAND, CONVERSATION, INSTANCE, TURN, Command, Finished, NotStarted
from supervisor.work.processes.ending import end
from supervisor.work.processes.exits import settle
from supervisor.work.processes.guard import Guard
from supervisor.work.processes.input import Input
from supervisor.work.processes.output import Output
from supervisor.work.processes.pipes import Pipe, Pump
from supervisor.work.processes.platform import table_of_this_system, tags_of_this_process
from supervisor.work.processes.procfs import gather_orphans
from supervisor.work.processes.spawn import ChildProcess, reason, spawn
from supervisor.work.processes.table import Process
from supervisor.work.processes.tags import ProcessLedger
from supervisor.work.processes.tree import Scope, Tree

GRACE_S = 1.0  # from TERM to KILL
DRAIN_S = 0.05  # after a command's end, for a pipeline's last output; later writers are in the background
REAP_SOON_S = 0.1
REAP_S = 5.0  # between removals of dead orphans, each of which costs an entry in the process table

log = structlog.get_logger()


class _Turn:
    """The state of a turn from its first command to its end."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.hurry: asyncio.Future[None] = loop.create_future()
        self.ending: asyncio.Task[bool] | None = None
        self.background: list[Pipe] = []  # held open by background processes of its commands
        self.tied: set[TurnId] = set()  # owners of jobs that end with it


class Processes:
    def __init__(self, ledger_path: Path, instance: str, grace_s: float = GRACE_S, *, guarded: bool = False) -> None:
        """`guarded`: if this process is killed, its commands are ended at once, not at the next start."""
        self._ledger = ProcessLedger(ledger_path)
        self._instance = instance
        self._grace_s = grace_s
        self._table = table_of_this_system()
        self._tree = Tree(self._table, instance)
        self._turns: dict[TurnId, _Turn] = {}
        self._runs = itertools.count(1)
        self._life = f"{os.getpid()}-{self._table.now()}"
        tags = tags_of_this_process()
        self._span = tags.span if tags else None
        self._guard = Guard(f"{COMMAND}={self._life}-", grace_s, self._span) if guarded else None
        self._reaping: asyncio.TimerHandle | None = None
        self._survivors = 0

    async def __aenter__(self) -> Self:
        gather_orphans(on=True)
        if self._span is not None:
            try:
                self._ledger.claim(self._table.boot, self._span.top)
            except OSError as error:  # a full disk: by their marks the next life still recognises most processes
                log.warning("ledger.failed", error=str(error))
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(self.end_turn(turn) for turn in list(self._turns)))
        if self._guard is not None:
            self._guard.close()
        if self._span is not None:
            self._ledger.withdraw(self._table.boot, self._span.top)
        gather_orphans(on=False)

    def __repr__(self) -> str:
        return f"<Processes {self.statistics()}>"

    def statistics(self) -> dict[str, int]:
        return {
            "running": len(self._tree.children),
            "turns": len(self._turns),
            "background_pipes": sum(len(turn.background) for turn in self._turns.values()),
            "survivors": self._survivors,
        }

    async def run(self, command: Command, output: Output, given: Input | None = None) -> Finished | NotStarted:
        """Run a command, with no input or `given`. At the return its own process is gone; after a timeout, its tree.

        Processes that it left in the background on purpose live on until `end_turn`.
        """
        turn = self._open(command.turn)
        run = f"{self._life}-{next(self._runs)}"
        if self._guard is not None:
            self._guard.watch()
        try:
            child = self._spawn(command, run, stdin=given is not None)
        except (OSError, ValueError) as error:
            return NotStarted(reason(error))
        self._tree.children[child.pid] = child
        if turn.ending is not None and turn.ending.done():
            turn.ending = None  # that end has not seen this run
            self._tree.ending.discard(command.turn)
        pump = Pump(child.stdout, child.stderr, output)
        if given is not None and child.stdin is not None:
            given.open(child.stdin)
        try:
            return await self._to_the_end(child, pump, command.timeout_s)
        except BaseException:
            await self._interrupt(command.turn, turn)
            raise
        finally:
            if given is not None:
                given.close()
            self._put_away(turn, child, pump)

    def kill_now(self, turn: TurnId) -> None:
        """Skip the grace of every end, present or future, in this turn."""
        if turn in self._turns:
            settle(self._turns[turn].hurry)
            for tied in self._turns[turn].tied:
                self.kill_now(tied)

    def is_open(self, turn: TurnId) -> bool:
        """Tell whether a turn has begun and its processes are not being ended."""
        return turn in self._turns and self._turns[turn].ending is None

    def living_processes(self, turn: TurnId) -> list[Process]:
        """Find the living processes of a turn's commands. Reads six files for each of them, and four for our own."""
        return self._tree.find_all(Scope(turn)) if turn in self._turns else []

    def tie(self, job: TurnId, turn: TurnId) -> None:
        """Make the end of the turn end a job as well, whose processes have an owner of their own."""
        self._open(turn).tied.add(job)

    async def end_turn(self, turn: TurnId) -> None:
        """End all processes that the turn's commands have left. Those that can't be ended are logged and counted."""
        ending = self._turns.get(turn)
        if ending is not None:
            try:
                await asyncio.gather(self._interrupt(turn, ending), *map(self.end_turn, ending.tied))
            finally:
                self._close(turn)

    def _open(self, turn: TurnId) -> _Turn:
        if turn not in self._turns:
            self._turns[turn] = _Turn()
            self._tree.open(turn)
        if self._reaping is None:
            self._reaping = asyncio.get_running_loop().call_later(REAP_S, self._reap)
        return self._turns[turn]

    def _close(self, turn: TurnId) -> None:
        if (closed := self._turns.pop(turn, None)) is not None:
            for pipe in closed.background:
                pipe.close()
            self._tree.close(turn)
        if not self._turns and self._reaping is not None:
            self._reaping.cancel()
            self._reaping = None

    def reap_soon(self) -> None:
        """Reap the dead processes of a program that belongs to no turn, a moment after its end."""
        asyncio.get_running_loop().call_later(REAP_SOON_S, self._tree.reap)

    def _reap(self) -> None:
        self._tree.reap()
        self._reaping = asyncio.get_running_loop().call_later(REAP_S, self._reap)

    def _spawn(self, command: Command, run: str, *, stdin: bool) -> ChildProcess:
        """Spawn a command with an inherited number of its own: that is lowered before, and once more after."""
        tags = tags_of_this_process()
        self._tree.enter(run, command.turn, tags.lower() if tags else None)
        try:
            return spawn(command, run, self._marks(command, run), stdin=stdin)
        finally:
            if tags:
                tags.lower()

    def _marks(self, command: Command, run: str) -> dict[str, str]:
        return {INSTANCE: self._instance, CONVERSATION: command.conversation, TURN: command.turn, COMMAND: run}

    async def _to_the_end(self, child: ChildProcess, pump: Pump, timeout_s: float | None) -> Finished:
        began = time.monotonic()
        ends: set[asyncio.Future[None]] = {child.exit.future, pump.task}
        await asyncio.wait(ends, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if pump.task.done():
            await pump.task  # it ends by itself only if its taker raised
        duration_s = time.monotonic() - began
        if timed_out := not child.exit.future.done():
            scope, never = Scope(child.turn, child.run), asyncio.get_running_loop().create_future()
            await _wait_through(asyncio.create_task(self._end(scope, never)))
        await pump.wait_for_end(DRAIN_S)
        await pump.finish()
        status = child.status()
        exit_code = -1 if timed_out or status is None else status
        return Finished(exit_code, timed_out, duration_s)

    async def _interrupt(self, turn_id: TurnId, turn: _Turn) -> None:
        """End the turn, once for all waiters; a cancelled waiter hurries it.

        An end that found nothing stays valid until the next command starts, which discards it.
        """
        if turn.ending is None or (turn.ending.done() and not _found_nothing(turn.ending)):
            self._tree.ending.add(turn_id)
            turn.ending = asyncio.create_task(self._end(Scope(turn_id), turn.hurry))
        await _wait_through(turn.ending, turn.hurry)

    async def _end(self, scope: Scope, hurry: asyncio.Future[None]) -> bool:
        """End the processes of a scope; False if some could not be ended."""
        tree = self._tree
        left = await end(partial(tree.find, scope), lambda: tree.leaders(scope), self._grace_s, hurry)
        tree.reap()
        if left:
            self._survivors += len(left)
            log.error("processes.survived", turn=scope.turn, pids=[process.pid for process in left])
        return not left

    def _put_away(self, turn: _Turn, child: ChildProcess, pump: Pump) -> None:
        for pipe in pump.stop():
            if self._turns.get(child.turn) is turn:
                turn.background.append(pipe)
                pipe.sink()
            else:
                pipe.close()
        turn.background = [pipe for pipe in turn.background if not pipe.ended.done()]
        child.status()
        child.close()
        del self._tree.children[child.pid]


def _found_nothing(ending: asyncio.Task[bool]) -> bool:
    return not ending.cancelled() and ending.exception() is None and ending.result()


async def _wait_through(task: asyncio.Task[bool], hurry: asyncio.Future[None] | None = None) -> None:
    """Wait for the task even if the waiter is cancelled; the cancellation is raised after the task."""
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
            if hurry is not None:
                settle(hurry)
    if cancelled:
        raise asyncio.CancelledError
    task.result()
