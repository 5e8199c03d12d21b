"""One conversation, watched: events to the screen, keys to the daemon. One thread, one select.

Leaving never ends anything: the conversation goes on, whatever becomes of us.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn

from actors.visible import visible
from supervisor.cli import exits, ids
from supervisor.cli.client import Control, Json, Lost, Refused, result_of
from supervisor.cli.ending import TERMINAL, Ending
from supervisor.cli.problems import Problem
from supervisor.cli.show import keys, lines
from supervisor.cli.show.screen import Screen
from supervisor.cli.show.talk import Scene, Talk, Wanted, Wish
from supervisor.cli.show.transcript import Transcript
from supervisor.cli.terminal import Paint, is_terminal, size
from supervisor.cli.words import clean

TICK_S = 0.1  # of the spinner, where there is one


class Manner(NamedTuple):
    """How it is shown."""

    as_json: bool = False
    read_only: bool = False
    raw: bool = False
    keys: bool = True
    one_stream: bool = False  # everything is the result, also in a pipe


class Watch:
    def __init__(self, control: Control, conversation: str, manner: Manner) -> None:
        self._control = control
        self.conversation = conversation
        self._manner = manner
        terminal = is_terminal() and not manner.as_json
        self._keyboard = keys.Keyboard() if terminal and manner.keys and keys.there_are() else None
        one = terminal or manner.one_stream
        told = Screen(sys.stdout if one else sys.stderr, live=terminal)
        said = told if one else Screen(sys.stdout, live=False)
        self.screen = told
        self._said = said
        paint = Paint(sys.stdout if one else sys.stderr)
        self.transcript = Transcript(said, told, paint, raw=manner.raw, markdown=terminal)
        self.ending = Ending()
        self._talk = Talk(paint, read_only=manner.read_only)
        self._scene = Scene()
        self.seq = 0
        self._subscription = ""
        self._asides: dict[int, str] = {}
        self._awaited: int | None = None
        self.result: Json | None = None
        self._over = False

    # --- from outside ---------------------------------------------------------------------------------------------

    def attach(self, after: int | None) -> Json:
        """Subscribe; what comes is shown by the loop."""
        params: Json = {"conversation": self.conversation, "after": after, "read_only": self._manner.read_only}
        answer = self._control.call("conversation/attach", **params)
        self._subscription = answer["subscription"]
        self.seq = answer["seq"] if after is None else after
        running = answer["summary"]["turn"] is not None
        self.transcript.base = answer["summary"]["settings"]["cwd"]
        self._scene.running, self._scene.began = running, time.time()
        return answer

    def until_answered(self, request: int, timeout_s: float | None = None) -> Json:
        """The answer of a request of ours; events that belong before it are shown before."""
        self._awaited = request
        self._loop(lambda: self.result is not None, timeout_s)
        if self.result is None:
            raise Left
        return self.result

    def until_left(self) -> NoReturn:
        self._loop(lambda: False)
        raise Left

    # --- the loop -------------------------------------------------------------------------------------------------

    def _loop(self, done: Callable[[], bool], timeout_s: float | None = None) -> None:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            with self._listening() as sources:
                while not (self._over or done()):
                    self._turn(sources)
                    if deadline is not None and time.monotonic() > deadline:
                        raise Problem("the turn has not ended in time", self._how_to_come_back(), "timed_out")
        finally:
            self.screen.close()
            self._said.fresh()

    def _turn(self, sources: "Sources") -> None:
        for message in self._control.messages(0.0):
            self._arrived(message)
            if self.result is not None:
                return  # what comes behind it belongs to somebody else's turn
        self._foot()
        ready, _, _ = select.select(sources.all, [], [], TICK_S)
        if sources.wake in ready:
            os.read(sources.wake, 64)
            self.screen.resized()
        if self._keyboard is not None and self._keyboard.fd in ready:
            pressed = self._keyboard.read()
            for at, key in enumerate(pressed, 1):
                self._want(self._talk.press(key, self._scene, time.time(), more=at < len(pressed)))

    def _foot(self) -> None:
        if self._keyboard is not None or self._scene.running:
            self.screen.foot(self._talk.foot(self._scene, time.time(), self.screen.columns) if self._keyboard else "")

    @contextlib.contextmanager
    def _listening(self) -> Iterator["Sources"]:
        """Window sizes wake the select; TERM ends us like Ctrl-C ends others, with the terminal put back."""
        wake, woken = os.pipe()
        for end in (wake, woken):
            os.set_blocking(end, False)
        before = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        handlers = {signal.SIGWINCH: lambda *_: None, signal.SIGTERM: _terminated}
        old = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            with self._keyboard or contextlib.nullcontext():
                fds = [self._control.socket.fileno(), wake, *([self._keyboard.fd] if self._keyboard else [])]
                yield Sources(fds, wake)
        finally:
            signal.set_wakeup_fd(before)
            for number, handler in old.items():
                signal.signal(number, handler)
            os.close(wake)
            os.close(woken)

    # --- from the daemon ------------------------------------------------------------------------------------------

    def _arrived(self, message: Json) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method == "events" and params.get("subscription") == self._subscription:
            self._events(params)
        elif method == "ended" and params.get("subscription") == self._subscription:
            self._ended(str(params.get("reason")))
        elif method == "announcement":
            self.screen.line(f"({clean(str(params.get('message')))})")
        elif "method" not in message and message.get("id") in {None, self._awaited}:
            self.result = result_of(message)  # without an id it is an error: what we said was not even read
        elif "method" not in message and message.get("id") in self._asides:
            self._aside(self._asides.pop(message["id"]), message)

    def _events(self, params: Json) -> None:
        if params.get("gap"):
            self.screen.line(f"(events {params['gap'][0]} to {params['gap'][1]} are no longer stored)")
        for envelope in params["events"]:
            self.seq = envelope["seq"] or self.seq
            if self._manner.as_json:
                lines.write(envelope)
            self._follow(envelope)
        for request in params.get("pending") or ():
            if request["approval_id"] not in self.transcript.questions and not self._manner.as_json:
                self.transcript.ask(request)  # asked before what we were shown; who answers must have read it
        self._next_question()

    def _next_question(self) -> None:
        question = next(iter(self.transcript.questions), None)
        self._scene.partly = question in self.transcript.partly
        if question != self._scene.question:
            self._scene.question, self._scene.asked = question, time.time()
            if question is not None and not (self._manner.read_only or self._manner.as_json):
                self._below(question)

    def _below(self, question: str) -> None:
        """A line below a question where the foot line can't tell all that its reader needs."""
        short = ids.short(question)
        if self._keyboard is None:
            self.screen.line(f"  (`greenroom approve {short}` or `greenroom deny {short}` answers it)")
        elif (height := self.transcript.heights.get(question, 0)) >= size()[1]:
            self.screen.line(f"  ({short} has {height} lines and begins above this window; scroll up to read it)")

    def _follow(self, envelope: Json) -> None:
        self.ending.take(envelope["event"])
        if not self._manner.as_json:
            self.transcript.take(envelope)
        kind = envelope["event"]["type"]
        if kind == "task_started":
            self._scene.running, self._scene.began = True, envelope["ts"]
        elif kind in TERMINAL:
            self._scene.running = False
            self._talk.turn_ended()

    def _ended(self, reason: str) -> None:
        """It has a new owner; what we have is where we go on."""
        try:
            self.attach(self.seq)
        except Refused as refusal:
            raise Problem(f"the conversation ended this subscription: {reason}", refusal.message) from refusal

    def _aside(self, what: str, message: Json) -> None:
        try:
            result_of(message)
        except Refused as refusal:
            if not (what == "answer" and refusal.code in {"already_answered", "unknown_approval"}):
                self.screen.line(f"! {visible(refusal.message)}")

    # --- from the keys --------------------------------------------------------------------------------------------

    def _want(self, wanted: Wanted | None) -> None:
        if wanted is None:
            return
        match wanted.wish:
            case Wish.LEAVE:
                self._over = True
            case Wish.INTERRUPT | Wish.KILL:
                kill = wanted.wish is Wish.KILL
                self._ask("interrupt", "conversation/interrupt", conversation=self.conversation, kill=kill)
            case Wish.ANSWER:
                self._answer(wanted.text)
            case Wish.SHOW:
                self._show()
            case Wish.SAY:
                self._ask("send", "conversation/send", conversation=self.conversation, prompt=wanted.text)
            case Wish.SUSPEND:
                self._suspend()

    def _answer(self, decision: str) -> None:
        question = self._scene.question
        if question is not None:
            self.transcript.questions.pop(question, None)
            self._scene.question = next(iter(self.transcript.questions), None)
            self._scene.asked = time.time()
            self._show(whole=False)
            self._ask("answer", "approvals/answer", approval=question, decision=decision)

    def _show(self, *, whole: bool = True) -> None:
        """Again, or the next one: what was shown of it may be far above by now."""
        if self._scene.question is not None:
            self.transcript.ask(self.transcript.questions[self._scene.question], whole=whole)
            self._scene.partly = self._scene.question in self.transcript.partly
            self._below(self._scene.question)

    def _ask(self, what: str, method: str, **params: object) -> None:
        self._asides[self._control.send(method, **params)] = what

    def _suspend(self) -> None:
        assert self._keyboard is not None, "a key came from it"  # noqa: S101
        self.screen.foot("")
        self._keyboard.give_back()
        os.kill(os.getpid(), signal.SIGTSTP)
        self._keyboard.take()
        self.screen.resized()

    def _how_to_come_back(self) -> str:
        return f"`greenroom attach {ids.short(self.conversation)}` watches it"


class Sources(NamedTuple):
    all: list[int]
    wake: int


class Left(Exception):
    """The person went before the answer came."""


def _terminated(*_: object) -> None:
    raise SystemExit(exits.TERMINATED)


def coming_back(conversation: str, work: Callable[[], int], *, quietly: bool = False) -> int:
    """However we go, the person is told that the conversation has not, and how to find it again."""
    short = ids.short(conversation)
    back = f"the conversation goes on, `greenroom attach {short}` comes back"
    try:
        return work()
    except Lost as lost:
        again = f"`greenroom up`, then `greenroom attach {short}`"
        raise Lost("the daemon went away; the conversation is kept", again) from lost
    except (KeyboardInterrupt, SystemExit):
        if not quietly:
            print(f"\ngreenroom: left; {back}", file=sys.stderr)
        raise
    except Left:
        print(f"left; {back}", file=sys.stderr)
        return exits.OK
