"""The open `wait_conversation` calls. Each rests until its conversation has come to something, or its time is over.

The conversation is read meanwhile, but none of it is shown. Part of the connection; the timer is its.
"""

from functools import partial

from msgspec import Struct

from actors.messages.effects import Slice
from actors.vocabulary.events import APPROVAL_REQUESTS, TERMINAL, AgentMessageDelta
from actors.vocabulary.ids import Caller
from transports.dialect import Wake
from transports.dialects.kit.questions import OpenQuestions
from transports.dialects.kit.script import Script, Scripts

WAIT = "wait"  # the timers' name
UNFINISHED_LENGTH = 4_000  # characters of a message that is being written: its end


class Wait(Struct, eq=False):
    """One call. `over`: it rests no more."""

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
            self.scripts.answered(self.caller, None)


class WaitSink(Struct, eq=False):
    """Ends a wait when nothing runs any more, when something is asked, and when there is nothing more to read."""

    wait: Wait
    questions: OpenQuestions
    runs: bool = True
    asks: bool = False
    unfinished: str = ""  # of the message that is being written
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
        elif kind == "task_started":
            self.runs = True
        elif kind in APPROVAL_REQUESTS:
            self.asks = True
        elif kind == "approval_resolved":
            self.asks = False
        if kind in {"agent_message", *TERMINAL}:
            self.unfinished = ""

    def lost(self, reason: str) -> None:  # noqa: ARG002  # the answer says how the conversation is
        self.wait.end()
