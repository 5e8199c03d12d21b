"""Detects inactivity in a turn: after the answer it ends the turn, before it a notice tells people. Pure.

The answer to a prompt ends a turn, unless something goes on: an open tool use, or a process that began in the turn.
Then the turn waits until there is no sign of life for a while. It names the work that goes on silently, and is over.
"""

from msgspec import Struct

SILENT_S = 2.0  # without a sign of life; agents that think write now and then, and later work gets a turn of its own
LOOK_S, LOOK_MOST_S = 0.05, 0.5  # between looks at the processes
TOLD_AFTER_S = 30.0  # without an update, and without a tool that runs; models that think write now and then


class Activity(Struct, frozen=True):
    """The work that goes on after the answer. `silent_s`: since the last sign of life."""

    uses: int = 0
    processes: int = 0
    silent_s: float = 0.0
    prompted: bool = True  # if not, the agent works by itself, and only silence shows that it is done
    asks: bool = False  # the agent waits for a person, however long that takes


def wait_s(now: Activity) -> float:
    """Return how long to wait before looking again; 0: the turn is over."""
    if now.asks:
        return LOOK_MOST_S
    if now.prompted and not (now.uses or now.processes):
        return 0.0
    return max(0.0, SILENT_S - now.silent_s)


def work_goes_on_notice(now: Activity, agent: str) -> str:
    """Return the notice of work that goes on although the turn is over; empty if there is none."""
    parts = [
        _count_phrase(now.uses, "tool use that it has not ended", "tool uses that it has not ended"),
        _count_phrase(now.processes, "process that it began", "processes that it began"),
    ]
    work = " and ".join(part for part in parts if part)
    return f"{agent} has answered; what goes on behind it: {work}" if work else ""


def _count_phrase(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}" if number else ""


class Silence:
    """Decides when people are told that an agent is silent before its answer.

    Agents retry for minutes without a word if their model refuses them or can't be reached. That is no reason to end
    them, but a reason to tell people.
    """

    def __init__(self) -> None:
        self._due_s = 0.0

    def is_notice_due(self, silent_s: float) -> bool:
        """Tell whether a notice is due: after a while, and again each time that the silence has doubled."""
        if silent_s < TOLD_AFTER_S:
            self._due_s = TOLD_AFTER_S
            return False
        if silent_s < self._due_s:
            return False
        self._due_s = 2 * silent_s
        return True


def silence_notice(silent_s: float, agent: str) -> str:
    return (
        f"{agent} has not said anything for {silent_s:.0f} s, and uses no tool; the turn waits on, an interrupt "
        f"ends it. It may have no network or no login: `greenroom agents {agent} --check` tries it"
    )
