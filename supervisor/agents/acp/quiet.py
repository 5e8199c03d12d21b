"""Quiet in a turn: behind the answer, where it is the end, and before it, where people are told of it. Pure.

The answer to a prompt ends a turn, unless something goes on: an open tool use, or a process that began in the turn.
Then it waits until there are no signs of life for a while. What goes on silently is named, and the turn is over.
"""

from msgspec import Struct

SILENT_S = 2.0  # without a sign of life; agents that think write now and then, and what comes later is a turn
LOOK_S, LOOK_MOST_S = 0.05, 0.5  # between looks at the processes
TOLD_AFTER_S = 30.0  # without an update, and without a tool that runs; models that think write now and then


class Activity(Struct, frozen=True):
    """The things that go on after the answer. `silent_s`: since the last sign of life."""

    uses: int = 0
    processes: int = 0
    silent_s: float = 0.0
    prompted: bool = True  # otherwise the agent works by itself, and only silence tells that it is done
    asks: bool = False  # it waits for a person, however long that takes


def wait_s(now: Activity) -> float:
    """Return how long to wait before looking again; 0: the turn is over."""
    if now.asks:
        return LOOK_MOST_S
    if now.prompted and not (now.uses or now.processes):
        return 0.0
    return max(0.0, SILENT_S - now.silent_s)


def goes_on(now: Activity, agent: str) -> str:
    """Name what goes on although the turn is over; empty: nothing does."""
    parts = [
        _counted(now.uses, "tool use that it has not ended", "tool uses that it has not ended"),
        _counted(now.processes, "process that it began", "processes that it began"),
    ]
    told = " and ".join(part for part in parts if part)
    return f"{agent} has answered; what goes on behind it: {told}" if told else ""


def _counted(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}" if number else ""


class Silence:
    """Silence before the answer, and when people are told of it.

    Agents try again without a word where their model refuses them or can't be reached, for minutes. That is no reason
    to end them, and a reason to say so.
    """

    def __init__(self) -> None:
        self._next_s = 0.0

    def is_told(self, silent_s: float) -> bool:
        """Tell whether it is time to say so: after a while, and again each time that it has lasted twice as long."""
        if silent_s < TOLD_AFTER_S:
            self._next_s = TOLD_AFTER_S
            return False
        if silent_s < self._next_s:
            return False
        self._next_s = 2 * silent_s
        return True


def says_nothing(silent_s: float, agent: str) -> str:
    return (
        f"{agent} has not said anything for {silent_s:.0f} s, and uses no tool; the turn waits on, an interrupt "
        f"ends it. It may have no network or no login: `greenroom agents {agent} --check` tries it"
    )
