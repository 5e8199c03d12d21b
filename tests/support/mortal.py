"""A daemon that ends itself at a named place: `python mortal.py POINT:VISIT [ARGUMENT…]`, else like the real one.

The places are found from outside, by the SQL that is run, the files that are renamed and the calls that are made, so
the program itself knows nothing of them.
"""

import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from actors.messages.orders import AnswerAgent, SuspendAgent, Suspended
from supervisor.agents.output_batcher import OutputBatcher
from supervisor.agents.turn import Turn
from supervisor.daemon import daemon_start
from supervisor.engine.runner import Runner, RunningTurn
from supervisor.journal.transaction import Writer

Reached = Callable[[], None]


class CrashPoint(StrEnum):
    BEFORE_COMMIT = "before_commit"
    AFTER_COMMIT = "after_commit"
    IN_MIGRATION = "in_migration"
    IN_RETENTION = "in_retention"
    REPAIR_COPIED = "repair_copied"  # the salvage is complete, nothing has moved
    REPAIR_MOVED = "repair_moved"  # the damaged file is aside, nothing stands in its place
    ANSWER_ORDERED = "answer_ordered"  # an approval's answer is stored, and the agent has not heard of it
    SUSPENDING = "suspending"  # a turn that only waits is being parked: its task is about to go
    SUSPENDED = "suspended"  # its task has gone, and its session has not heard of it


def arm(point: CrashPoint, visit: int = 1) -> None:
    """End the process at the visit with this number, counted from now on."""
    reached = _kill_at(visit)
    match point:
        case CrashPoint.BEFORE_COMMIT:
            _watch_commits(before=reached)
        case CrashPoint.AFTER_COMMIT:
            _watch_commits(after=reached)
        case CrashPoint.IN_MIGRATION:
            _watch_sql("COMMIT", reached)  # the last statement of a piece
        case CrashPoint.IN_RETENTION:
            _watch_sql("UPDATE tails SET first_seq", reached)  # the events have gone
        case CrashPoint.REPAIR_COPIED:
            _watch_renames(lambda _, target: ".damaged-" in target, reached)
        case CrashPoint.REPAIR_MOVED:
            _watch_renames(lambda source, _: ".repaired-" in source, reached)
        case CrashPoint.ANSWER_ORDERED:
            _watch_calls(Turn, "take", lambda _, order: isinstance(order, AnswerAgent), reached)
        case CrashPoint.SUSPENDING:
            _watch_calls(Runner, "_tell", _suspends, reached)
        case CrashPoint.SUSPENDED:
            _watch_calls(OutputBatcher, "finish", lambda _, outcome: isinstance(outcome, Suspended), reached)


def _kill_at(visit: int) -> Reached:
    left = visit

    def reached() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return reached


def _watch_commits(before: Reached = lambda: None, after: Reached = lambda: None) -> None:
    original = Writer.transaction

    @contextmanager
    def transaction(self: Writer, *, durable: bool) -> Iterator[sqlite3.Connection]:
        with original(self, durable=durable) as db:
            yield db
            before()
        after()

    Writer.transaction = transaction  # type: ignore[method-assign]  # every writer's, also one that is open already


def _watch_sql(beginning: str, reached: Reached) -> None:
    """Watch the statements of connections that are opened from now on, before each runs."""

    def seen(statement: str) -> None:
        if statement.lstrip().startswith(beginning):
            reached()

    original = sqlite3.connect

    def connect(*arguments: Any, **more: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = original(*arguments, **more)
        db.set_trace_callback(seen)
        return db

    sqlite3.connect = connect  # type: ignore[assignment]  # all of the program's connections are made by that name


def _watch_renames(meant: Callable[[str, str], bool], reached: Reached) -> None:
    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "os.rename" and meant(str(arguments[0]), str(arguments[1])):
            reached()

    sys.addaudithook(hook)


def _watch_calls(owner: type, name: str, meant: Callable[..., bool], reached: Reached) -> None:
    original = getattr(owner, name)

    def watched(*arguments: object) -> object:
        if meant(*arguments):
            reached()
        return original(*arguments)

    setattr(owner, name, watched)


def _suspends(_: Runner, running: RunningTurn, order: object) -> bool:
    may = running.backend.resumable and running.turn.only_waits and not running.stopping
    return isinstance(order, SuspendAgent) and may


if __name__ == "__main__":
    name, _, number = sys.argv[1].partition(":")
    arm(CrashPoint(name), int(number or 1))
    sys.exit(daemon_start.main(sys.argv[2:]))
