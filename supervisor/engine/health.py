"""Checks of the journal's files and the home's lock every few seconds, on which a running daemon depends.

Owns the timer and tells the clients. Lives on the loop; the checks run on the journalist's thread, which
may wait for a disk.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import structlog

from actors.messages.conversation import Address
from actors.messages.journal import Chore, ChoreDone
from actors.runtime.clock import Clock
from actors.vocabulary.errors import GreenroomError

EVERY_S = 2.0

Look = Callable[[], str | None]  # a text for people if something is wrong
log = structlog.get_logger()


class Health:
    """The checks. `trouble`: the present problem and its remedy, or None. Every client is told of each change."""

    def __init__(
        self,
        looks: Sequence[Look],
        journalist: Address[Chore],
        clock: Clock,
        announce: Callable[[str], None],
        every_s: float = EVERY_S,
    ) -> None:
        self.trouble: str | None = None
        self._looks = looks
        self._journalist = journalist
        self._clock = clock
        self._announce = announce
        self._every_s = every_s

    def begin(self) -> None:
        self._clock.tell_later(self._every_s, self, _LOOK)

    def tell(self, message: ChoreDone | Literal["look"]) -> None:
        if message is _LOOK:
            self._journalist.tell(Chore(self._look, self))
        elif isinstance(message, ChoreDone):
            self._take_result(message.result)
            self._clock.tell_later(self._every_s, self, _LOOK)

    def _look(self) -> str:
        return "; ".join(problem for look in self._looks if (problem := look()) is not None)

    def _take_result(self, result: object) -> None:
        problem = result.message if isinstance(result, GreenroomError) else str(result)
        if problem == (self.trouble or ""):
            return
        self.trouble = problem or None
        if problem:
            log.error("health.trouble", reason=problem)
            self._announce(f"the Greenroom daemon is not well: {problem}")
        else:
            log.warning("health.well_again")
            self._announce("the Greenroom daemon is well again")


_LOOK: Literal["look"] = "look"
