"""Named places where a test may end the process. Nothing happens there otherwise."""

from collections.abc import Callable
from enum import StrEnum


class CrashPoint(StrEnum):
    BEFORE_COMMIT = "before_commit"
    AFTER_COMMIT = "after_commit"
    IN_MIGRATION = "in_migration"
    IN_RETENTION = "in_retention"
    REPAIR_COPIED = "repair_copied"  # the salvage is complete, nothing has moved
    REPAIR_MOVED = "repair_moved"  # the damaged file was set aside, nothing is in its place
    ANSWER_ORDERED = "answer_ordered"  # an approval's answer is stored, and the agent has not heard of it
    SUSPENDING = "suspending"  # a turn that only waits is being parked: its task is about to end
    SUSPENDED = "suspended"  # its task has ended, and its session has not heard of it


HOOKS: dict[CrashPoint, Callable[[], None]] = {}


def reached(point: CrashPoint) -> None:
    hook = HOOKS.get(point)
    if hook is not None:
        hook()
