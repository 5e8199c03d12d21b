"""The timer of retention: old events are deleted in small steps on the writer's thread, as the config says.

Lives on the loop and owns only the schedule: the registry chooses the conversations to delete, the journal the
events. Between two steps the writer commits the events that have come in.
"""

import time
from collections.abc import Callable
from typing import Literal

import structlog

from actors.messages.conversation import Address
from actors.messages.journal import Chore, ChoreDone
from actors.messages.routing import Trim
from actors.runtime.clock import Clock
from actors.vocabulary.errors import GreenroomError
from supervisor.config.greenroom_table import RetentionTable
from supervisor.journal.retention import Retention

FIRST_S = 60.0  # after the start, when the first clients have been served
EVERY_S = 3600.0  # between passes: events that are kept for days can wait an hour
STEP_S = 0.05  # between steps of a pass: the disk is for conversations first
DAY_S = 86_400.0

log = structlog.get_logger()


class RetentionTimer:
    """An Address for its own alarm and for the journalist's answers; exactly one of the two is due at any time."""

    def __init__(
        self,
        prune: Callable[[float, Retention], bool],
        journalist: Address[Chore],
        registry: Address[Trim],
        clock: Clock,
        wanted: Callable[[], RetentionTable],
        every_s: float = EVERY_S,
    ) -> None:
        self._prune = prune
        self._journalist = journalist
        self._registry = registry
        self._clock = clock
        self._wanted = wanted
        self._every_s = every_s
        self._began = 0.0
        self._steps = 0

    def begin(self, after_s: float = FIRST_S) -> None:
        self._clock.tell_later(after_s, self, _LOOK)

    def tell(self, message: ChoreDone | Literal["look"]) -> None:
        if isinstance(message, ChoreDone):
            self._take_result(message.result)
        elif message is _LOOK:
            self._look()

    def _look(self) -> None:
        wanted, now = self._wanted(), self._clock.now()
        policy = retention(wanted)
        if self._steps == 0:
            self._began = time.monotonic()
            self._trim(wanted, now)
        self._journalist.tell(Chore(lambda: self._prune(now, policy), self))

    def _trim(self, wanted: RetentionTable, now: float) -> None:
        if wanted.max_conversations or wanted.max_age_days:
            too_old = now - wanted.max_age_days * DAY_S if wanted.max_age_days else None
            self._registry.tell(Trim(wanted.max_conversations or None, too_old))

    def _take_result(self, result: object) -> None:
        if isinstance(result, GreenroomError):
            log.warning("retention.failed", code=result.code, reason=result.message)
            self._rest()
            return
        self._steps += 1
        if result:
            self._clock.tell_later(STEP_S, self, _LOOK)
        else:
            log.debug("retention.complete", steps=self._steps, took_s=round(time.monotonic() - self._began, 3))
            self._rest()

    def _rest(self) -> None:
        self._steps = 0
        self._clock.tell_later(self._every_s, self, _LOOK)


def retention(wanted: RetentionTable) -> Retention:
    """The journal's policy; even an empty policy makes it free the space of deleted events."""
    return Retention(
        max_age_s=wanted.max_age_days * DAY_S if wanted.max_age_days else None, max_events=wanted.max_events or None
    )


_LOOK: Literal["look"] = "look"
