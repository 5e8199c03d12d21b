"""The functional core of a session: `step(state, input, stamp) -> Step(state, append, effects)`.

No clock, no I/O, no chance, no threads, no logging: they come in as input. `facts` follow from the events and outlive
the process; `state` adds the rest, which lives as long as the actor; every other module owns one concern.
"""

from actors.conversation.applying import apply
from actors.conversation.facts import Facts
from actors.conversation.reading import free_reader
from actors.conversation.restore import head_of, restore, survivors_of
from actors.conversation.state import Stamp, State, Step
from actors.conversation.step import step
from actors.conversation.summary import condition, summary, visible

__all__ = [
    "Facts",
    "Stamp",
    "State",
    "Step",
    "apply",
    "condition",
    "free_reader",
    "head_of",
    "restore",
    "step",
    "summary",
    "survivors_of",
    "visible",
]
