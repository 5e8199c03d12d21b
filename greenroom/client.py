"""The blocking client: the asyncio client on a thread of its own. May be used from any thread.

A call hands its script to that thread and waits. Ctrl-C ends the wait, and leaves the connection as it was.
"""

import asyncio
import threading
import weakref
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, Generic, Self, TypeVar

from greenroom.aio import CLIENT_CLOSED, AsyncClient, AsyncEvents
from greenroom.daemon import RECONNECT_S
from greenroom.errors import ClientClosed
from greenroom.following import EventReader
from greenroom.methods import BlockingApi
from greenroom.questions import Handler, QuestionWatch
from greenroom.record import Event
from greenroom.scripts import Script

T = TypeVar("T")
E = TypeVar("E", bound=Event)
C = TypeVar("C")


class Client(BlockingApi):
    """A connection to the daemon of this home. `with` closes it; conversations go on.

    `start`: start a daemon if none runs. `name`: as other clients see this one. `env`: the environment of the
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
        self._client = AsyncClient(start=start, name=name, env=env, reconnect_s=reconnect_s)
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = runner.get_loop()
        left = asyncio.Event()
        self._thread = threading.Thread(target=_serve, args=(runner, self._client, left), daemon=True)
        self._thread.start()
        # also if it is forgotten, or the program ends
        self._leave = weakref.finalize(self, self._loop.call_soon_threadsafe, left.set)
        self._handing_over = threading.Lock()  # work that was handed over before the end is ended with it
        try:
            self._wait(self._client.connect())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all waiting calls in any thread, which raise ClientClosed, and all events. May be called again."""
        with self._handing_over:
            self._leave()
        if self._thread is not threading.current_thread():
            self._thread.join()

    @property
    def closed(self) -> bool:
        return not self._leave.alive

    def on_question(self, handle: Handler[None]) -> QuestionWatch:
        """Call a function once with each question, in a thread: with the open ones, then with new ones.

        This goes on until the watch or the client is closed, also over restarts of the daemon. Questions are handled
        one after the other. An exception goes to `threading.excepthook`, and the question stays open.
        """
        return QuestionWatch(self.questions(), handle, self.answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _carry_out(self, script: Script[T]) -> T:
        return self._wait(self._client._carry_out(script))  # noqa: SLF001  # its other half

    def _read(self, reader: EventReader[E, C]) -> "Events[E, C]":
        return Events(self, self._client._read(reader))  # noqa: SLF001  # its other half

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        with self._handing_over:
            if self.closed:
                work.close()
                raise ClientClosed(CLIENT_CLOSED)
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise ClientClosed(CLIENT_CLOSED) from None
        finally:
            future.cancel()  # if we are interrupted


def _serve(runner: asyncio.Runner, client: AsyncClient, left: asyncio.Event) -> None:
    """Run the loop until the client is closed; open requests are cancelled then."""

    async def until_left() -> None:
        await left.wait()
        await client.close()

    with runner:
        runner.run(until_left())


class Events(Iterator[E], Generic[E, C]):
    """The events of `AsyncEvents`, for a `for` loop."""

    def __init__(self, client: Client, events: AsyncEvents[E, C]) -> None:
        self._client = client
        self._events = events

    @property
    def cursor(self) -> C:
        return self._events.cursor

    def __next__(self) -> E:
        try:
            return self._events.next_at_hand() or self._client._wait(self._events.__anext__())  # noqa: SLF001  # its other half
        except StopAsyncIteration:
            raise StopIteration from None
        except ClientClosed:
            if not self._events.ends_with_its_client:
                raise
            raise StopIteration from None

    def close(self) -> None:
        with suppress(ClientClosed):
            self._client._wait(self._events.close())  # noqa: SLF001  # its other half

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
