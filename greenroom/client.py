"""The blocking client. May be used from any thread: of the waiting threads, one reads the socket for all.

A connection that was lost is dialled again by the next request. `greenroom.scripts` has what each method asks.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar, assert_never, cast

from greenroom import scripts
from greenroom.connection import LOST, DaemonConnection
from greenroom.daemon import AGAIN_S, RECONNECT_S, dialler
from greenroom.errors import ClientClosed, ConnectionLost, DaemonDown, GreenroomError, TimedOut
from greenroom.exchange import Exchange, ScriptEnded, ScriptRun, advance, result_of
from greenroom.following import (
    ConversationReader,
    EverythingReader,
    Happened,
    Happenings,
    HistoryReader,
    QuestionReader,
)
from greenroom.record import Event
from greenroom.scripts import ApiCall, NextNotification, Question, Request, Script, TimeLimit, event_of
from greenroom.wire import Json

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")
E = TypeVar("E", bound=Event)
C = TypeVar("C")
ROUND_S = 0.1  # between two tries to send what the daemon does not take at once


def _blocking(script: Callable[P, Script[T]]) -> Callable[Concatenate["Client", P], T]:
    @wraps(script)
    def method(self: "Client", *args: P.args, **kwargs: P.kwargs) -> T:
        return self._carry_out(script(*args, **kwargs))

    return cast("Callable[Concatenate[Client, P], T]", method)


class Client:
    """A connection to the daemon of this home. `with` closes it; conversations go on.

    `start`: start a daemon if none runs. `name`: what others see of this client. `env`: the environment of the
    commands in its conversations. `reconnect_s`: how long a lost daemon may take to come back.
    """

    def __init__(
        self,
        *,
        start: bool = False,
        name: str = "python",
        env: Mapping[str, str] | None = None,
        reconnect_s: float = RECONNECT_S,
    ) -> None:
        self._dialler = dialler(start, name, env)
        self._reconnect_s = reconnect_s
        self._writing = threading.Lock()  # keeps lines whole
        self._changed = threading.Condition()  # guards what follows; notified when something came
        self._reading = False  # a thread reads the socket
        self._closed = False
        self._link: _Link | None = None
        self._connected()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            if self._link is not None:
                self._link.connection.close()
            self._changed.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    create = _blocking(scripts.create)
    get = _blocking(scripts.get)
    conversations = _blocking(scripts.conversations)
    search = _blocking(scripts.search)
    rename = _blocking(scripts.rename)
    archive = _blocking(scripts.archive)
    delete = _blocking(scripts.delete)
    fork = _blocking(scripts.fork)
    restart = _blocking(scripts.restart)
    send = _blocking(scripts.send)
    send_and_wait = _blocking(scripts.send_and_wait)
    run = _blocking(scripts.run)
    wait = _blocking(scripts.wait)
    interrupt = _blocking(scripts.interrupt)
    approvals = _blocking(scripts.approvals)
    answer = _blocking(scripts.answer)
    status = _blocking(scripts.status)
    call = _blocking(scripts.call)

    def attach(
        self, conversation: str, *, after: int | None = 0, read_only: bool = False
    ) -> "Events[Event, int | None]":
        """The events after a seq (None: after the last one), then each as it happens, for ever."""
        reader = ConversationReader(conversation, after, read_only=read_only)
        return Events(self, reader.events(), lambda: reader.cursor)

    def follow(self, *, after: Mapping[str, int] | None = None) -> "Events[Event, Mapping[str, int]]":
        """All that is stored in any conversation, for ever; with `after`, from there on. In order within each."""
        reader = EverythingReader(after)
        return Events(self, reader.events(), lambda: dict(reader.cursor))

    def questions(self) -> "Events[Question, None]":
        """Each question that waits for an answer, for ever: those that are open, then new ones."""
        return Events(self, QuestionReader().events(), lambda: None)

    def history(self, conversation: str, *, after: int = 0) -> "Events[Event, int]":
        """The stored events of a conversation, to its end."""
        reader = HistoryReader(conversation, after)
        return Events(self, reader.events(), lambda: reader.cursor)

    # --- carrying out -----------------------------------------------------------------------------------------------

    def _carry_out(self, script: Script[T]) -> T:
        running = ScriptRun[_Link]()
        try:
            request = advance(script)
            while True:
                request = self._proceed(running, script, request)
        except ScriptEnded as end:
            return cast("T", end.result)
        finally:
            running.end()

    def _proceed(self, running: "ScriptRun[_Link]", script: Generator[S, Json, object], request: Request) -> S:
        """Carry out a request; the script's next step."""
        try:
            answer: Json | GreenroomError = self._perform(running, request)
        except GreenroomError as error:
            answer = error
        return advance(script, answer)

    def _perform(self, running: "ScriptRun[_Link]", request: Request) -> Json:
        match request:
            case TimeLimit(limit_s):
                return running.limit(limit_s)
            case NextNotification(subscription):
                return self._next(running.exchange, subscription, running.deadline)
            case ApiCall():
                link = self._connected(running.until(self._reconnect_s if request.again else 0.0))
                return running.began(link, self._ask(link, request, running.until(request.wait_s)))
            case _:
                assert_never(request)

    def _connected(self, deadline: float | None = 0.0) -> "_Link":
        """Dials if need be, until the deadline and at least once."""
        with self._changed:  # one dials for all
            if self._closed:
                raise ClientClosed("this client is closed")
            if self._link is None or self._link.lost:
                self._link = self._dialled(deadline)
            return self._link

    def _dialled(self, deadline: float | None) -> "_Link":
        while True:
            link = _Link()
            try:
                link.connection = self._dialler.dial(link)
            except DaemonDown as error:
                if deadline is not None and time.monotonic() > deadline:
                    raise DaemonDown(error.message) from error
                time.sleep(AGAIN_S)
            else:
                return link

    def _ask(self, link: "_Link", request: ApiCall, deadline: float | None) -> Json:
        answers: list[Json] = []
        with self._changed:
            goodbyes = link.goodbyes()
            number, data = link.request(request.method, request.params, answers.append)
        try:
            self._write(link, goodbyes + data, deadline)
            self._read_until(link, lambda: bool(answers), deadline)
        except BaseException:
            with self._changed:
                link.forget(number, answers)
            raise
        return result_of(answers[0])

    def _next(self, link: "_Link", subscription: str, deadline: float | None) -> Json:
        self._read_until(link, lambda: link.has_next(subscription), deadline)
        with self._changed:
            return link.next(subscription)

    def _say_goodbye(self) -> None:
        with self._changed:
            link = self._link
            goodbyes = link.goodbyes() if link is not None else b""
        if link is not None and not link.lost:
            with suppress(GreenroomError):
                self._write(link, goodbyes, time.monotonic() + ROUND_S)

    # --- the socket -------------------------------------------------------------------------------------------------

    def _write(self, link: "_Link", data: bytes, deadline: float | None) -> None:
        """Write, and read meanwhile: a daemon with unread output takes no input."""
        left = memoryview(data)
        with self._writing:
            try:
                while left:
                    sent = link.connection.write_some(left)
                    left = left[sent:]
                    if not sent:
                        _look_at(deadline, "the daemon does not read requests")
                        with self._changed:
                            self._read_once(link, time.monotonic() + ROUND_S)
            except ConnectionLost:
                self._lose(link)
                raise
            finally:
                if 0 < len(left) < len(data):
                    self._lose(link)  # in the middle of a line nothing else can be said

    def _read_until(self, link: "_Link", done: Callable[[], bool], deadline: float | None) -> None:
        with self._changed:
            while not done():
                if link.lost:
                    raise ConnectionLost(LOST)
                _look_at(deadline, "the daemon did not answer in time")
                self._read_once(link, deadline)

    def _read_once(self, link: "_Link", deadline: float | None) -> None:
        """Read for all threads, or wait while another does. The lock is held, and let go meanwhile."""
        if self._reading:
            self._changed.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
            return
        self._reading = True
        self._changed.release()
        data: bytes | None = None
        try:
            data = link.connection.read(deadline)
        except ConnectionLost:
            pass
        finally:
            self._changed.acquire()
            self._reading = False
            self._changed.notify_all()
        if data is None:
            self._lose(link)
        else:
            link.feed(data)

    def _lose(self, link: "_Link") -> None:
        with self._changed:
            link.connection.close()
            link.lose()
            self._changed.notify_all()


class _Link(Exchange):
    connection: DaemonConnection


class Events(Iterator[E], Generic[E, C]):
    """Typed events, one after the other. A lost connection is dialled again: nothing is missing, nothing comes twice.

    `cursor` is where the reader is: another reader that starts there, in any program, gets the very next event.
    """

    def __init__(self, client: Client, events: Happenings, cursor: Callable[[], C]) -> None:
        self._client = client
        self._events = events
        self._cursor = cursor
        self._running = ScriptRun[_Link]()
        self._step: Request | Happened | None = None  # what the reader has yielded and was not given an answer for

    @property
    def cursor(self) -> C:
        return self._cursor()

    def __next__(self) -> E:
        try:
            while True:
                step = self._step or advance(self._events)
                if isinstance(step, Happened):
                    self._step = None
                    return cast("E", event_of(step.envelope))
                self._step = step  # if we are interrupted, it is asked again
                self._step = self._client._proceed(self._running, self._events, step)  # noqa: SLF001  # its other half
        except ScriptEnded:
            raise StopIteration from None

    def close(self) -> None:
        self._step = None
        self._events.close()
        self._running.end()
        self._client._say_goodbye()  # noqa: SLF001  # its other half

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._running.end()  # told with the next request: a collector may come at any moment


def _look_at(deadline: float | None, late: str) -> None:
    if deadline is not None and time.monotonic() > deadline:
        raise TimedOut(late)
