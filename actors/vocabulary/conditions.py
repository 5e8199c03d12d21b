"""The condition of a conversation in one word, and the ends of turns. A leaf."""

from enum import StrEnum
from typing import Literal


class Condition(StrEnum):
    """The one word that `ls` shows. Failed, denied, lost and over budget stand until the next message."""

    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    INTERRUPTING = "interrupting"
    PARKED = "parked"
    FAILED = "failed"
    DENIED = "denied"
    LOST = "lost"
    OVER_BUDGET = "over-budget"
    ARCHIVED = "archived"


class Ending(StrEnum):
    COMPLETED = "completed"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    REPLACED = "replaced"
    FAILED = "failed"
    LOST = "lost"
    BUDGET = "budget"


# Of a conversation's last turn. Denied: somebody said no to one of its questions, and no error or budget ended it.
LastEnding = Literal["completed", "error", "interrupted", "replaced", "failed", "lost", "budget", "denied"]

# The description of a `LastEnding`.
ENDED = "How the last turn ended, until the next begins; null: none has. denied: somebody said no to a question."
