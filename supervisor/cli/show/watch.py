"""A conversation, watched live: events to the screen, keys to the daemon. One thread, one select.

Leaving never ends anything: the conversation goes on. When a daemon that went away is back, the watch attaches again
after the last event that was shown; requests that it has not acknowledged are sent again under the same key.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn

from actors.vocabulary.visible_text import visible
from greenroom.scripts import TERMINAL
from greenroom.unfinished import UnfinishedItems
from supervisor.cli.kit import exits, ids, reconnecting
from supervisor.cli.kit.approval_answers import ApprovalAnswer
from supervisor.cli.kit.client import Control, DaemonLost, Json, RequestRefused, result_of
from supervisor.cli.kit.formatting import clean
from supervisor.cli.kit.json_output import write_event
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.terminal import Paint, is_terminal, size
from supervisor.cli.kit.turn_outcome import TurnOutcome
from supervisor.cli.show import keys
from supervisor.cli.show.attention import Attention
from supervisor.cli.show.input_line import InputLine, WatchAction, WatchCommand, WatchState
from supervisor.cli.show.printer import EventPrinter
from supervisor.cli.show.screen import Screen

TICK_S = 0.1  # of the spinner, where there is one


class WatchOptions(NamedTuple):
    """Choices for how a conversation is shown."""

    as_json: bool = False
    read_only: bool = False
    raw: bool = False
    keys: bool = True
    one_stream: bool = False  # all goes to standard output, also in a pipe


class SentRequest(NamedTuple):
    """A request that has no answer yet."""

    method: str
    params: Json
    repeatable: bool = False  # sent once more to a daemon that is back: it has a key, or can be answered only once
    quiet_codes: frozenset[str] = frozenset()  # refusals that the screen shows anyway


class Watch:
    def __init__(self, control: Control, conversation: str, options: WatchOptions) -> None:
        self._control = control
        self.conversation = conversation
        self._options = options
        terminal = is_terminal() and not options.as_json
        self._keyboard = keys.Keyboard() if terminal and options.keys and keys.has_keyboard() else None
        same_screen = terminal or (options.one_stream and not options.as_json)
        told = Screen(sys.stdout if same_screen else sys.stderr, live=terminal)
        said = told if same_screen else Screen(sys.stdout, live=False)
        self.screen = told
        self._said = said
        paint = Paint(sys.stdout if same_screen else sys.stderr)
        self.printer = EventPrinter(said, told, paint, raw=options.raw, markdown=terminal)
        self.ending = TurnOutcome()
        self._talk = InputLine(paint, read_only=options.read_only)
        self._scene = WatchState()
        self.seq = 0
        self._unfinished = UnfinishedItems()
        self._subscription = ""
        self._attaching: int | None = None
        self._why_again = ""  # the daemon's own reason, if it ended the subscription
        self._sent: dict[int, SentRequest] = {}
        self._unsent: list[SentRequest] = []  # to be sent when all events stored meanwhile are shown
        self._awaited: SentRequest | None = None
        self.result: Json | None = None
        self._over = False
        self._absence: reconnecting.Absence | None = None
        self._lost: DaemonLost | None = None
        self._heartbeat = reconnecting.Heartbeat(control, self._show_slowness)
        self._attention: Attention | None = None

    # --- from outside ---------------------------------------------------------------------------------------------

    def attach(self, after: int | None) -> Json:
        """Subscribe; the loop shows the events."""
        attachment = self._attachment(after)
        answer = reconnecting.repeat_after_absences(
            lambda: self._control.call("conversation/attach", **attachment), reconnecting.say
        )
        self.seq = answer["seq"] if after is None else after
        self._begin_subscription(answer)
        return answer

    def show_until_answered(self, method: str, params: Json, timeout_s: float | None = None) -> Json:
        """Send a request that has a key, and show events until it is answered; return the answer."""
        self._awaited = SentRequest(method, params, repeatable=True)
        try:
            self._send(self._awaited)
        except DaemonLost as lost:
            self._lose(lost)
        self._loop(lambda: self.result is not None, timeout_s)
        if self.result is None:
            raise self._reason_to_leave()
        return self.result

    def show_until_left(self) -> NoReturn:
        self._loop(lambda: False)
        raise self._reason_to_leave()

    def _reason_to_leave(self) -> Exception:
        return PersonLeft() if self._absence is None or self._lost is None else self._lost

    # --- the loop -------------------------------------------------------------------------------------------------

    def _loop(self, done: Callable[[], bool], timeout_s: float | None = None) -> None:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            with self._listening() as wake:
                while not (self._over or done()):
                    self._turn(wake)
                    if deadline is not None and time.monotonic() > deadline:
                        raise Problem("the turn has not ended in time", self._how_to_come_back(), "timed_out")
        finally:
            self.screen.close()
            self._said.start_line()
            if self._talk.draft:
                self.screen.line(f"(typed and not sent: {visible(self._talk.draft)})")

    def _turn(self, wake: int) -> None:
        back = self._absence is not None and self._absence.look()
        try:
            if back:
                self._come_back()
            if self._absence is None:
                self._hear()
            if self.result is None:
                self._foot()
                self._wait(wake)
        except DaemonLost as lost:
            self._lose(lost)

    def _hear(self) -> None:
        for message in self._control.messages(0.0):
            self._heartbeat.reset()
            self._take_message(message)
            if self.result is not None:
                return  # later messages belong to another turn
        self._heartbeat.look()

    def _wait(self, wake: int) -> None:
        """Wait for the daemon, a key or a new window size, but no longer than until the spinner turns."""
        sources = [wake, *([self._keyboard.fd] if self._keyboard else [])]
        if self._absence is None:
            sources.append(self._control.socket.fileno())
        ready, _, _ = select.select(sources, [], [], TICK_S)
        if wake in ready:
            os.read(wake, 64)
            self.screen.resize()
        if self._keyboard is not None and self._keyboard.fd in ready:
            self._press_keys(self._keyboard.read())

    def _press_keys(self, pressed: list[str]) -> None:
        if self._attention is not None and pressed:
            self._attention.note_key(time.time())
        for at, key in enumerate(pressed, 1):
            self._want(self._talk.press(key, self._scene, time.time(), more=at < len(pressed)))

    def _foot(self) -> None:
        if self._keyboard is not None:
            self.screen.foot(self._talk.foot(self._scene, time.time(), self.screen.columns))
        else:
            self.screen.foot(self._scene.away_notice or self._scene.slow_notice)

    @contextlib.contextmanager
    def _listening(self) -> Iterator[int]:
        """Let a new window size wake the select, and restore the terminal, however the program ends."""
        wake, woken = os.pipe()
        for end in (wake, woken):
            os.set_blocking(end, False)
        before = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        handlers = {signal.SIGWINCH: lambda *_: None, signal.SIGTERM: keys.end_by_signal}
        old = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            with self._keyboard or contextlib.nullcontext(), self._attention or contextlib.nullcontext():
                yield wake
                if self._keyboard is not None:
                    self._talk.keep(self._keyboard.pending())
        finally:
            signal.set_wakeup_fd(before)
            for number, handler in old.items():
                signal.signal(number, handler)
            os.close(wake)
            os.close(woken)

    # --- a daemon that is away, or does not answer ------------------------------------------------------------------

    def _lose(self, lost: DaemonLost) -> None:
        self._lost = lost
        self._absence = reconnecting.Absence(lost, self._control, patient=is_terminal())
        self._scene.away_notice, self._scene.slow_notice = reconnecting.AWAY_NOTICE, ""
        self._subscription, self._attaching = "", None
        self._unsent += [request for request in self._sent.values() if request.repeatable]
        self._sent.clear()
        self._note(reconnecting.AWAY_NOTICE)

    def _come_back(self) -> None:
        self._absence = None
        self._scene.away_notice = ""
        self._heartbeat.reset()
        self._note(reconnecting.BACK_NOTICE)
        self._attach_again()

    def _attach_again(self) -> None:
        """Attach after the last event that was shown."""
        self._attaching = self._control.begin("conversation/attach", **self._attachment(self.seq))

    def _send_unsent(self) -> None:
        while self._unsent:
            self._send(self._unsent.pop(0))

    def _show_slowness(self, slow: bool) -> None:
        self._scene.slow_notice = reconnecting.SLOW_NOTICE if slow else ""
        if not self.screen.live:  # there is no foot line to say it in
            reconnecting.say(reconnecting.SLOW_NOTICE if slow else reconnecting.ANSWERS_NOTICE)

    def _note(self, text: str) -> None:
        """Say something about the connection, which belongs to no history."""
        if self.screen.live:
            self.screen.line(f"({text})")
        else:
            reconnecting.say(text)

    # --- from the daemon ------------------------------------------------------------------------------------------

    def _attachment(self, after: int | None) -> Json:
        return {"conversation": self.conversation, "after": after, "read_only": self._options.read_only}

    def _begin_subscription(self, answer: Json) -> None:
        summary = answer["summary"]
        self._subscription = answer["subscription"]
        self._unfinished.begin_attachment()
        self.printer.base = summary["settings"]["cwd"]
        self._scene.running, self._scene.began_at = summary["turn"] is not None, time.time()
        if self._keyboard is not None and self._attention is None:
            self._attention = Attention(
                self._keyboard, summary["name"] or ids.short_id(self.conversation), time.time()
            )

    def _take_message(self, message: Json) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method == "events" and params.get("subscription") == self._subscription:
            self._events(params)
        elif method == "ended" and params.get("subscription") == self._subscription:
            self._why_again = str(params.get("reason"))
            self._attach_again()  # the conversation has a new owner, or is gone
        elif method == "announcement":
            self.screen.line(f"({clean(str(params.get('message')))})")
        elif "method" not in message and self._attaching is not None and message.get("id") == self._attaching:
            self._attaching = None
            self._begin_subscription(self._attachment_in(message))
        elif "method" not in message:
            self._take_answer(message)

    def _attachment_in(self, message: Json) -> Json:
        try:
            return result_of(message)
        except RequestRefused as refusal:
            if not self._why_again:
                raise
            raise Problem(f"the daemon ended the subscription: {self._why_again}", refusal.message) from refusal

    def _take_answer(self, message: Json) -> None:
        request = self._sent.pop(message.get("id"), None)  # type: ignore[arg-type]  # None is in no dict of numbers
        if message.get("id") is None or (request is not None and request is self._awaited):
            self.result = result_of(message)  # an error without an id: the request could not be read
        elif request is not None:
            try:
                result_of(message)
            except RequestRefused as refusal:
                if refusal.code not in request.quiet_codes:
                    self.screen.line(f"! {visible(refusal.message)}")

    def _events(self, params: Json) -> None:
        if params.get("gap"):
            self.screen.line(f"(events {params['gap'][0]} to {params['gap'][1]} are no longer stored)")
        if params.get("lagged"):
            self._unfinished.note_lag()
        for envelope in params["events"]:
            if envelope["seq"] is None:
                if (fresh := self._unfinished.new_part(envelope)) is None:
                    continue
                envelope = fresh  # noqa: PLW2901  # the same event without the text that was shown already
            else:
                self._unfinished.finish(envelope["event"])
                self.seq = envelope["seq"]
            if self._options.as_json:
                write_event(envelope)
            self._follow(envelope)
        for request in params.get("pending") or ():
            if request["approval_id"] not in self.printer.approvals and not self._options.as_json:
                self.printer.ask(request)  # asked before the first event shown; to answer it, a person must read it
        self._next_approval()
        if params.get("pending") is not None:  # everything is shown, up to now
            self._send_unsent()

    def _next_approval(self) -> None:
        approval = next(iter(self.printer.approvals), None)
        self._look_at(approval)
        if approval != self._scene.approval:
            self._scene.approval, self._scene.asked_at = approval, time.time()
            if approval is not None and not (self._options.read_only or self._options.as_json):
                self._add_hint(approval)

    def _look_at(self, approval: str | None) -> None:
        self._scene.is_partly_shown = approval in self.printer.incomplete_approvals
        self._scene.question = {} if approval is None else self.printer.approvals[approval]
        if self._attention is not None:
            self._attention.show_open_approvals(self.printer.approvals, time.time())

    def _add_hint(self, approval: str) -> None:
        """Add a line below an approval if the foot line can't say all that the person needs."""
        short = ids.short_id(approval)
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
            self._scene.running, self._scene.began_at = True, envelope["ts"]
        elif kind in TERMINAL:
            self._scene.running = False
            self._talk.turn_ended()
            if self._attention is not None:
                self._attention.note_turn_end(self._scene.began_at, envelope["ts"], time.time())

    # --- from the keys --------------------------------------------------------------------------------------------

    def _want(self, command: WatchCommand | None) -> None:
        if command is None:
            return
        match command.action:
            case WatchAction.LEAVE:
                self._over = True
            case WatchAction.GIVE_UP:
                raise KeyboardInterrupt
            case WatchAction.INTERRUPT | WatchAction.KILL:
                kill = command.action is WatchAction.KILL
                self._send(SentRequest("conversation/interrupt", {"conversation": self.conversation, "kill": kill}))
            case WatchAction.ANSWER:
                self._answer(command.answer or ApprovalAnswer("denied"))
            case WatchAction.SHOW:
                self._show()
            case WatchAction.SAY:
                said = {"conversation": self.conversation, "prompt": command.text, "key": fresh_key()}
                self._send(SentRequest("conversation/send", said, repeatable=True))
            case WatchAction.SUSPEND:
                self._suspend()

    def _answer(self, answer: ApprovalAnswer) -> None:
        approval = self._scene.approval
        if approval is not None:
            self.printer.approvals.pop(approval, None)
            self._scene.approval = next(iter(self.printer.approvals), None)
            self._scene.asked_at = time.time()
            self._show(whole=False)
            sent = {"approval": approval, **answer.members}
            quiet = frozenset({"already_answered", "unknown_approval"})
            self._send(SentRequest("approvals/answer", sent, repeatable=True, quiet_codes=quiet))

    def _show(self, *, whole: bool = True) -> None:
        """Show the open approval, again if need be: it may have scrolled far up."""
        if self._scene.approval is not None:
            self.printer.ask(self.printer.approvals[self._scene.approval], whole=whole)
            self._look_at(self._scene.approval)
            self._add_hint(self._scene.approval)

    def _send(self, request: SentRequest) -> None:
        try:
            self._sent[self._control.begin(request.method, **request.params)] = request
        except DaemonLost:
            self._unsent += [request] if request.repeatable else []
            raise

    def _suspend(self) -> None:
        assert self._keyboard is not None, "a key came from it"  # noqa: S101
        self.screen.foot("")
        self._keyboard.give_back()
        os.kill(os.getpid(), signal.SIGTSTP)
        self._keyboard.take()
        self.screen.resize()

    def _how_to_come_back(self) -> str:
        return f"`greenroom attach {ids.short_id(self.conversation)}` watches it"


def fresh_key() -> str:
    """A key that no other message of the conversation has."""
    return os.urandom(16).hex()


class PersonLeft(Exception):
    """The person left before the answer came."""


def run_with_way_back(conversation: str, work: Callable[[], int], *, quietly: bool = False) -> int:
    """Do the work; if it ends early, say that the conversation goes on, and how to come back."""
    short = ids.short_id(conversation)
    back = f"the conversation goes on, `greenroom attach {short}` comes back"
    try:
        return work()
    except DaemonLost as lost:
        again = f"`greenroom up`, then `greenroom attach {short}`"
        raise DaemonLost("the daemon went away; the conversation is kept", again) from lost
    except (KeyboardInterrupt, SystemExit):
        if not quietly:
            print(f"\ngreenroom: left; {back}", file=sys.stderr)
        raise
    except PersonLeft:
        print(f"left; {back}", file=sys.stderr)
        return exits.OK
