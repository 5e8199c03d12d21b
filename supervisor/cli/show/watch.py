"""A conversation, watched live: events to the screen, keys to the daemon. One thread, one select.

Leaving never ends anything: the conversation goes on.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn

from actors.vocabulary.visible import visible
from supervisor.cli import exits, ids
from supervisor.cli.client import Control, Json, Lost, Refused, result_of
from supervisor.cli.ending import TERMINAL, TurnOutcome
from supervisor.cli.problems import Problem
from supervisor.cli.show import keys
from supervisor.cli.show.printer import EventPrinter
from supervisor.cli.show.screen import Screen
from supervisor.cli.show.talk import Scene, Talk, WatchAction, WatchCommand
from supervisor.cli.terminal import Paint, is_terminal, size
from supervisor.cli.words import clean
from supervisor.cli.written import write_event
from transports.question import only_once

TICK_S = 0.1  # of the spinner, where there is one


class WatchOptions(NamedTuple):
    """Choices for how a conversation is shown."""

    as_json: bool = False
    read_only: bool = False
    raw: bool = False
    keys: bool = True
    one_stream: bool = False  # all goes to standard output, also in a pipe


class Watch:
    def __init__(self, control: Control, conversation: str, options: WatchOptions) -> None:
        self._control = control
        self.conversation = conversation
        self._options = options
        terminal = is_terminal() and not options.as_json
        self._keyboard = keys.Keyboard() if terminal and options.keys and keys.there_are() else None
        one = terminal or options.one_stream
        told = Screen(sys.stdout if one else sys.stderr, live=terminal)
        said = told if one else Screen(sys.stdout, live=False)
        self.screen = told
        self._said = said
        paint = Paint(sys.stdout if one else sys.stderr)
        self.printer = EventPrinter(said, told, paint, raw=options.raw, markdown=terminal)
        self.ending = TurnOutcome()
        self._talk = Talk(paint, read_only=options.read_only)
        self._scene = Scene()
        self.seq = 0
        self._subscription = ""
        self._asides: dict[int, str] = {}
        self._awaited: int | None = None
        self.result: Json | None = None
        self._over = False

    # --- from outside ---------------------------------------------------------------------------------------------

    def attach(self, after: int | None) -> Json:
        """Subscribe; the loop shows the events."""
        params: Json = {"conversation": self.conversation, "after": after, "read_only": self._options.read_only}
        answer = self._control.call("conversation/attach", **params)
        self._subscription = answer["subscription"]
        self.seq = answer["seq"] if after is None else after
        running = answer["summary"]["turn"] is not None
        self.printer.base = answer["summary"]["settings"]["cwd"]
        self._scene.running, self._scene.began = running, time.time()
        return answer

    def until_answered(self, request: int, timeout_s: float | None = None) -> Json:
        """Show events until the request is answered; return the answer."""
        self._awaited = request
        self._loop(lambda: self.result is not None, timeout_s)
        if self.result is None:
            raise PersonLeft
        return self.result

    def until_left(self) -> NoReturn:
        self._loop(lambda: False)
        raise PersonLeft

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
                return  # what follows belongs to another turn
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
        """Let a new window size wake the select, and TERM end the program with the terminal restored."""
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
            self.result = result_of(message)  # an error without an id: the request could not be read
        elif "method" not in message and message.get("id") in self._asides:
            self._aside(self._asides.pop(message["id"]), message)

    def _events(self, params: Json) -> None:
        if params.get("gap"):
            self.screen.line(f"(events {params['gap'][0]} to {params['gap'][1]} are no longer stored)")
        for envelope in params["events"]:
            self.seq = envelope["seq"] or self.seq
            if self._options.as_json:
                write_event(envelope)
            self._follow(envelope)
        for request in params.get("pending") or ():
            if request["approval_id"] not in self.printer.approvals and not self._options.as_json:
                self.printer.ask(request)  # asked before the first event shown; to answer it, a person must read it
        self._next_approval()

    def _next_approval(self) -> None:
        approval = next(iter(self.printer.approvals), None)
        self._look_at(approval)
        if approval != self._scene.approval:
            self._scene.approval, self._scene.asked = approval, time.time()
            if approval is not None and not (self._options.read_only or self._options.as_json):
                self._below(approval)

    def _look_at(self, approval: str | None) -> None:
        self._scene.partly = approval in self.printer.partly
        self._scene.once = approval is not None and only_once(self.printer.approvals[approval])

    def _below(self, approval: str) -> None:
        """Add a line below an approval if the foot line can't say all that the person needs."""
        short = ids.short(approval)
        if self._keyboard is None:
            self.screen.line(f"  (`greenroom approve {short}` or `greenroom deny {short}` answers it)")
        elif (height := self.printer.heights.get(approval, 0)) >= size()[1]:
            self.screen.line(f"  ({short} has {height} lines and begins above this window; scroll up to read it)")

    def _follow(self, envelope: Json) -> None:
        self.ending.take(envelope["event"])
        if not self._options.as_json:
            self.printer.take(envelope)
        kind = envelope["event"]["type"]
        if kind == "task_started":
            self._scene.running, self._scene.began = True, envelope["ts"]
        elif kind in TERMINAL:
            self._scene.running = False
            self._talk.turn_ended()

    def _ended(self, reason: str) -> None:
        """Attach again behind the last event that was shown: the conversation has a new owner."""
        try:
            self.attach(self.seq)
        except Refused as refusal:
            raise Problem(f"the daemon ended the subscription: {reason}", refusal.message) from refusal

    def _aside(self, what: str, message: Json) -> None:
        try:
            result_of(message)
        except Refused as refusal:
            if not (what == "answer" and refusal.code in {"already_answered", "unknown_approval"}):
                self.screen.line(f"! {visible(refusal.message)}")

    # --- from the keys --------------------------------------------------------------------------------------------

    def _want(self, command: WatchCommand | None) -> None:
        if command is None:
            return
        match command.action:
            case WatchAction.LEAVE:
                self._over = True
            case WatchAction.INTERRUPT | WatchAction.KILL:
                kill = command.action is WatchAction.KILL
                self._ask("interrupt", "conversation/interrupt", conversation=self.conversation, kill=kill)
            case WatchAction.ANSWER:
                self._answer(command.text)
            case WatchAction.SHOW:
                self._show()
            case WatchAction.SAY:
                self._ask("send", "conversation/send", conversation=self.conversation, prompt=command.text)
            case WatchAction.SUSPEND:
                self._suspend()

    def _answer(self, decision: str) -> None:
        approval = self._scene.approval
        if approval is not None:
            self.printer.approvals.pop(approval, None)
            self._scene.approval = next(iter(self.printer.approvals), None)
            self._scene.asked = time.time()
            self._show(whole=False)
            self._ask("answer", "approvals/answer", approval=approval, decision=decision)

    def _show(self, *, whole: bool = True) -> None:
        """Show the open approval, again if need be: it may have scrolled far up."""
        if self._scene.approval is not None:
            self.printer.ask(self.printer.approvals[self._scene.approval], whole=whole)
            self._look_at(self._scene.approval)
            self._below(self._scene.approval)

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


class PersonLeft(Exception):
    """The person left before the answer came."""


def _terminated(*_: object) -> None:
    raise SystemExit(exits.TERMINATED)


def coming_back(conversation: str, work: Callable[[], int], *, quietly: bool = False) -> int:
    """Do the work; if it ends early, say that the conversation goes on, and how to come back."""
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
    except PersonLeft:
        print(f"left; {back}", file=sys.stderr)
        return exits.OK
