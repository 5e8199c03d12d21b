"""The asyncio client: the same methods as the blocking one, to be awaited. Everything happens on its event loop.

A task that is cancelled leaves the connection as it was, and ends no turn. `greenroom.methods` has all requests.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Generator, Mapping
from contextlib import asynccontextmanager
from copy import copy
from functools import partial
from typing import Any, Generic, Self, TypeVar, assert_never, cast

from greenroom.connection import DAEMON_LOST, DaemonConnection
from greenroom.daemon import AGAIN_S, RECONNECT_S, dialler
from greenroom.errors import ClientClosed, ConnectionLost, DaemonDown, GreenroomError, TimedOut
from greenroom.exchange import Exchange, ScriptEnded, advance, result_of
from greenroom.following import EventReader, FoundEvent
from greenroom.methods import Api
from greenroom.questions import AsyncQuestionWatch, Handler
from greenroom.record import Event, event_of
from greenroom.scripts import ApiCall, NextNotification, Request, Script, ScriptTimeLimit
from greenroom.wire import Json

T = TypeVar("T")
S = TypeVar("S")
E = TypeVar("E", bound=Event)
C = TypeVar("C")
CLIENT_CLOSED = "this client is closed"
MOST_HELD = 64  # slices not taken yet; with so many no more is read until a call waits


class AsyncClient(Api):
    """A connection to the daemon of this home. `async with` opens and closes it; conversations go on.

    The options are those of `Client`.
    """

    def __init__(
        self,
        *,
        start: bool = False,
        name: str = "python",
        env: Mapping[str, str] | None = None,
        reconnect_s: float = RECONNECT_S,
    ) -> None:
        self._dial = dialler(start, name, env)
        self._reconnect_s = reconnect_s
        self._dialling = asyncio.Lock()  # one dials for all
        self._closed = False
        self._watches: set[AsyncQuestionWatch] = set()
        self._link: _Link | None = None

    async def connect(self) -> Self:
        """Connect now, which fails at once if there is no daemon. Requests connect by themselves."""
        await self._open_link()
        return self

    async def close(self) -> None:
        """End all waiting calls, which raise ClientClosed, and all events. May be called again."""
        self._closed = True
        for watch in list(self._watches):
            await watch.close()
        if self._link is not None and not self._link.lost:
            self._link.transport.close()
            await self._link.gone.wait()

    @property
    def closed(self) -> bool:
        return self._closed

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def on_question(self, handle: Handler[Awaitable[None]]) -> AsyncQuestionWatch:
        """Call a function, which may be a coroutine's, once with each question: the open ones, then new ones.

        This goes on until the watch or the client is closed, also over restarts of the daemon. Questions are handled
        side by side. An exception goes to the loop's exception handler, and the question stays open.
        """
        return AsyncQuestionWatch(self.questions(), handle, self.answer, self._watches)

    # --- carrying out -----------------------------------------------------------------------------------------------

    async def _carry_out(self, script: Script[T]) -> T:
        running = _ScriptRun()
        try:
            request = advance(script)
            while True:
                request = await self._proceed(running, script, request)
        except ScriptEnded as end:
            return cast("T", end.result)
        finally:
            running.end()
            self._say_goodbye()

    def _read(self, reader: EventReader[E, C]) -> "AsyncEvents[E, C]":
        return AsyncEvents(self, reader)

    async def _proceed(self, running: "_ScriptRun", script: Generator[S, Json, object], request: Request) -> S:
        """Carry out a request, and return the script's next step."""
        try:
            answer: Json | GreenroomError = await self._perform(running, request)
        except ConnectionLost as error:
            answer = ClientClosed(CLIENT_CLOSED) if self._closed else error
        except GreenroomError as error:
            answer = error
        return advance(script, answer)

    async def _perform(self, running: "_ScriptRun", request: Request) -> Json:
        match request:
            case ScriptTimeLimit(limit_s):
                return running.limit(limit_s)
            case NextNotification(subscription):
                return await self._next_notification(running.exchange, subscription, running.deadline)
            case ApiCall():
                link = await self._open_link(running.deadline_in(self._reconnect_s if request.again else 0.0))
                return running.note_subscription(
                    link, await self._ask(link, request, running.deadline_in(request.wait_s))
                )
            case _:
                assert_never(request)

    async def _open_link(self, deadline: float | None = 0.0) -> "_Link":
        """Return the connection. Dial if need be, at least once and until the deadline."""
        async with self._dialling:
            if self.closed:
                raise ClientClosed(CLIENT_CLOSED)
            if self._link is None or self._link.lost:
                self._link = await self._dial_until(deadline)
            return self._link

    async def _dial_until(self, deadline: float | None) -> "_Link":
        loop = asyncio.get_running_loop()
        while True:
            link = _Link()
            dialling = loop.run_in_executor(None, self._dial, link)  # it may have to start a daemon
            try:
                connection = await asyncio.shield(dialling)
            except DaemonDown as error:
                if deadline is not None and time.monotonic() > deadline:
                    raise DaemonDown(error.message) from error
                await asyncio.sleep(AGAIN_S)
            except asyncio.CancelledError:
                dialling.add_done_callback(_hang_up)
                raise
            else:
                try:
                    await loop.create_unix_connection(partial(_protocol_of, link), sock=connection.socket)
                except BaseException:
                    connection.close()
                    raise
                return link

    async def _ask(self, link: "_Link", request: ApiCall, deadline: float | None) -> Json:
        answer = link.expect()
        number, data = link.request(request.method, request.params, lambda message: link.settle(answer, message))
        link.transport.write(link.detach_requests() + data)
        try:
            async with _time_limit(deadline):
                return result_of(await answer)
        except BaseException:
            answered = answer.done() and not answer.cancelled() and answer.exception() is None
            link.forget(number, (answer.result(),) if answered else ())
            raise

    async def _next_notification(self, link: "_Link", subscription: str, deadline: float | None) -> Json:
        async with _time_limit(deadline):
            while not link.has_next(subscription):
                await link.arrival(subscription)
        return link.take_next(subscription)

    def _say_goodbye(self) -> None:
        if self._link is not None and not self._link.lost:
            self._link.send_detach_requests()


class _Link(Exchange, asyncio.Protocol):
    """The connection on the event loop. Reads only if a call waits, or if there is room for more."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        super().__init__()
        self.gone = asyncio.Event()
        self._waiting: set[asyncio.Future[Json]] = set()
        self._arrivals: dict[str, asyncio.Future[Json]] = {}  # by subscription, of its reader

    def expect(self) -> asyncio.Future[Json]:
        """A future for a message; ConnectionLost if none can come any more."""
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        if self.lost:
            future.set_exception(ConnectionLost(DAEMON_LOST))
            return future
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        if not self.transport.is_reading():
            self.transport.resume_reading()
        return future

    def settle(self, answer: asyncio.Future[Json], message: Json) -> None:
        if answer.done():  # cancelled a moment ago
            self.drop(message)
        else:
            answer.set_result(message)

    def arrival(self, subscription: str) -> asyncio.Future[Json]:
        """A future that is done when there is something for this subscription."""
        self._arrivals[subscription] = future = self.expect()
        return future

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.feed(data)
        self.send_detach_requests()
        if self.held_count > MOST_HELD and not self._waiting:
            self.transport.pause_reading()

    def send_detach_requests(self) -> None:
        if goodbyes := self.detach_requests():
            self.transport.write(goodbyes)

    def connection_lost(self, _: Exception | None) -> None:
        self.lose()
        for future in list(self._waiting):
            if not future.done():
                future.set_exception(ConnectionLost(DAEMON_LOST))
        self.gone.set()

    def _arrive(self, message: Json) -> None:
        super()._arrive(message)
        future = self._arrivals.pop((message.get("params") or {}).get("subscription", ""), None)
        if future is not None and not future.done():
            future.set_result(message)


class _ScriptRun:
    """A script that is carried out: its time limit, and the subscriptions it has begun."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        self._begun: list[tuple[_Link, str]] = []

    @property
    def exchange(self) -> _Link:
        """The connection of the last subscription."""
        return self._begun[-1][0]

    def limit(self, limit_s: float | None) -> Json:
        self.deadline = None if limit_s is None else time.monotonic() + limit_s
        return {}

    def deadline_in(self, wait_s: float | None) -> float | None:
        """The deadline of a request that may take so long."""
        limits = [self.deadline] if self.deadline is not None else []
        limits += [time.monotonic() + wait_s] if wait_s is not None else []
        return min(limits, default=None)

    def note_subscription(self, exchange: _Link, answer: Json) -> Json:
        if "subscription" in answer:
            self._begun.append((exchange, answer["subscription"]))
        return answer

    def end(self) -> None:
        while self._begun:
            exchange, subscription = self._begun.pop()
            exchange.leave(subscription)


class AsyncEvents(AsyncIterator[E], Generic[E, C]):
    """Typed events, one after the other. A lost connection is dialled again: nothing is missing, nothing comes twice.

    They end when they or their client are closed, even while a task waits for the next. `cursor` is the reader's
    place: another reader that starts there, in any program, gets the very next event.
    """

    def __init__(self, client: AsyncClient, reader: EventReader[E, C]) -> None:
        self._client = client
        self._reader = reader
        self._events = reader.events()
        self._running = _ScriptRun()
        self._step: Request | FoundEvent | None = None  # yielded by the reader, which waits for an answer to it
        self._begun = self._closed = False
        self._waiting: asyncio.Task[Any] | None = None  # for the next event

    @property
    def cursor(self) -> C:
        return copy(self._reader.cursor)

    @property
    def ends_with_its_client(self) -> bool:
        """True if a closed client is an end like any other, as they were begun and would never end by themselves."""
        return self._begun and self._reader.endless

    async def __anext__(self) -> E:
        if self._client.closed and not self._begun:
            raise ClientClosed(CLIENT_CLOSED)
        self._begun, self._waiting = True, asyncio.current_task()
        try:
            return await self._next_event()
        except ClientClosed:
            if not self.ends_with_its_client:
                raise
            raise StopAsyncIteration from None
        except asyncio.CancelledError:
            if not self._closed or (self._waiting is not None and self._waiting.uncancel()):
                raise
            raise StopAsyncIteration from None
        finally:
            self._waiting = None

    async def _next_event(self) -> E:
        while not isinstance(step := self._next_step(), FoundEvent):  # if we are cancelled, it is asked again
            try:
                self._step = await self._client._proceed(self._running, self._events, step)  # noqa: SLF001  # its other half
            except ScriptEnded:
                raise StopAsyncIteration from None
        return self._event_from(step)

    def next_at_hand(self) -> E | None:
        """The next event, or None if it takes a request. StopAsyncIteration if there is none any more."""
        step = self._next_step()
        return self._event_from(step) if isinstance(step, FoundEvent) else None

    def _next_step(self) -> Request | FoundEvent:
        if self._closed:
            raise StopAsyncIteration
        try:
            self._step = self._step or advance(self._events)
        except ScriptEnded:
            raise StopAsyncIteration from None
        return self._step

    def _event_from(self, step: FoundEvent) -> E:
        self._step = None
        return cast("E", event_of(step.envelope))

    async def close(self) -> None:
        """End the events, also for a task that waits for the next."""
        self._closed = True
        if self._waiting is not None and self._waiting is not asyncio.current_task():
            self._waiting.cancel()
            await asyncio.sleep(0)  # it lets go of the reader
        self._step = None
        self._events.close()
        self._running.end()
        self._client._say_goodbye()  # noqa: SLF001  # its other half

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __del__(self) -> None:
        self._running.end()  # told with the next request: a collector may come at any moment


@asynccontextmanager
async def _time_limit(deadline: float | None) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout_at(deadline):
            yield
    except TimeoutError as error:
        raise TimedOut("the daemon did not answer in time") from error


def _protocol_of(link: _Link) -> _Link:
    return link


def _hang_up(dialling: asyncio.Future[DaemonConnection]) -> None:
    """Close a connection that a cancelled task was still dialling."""
    if not dialling.cancelled() and dialling.exception() is None:
        dialling.result().close()
