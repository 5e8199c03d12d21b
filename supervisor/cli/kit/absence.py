"""A daemon that is away or does not answer, for verbs that look on: what is said, and the wait until it is back.

The only place that connects again. It starts no daemon. A person at a terminal sees what is waited for and may leave,
so nothing ends the wait there; in a pipe it ends after a while with the exit code for a daemon that does not run.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os.path import isdir
from typing import TypeVar

from supervisor.cli.kit.client import Control, DaemonDown, Lost, Onlooker
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.terminal import is_terminal
from supervisor.paths import locate

T = TypeVar("T")
RETURN_S = 30.0  # in a pipe: a restart takes seconds, the repair of a journal longer
LOOK_S = 0.2  # between looks for the daemon
DIAL_S = (0.5, 1.0, 2.0)  # for its welcome, one look after the other: short, as keys wait meanwhile
SILENT_S = 3.0  # before a daemon that has nothing to say is asked whether it is there
SLOW_S = 5.0  # without an answer, before that is said: nothing that a daemon does takes a second

AWAY = "the daemon went away; waiting for it: `greenroom up` starts it"
BACK = "the daemon is back"
SLOW = f"the daemon has not answered for {SLOW_S:g} s; `greenroom up --force` replaces it"
ANSWERS = "the daemon answers again"


def say(text: str) -> None:
    print(f"greenroom: {text}", file=sys.stderr, flush=True)


class Absence:
    """The time from a loss to the return of the daemon."""

    def __init__(self, lost: Lost, control: Control, *, patient: bool) -> None:
        self._lost = lost
        self._control = control
        self._instance = control.welcome["instance"]
        self._hung = 0  # looks at which it was there and did not greet us
        self._next = time.monotonic()
        self._end = None if patient else self._next + RETURN_S

    def look(self) -> bool:
        """Look, and tell whether the control is connected again. Raises a Problem when it is not waited for."""
        now = time.monotonic()
        if now < self._next:
            return False
        try:
            self._control.connect_again(DIAL_S[min(self._hung, len(DIAL_S) - 1)])
        except Problem as problem:
            if not (isinstance(problem, DaemonDown) or problem.code in {"timed_out", "overloaded"}):
                raise
            self._hung += problem.code == "timed_out"
        else:
            if self._control.welcome["instance"] == self._instance:  # it has never been away
                raise DaemonDown("the daemon ended this connection", "run the same command again to come back")
            return True
        if not isdir(locate().state):  # noqa: PTH112  # pathlib is slow to import
            raise DaemonDown("the daemon went away, and its home is gone", "`greenroom up` begins a new one")
        if self._end is not None and now > self._end:
            raise self._lost
        self._next = time.monotonic() + LOOK_S
        return False


class Heartbeat:
    """Questions to a daemon that says nothing, on a connection whose owner reads it. `tell` hears of each change."""

    slow = False

    def __init__(self, control: Control, tell: Callable[[bool], None]) -> None:
        self._control = control
        self._tell = tell
        self.heard()

    def heard(self) -> None:
        """The daemon has said something, or is another."""
        self._last, self._asked = time.monotonic(), False
        self._note(slow=False)

    def look(self) -> None:
        """Ask after a silence, and say if that is not answered either."""
        silent_s = time.monotonic() - self._last
        if not self._asked and silent_s >= SILENT_S:
            self._asked, self._last = True, time.monotonic()
            self._control.send("request/cancel", request=0)  # the smallest question there is
        elif self._asked and silent_s >= SLOW_S:
            self._note(slow=True)

    def _note(self, *, slow: bool) -> None:
        if slow != self.slow:
            self.slow = slow
            self._tell(slow)


class SlowAnswers(Onlooker):
    """A line about a daemon that does not answer, and one when it does."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said = False

    def waiting(self, waited_s: float) -> None:
        if waited_s >= SLOW_S and not self._said:
            self._said = True
            self._say(SLOW)

    def answered(self) -> None:
        if self._said:
            self._said = False
            self._say(ANSWERS)


def through_absences(work: Callable[[], T], tell: Callable[[str], None]) -> T:
    """Do work that may be done again, until it is done while the daemon is there."""
    while True:
        try:
            return work()
        except Lost as lost:
            await_return(lost, tell)


def await_return(lost: Lost, tell: Callable[[str], None], late: Callable[[], None] = lambda: None) -> None:
    """Return when the connection is there again; tell of it before and after. What `late` raises ends the wait."""
    if lost.control is None:
        raise lost
    tell(AWAY)
    absence = Absence(lost, lost.control, patient=is_terminal())
    while not absence.look():
        late()
        time.sleep(LOOK_S)
    tell(BACK)


@contextmanager
def slowness_told(tell: Callable[[str], None]) -> Iterator[None]:
    """Wait for answers as long as they take, on every connection of this process, and tell when one takes long."""
    Control.onlooker = SlowAnswers(tell)
    try:
        yield
    finally:
        Control.onlooker = None
