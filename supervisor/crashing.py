"""Arms a named place where the daemon ends itself, for the tests of what it keeps. Read once, before it starts.

Without the variable nothing is armed, and nothing else in the program arms anything.
"""

import os
import signal
from collections.abc import Callable, MutableMapping

from supervisor.journal.crashpoints import HOOKS, CrashPoint

VARIABLE = "GREENROOM_CRASH_AT"  # POINT or POINT:VISIT


def arm(environ: MutableMapping[str, str]) -> None:
    """Takes the variable away, so that no command inherits it."""
    told = environ.pop(VARIABLE, "")
    if told:
        name, _, visit = told.partition(":")
        HOOKS[CrashPoint(name)] = kill_at(int(visit or 1))


def kill_at(visit: int) -> Callable[[], None]:
    """Nothing until the visit with this number, then the end without a word."""
    left = visit

    def hook() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook
