"""Reconnecting to a daemon that went away or does not answer: the notices, and the wait for its return.

The only module that connects again; it never starts a daemon. On a terminal the wait has no limit, because the person
reads the notice and can leave; in a pipe it ends after `RETURN_S` with the exit code for a daemon that does not run.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os.path import isdir
from typing import TypeVar

from supervisor.cli.kit.client import Control, DaemonLost, NoDaemon, Onlooker
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.terminal import is_terminal
from supervisor.paths import locate

T = TypeVar("T")
RETURN_S = 30.0  # in a pipe: a restart takes seconds, the repair of a journal longer
LOOK_S = 0.2  # between attempts to connect
DIAL_S = (0.5, 1.0, 2.0)  # for the welcome, attempt by attempt: short, because keys wait meanwhile
SILENT_S = 3.0  # of silence, before the daemon is asked whether it is there
SLOW_S = 5.0  # without an answer, before a notice: nothing that a daemon does takes a second

AWAY_NOTICE = "the daemon went away; waiting for it: `greenroom up` starts it"
BACK_NOTICE = "the daemon is back"
SLOW_NOTICE = f"the daemon has not answered for {SLOW_S:g} s; `greenroom up --force` replaces it"
ANSWERS_NOTICE = "the daemon answers again"


def say(text: str) -> None:
    print(f"greenroom: {text}", file=sys.stderr, flush=True)


class Absence:
    """The time from a loss to the return of the daemon."""

    def __init__(self, lost: DaemonLost, control: Control, *, patient: bool) -> None:
        self._lost = lost
        self._control = control
        self._instance = control.welcome["instance"]
        self._hung = 0  # attempts at which the daemon was there but sent no welcome
        self._next = time.monotonic()
        self._end = None if patient else self._next + RETURN_S

    def look(self) -> bool:
        """Try to connect again, and return whether that worked. Raise a Problem if waiting has no use."""
        now = time.monotonic()
        if now < self._next:
            return False
        try:
            self._control.connect_again(DIAL_S[min(self._hung, len(DIAL_S) - 1)])
        except Problem as problem:
            if not (isinstance(problem, NoDaemon) or problem.code in {"timed_out", "overloaded"}):
                raise
            self._hung += problem.code == "timed_out"
        else:
            if self._control.welcome["instance"] == self._instance:  # the daemon was never away
                raise NoDaemon("the daemon ended this connection", "run the same command again to come back")
            return True
        if not isdir(locate().state):  # noqa: PTH112  # pathlib is slow to import
            raise NoDaemon("the daemon went away, and its home is gone", "`greenroom up` begins a new one")
        if self._end is not None and now > self._end:
            raise self._lost
        self._next = time.monotonic() + LOOK_S
        return False


class Heartbeat:
    """A check that a silent daemon still answers; the owner of the connection reads the answers.

    `tell` is called when the daemon becomes slow, and when it answers again.
    """

    slow = False

    def __init__(self, control: Control, tell: Callable[[bool], None]) -> None:
        self._control = control
        self._tell = tell
        self.reset()

    def reset(self) -> None:
        """Start the silence anew: the daemon has sent something, or another daemon has taken its place."""
        self._last, self._asked = time.monotonic(), False
        self._note(slow=False)

    def look(self) -> None:
        """Ask the daemon after a silence, and report it as slow if no answer comes."""
        silent_s = time.monotonic() - self._last
        if not self._asked and silent_s >= SILENT_S:
            self._asked, self._last = True, time.monotonic()
            self._control.begin("request/cancel", request=0)  # the smallest question there is
        elif self._asked and silent_s >= SLOW_S:
            self._note(slow=True)

    def _note(self, *, slow: bool) -> None:
        if slow != self.slow:
            self.slow = slow
            self._tell(slow)


class SlowAnswers(Onlooker):
    """A notice while the daemon does not answer, and another when it answers again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said = False

    def note_wait(self, waited_s: float) -> None:
        if waited_s >= SLOW_S and not self._said:
            self._said = True
            self._say(SLOW_NOTICE)

    def note_answer(self) -> None:
        if self._said:
            self._said = False
            self._say(ANSWERS_NOTICE)


def repeat_after_absences(work: Callable[[], T], tell: Callable[[str], None]) -> T:
    """Do work that may be repeated, and repeat it after each absence of the daemon until it is done."""
    while True:
        try:
            return work()
        except DaemonLost as lost:
            await_return(lost, tell)


def await_return(lost: DaemonLost, tell: Callable[[str], None], check: Callable[[], None] = lambda: None) -> None:
    """Wait until the control is connected again, with a notice before and after. An exception of `check` ends it."""
    if lost.control is None:
        raise lost
    tell(AWAY_NOTICE)
    absence = Absence(lost, lost.control, patient=is_terminal())
    while not absence.look():
        check()
        time.sleep(LOOK_S)
    tell(BACK_NOTICE)


@contextmanager
def report_slowness(tell: Callable[[str], None]) -> Iterator[None]:
    """Wait for answers without a limit, on every connection of this process, with a notice about a slow daemon."""
    Control.onlooker = SlowAnswers(tell)
    try:
        yield
    finally:
        Control.onlooker = None
