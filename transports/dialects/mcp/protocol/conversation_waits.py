"""The open `wait_conversation` calls. Each waits until its conversation stops or asks, or its time is over.

The conversation is read meanwhile, but none of it is shown. Part of the connection, which owns the timer.
"""

from functools import partial

from msgspec import Struct

from actors.messages.effects import Slice
from actors.vocabulary.events import (
    APPROVAL_REQUESTED,
    APPROVAL_RESOLVED,
    TERMINAL,
    AgentMessage,
    AgentMessageDelta,
    TaskStarted,
    type_of,
)
from actors.vocabulary.ids import Caller
from transports.dialect import Wake
from transports.dialects.kit.questions import OpenQuestions
from transports.dialects.kit.script import Script, Scripts

WAIT = "wait"  # the timers' name
TASK_STARTED = type_of(TaskStarted)
ENDS_OF_TEXT = TERMINAL | {type_of(AgentMessage)}
UNFINISHED_LENGTH = 4_000  # characters at the end of an unfinished message


class Wait(Struct, eq=False):
    """One call. `over`: the wait has ended."""

    scripts: Scripts
    over: bool = False
    cancelled: bool = False
    caller: Caller | None = None

    def rest(self, seconds: float) -> Script[None]:
        """Wait so long, or until `end`."""
        if not self.over:
            yield (partial(self._wake, seconds),)

    def _wake(self, seconds: float, caller: Caller) -> Wake:
        self.caller = caller
        return Wake(f"{WAIT}:{caller.request}", seconds)

    def end(self) -> None:
        self.over = True
        if self.caller is not None:
            self.scripts.take_answer(self.caller, None)


class WaitSink(Struct, eq=False):
    """Ends a wait when no turn runs any more or a question is asked, and all events were read."""

    wait: Wait
    questions: OpenQuestions
    runs: bool = True
    asks: bool = False
    unfinished: str = ""  # the end of the unfinished message
    answers: bool = False

    def take(self, slice_: Slice) -> None:
        self.questions.settle(slice_)
        for record in slice_.records:
            self._note(record.type)
        for delta in slice_.deltas:
            if isinstance(delta, AgentMessageDelta):
                self.unfinished = (self.unfinished + delta.delta)[-UNFINISHED_LENGTH:]
        if slice_.live and (self.asks or not self.runs):
            self.wait.end()

    def _note(self, kind: str) -> None:
        if kind in TERMINAL:
            self.runs = self.asks = False
        elif kind == TASK_STARTED:
            self.runs = True
        elif kind == APPROVAL_REQUESTED:
            self.asks = True
        elif kind == APPROVAL_RESOLVED:
            self.asks = False
        if kind in ENDS_OF_TEXT:
            self.unfinished = ""

    def handle_loss(self, reason: str) -> None:  # noqa: ARG002  # the answer tells the conversation's state
        self.wait.end()
