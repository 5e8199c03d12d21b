"""One server in one environment: started at its first use, shared by conversations, started anew when it has ended.

Loop thread. The session lives in a task of its own, because the SDK wants to be left where it was entered; calls are
made from the tasks of turns, and the server's questions go to the call that they can belong to.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from contextvars import Context
from importlib import import_module
from typing import TYPE_CHECKING

import structlog

from supervisor.agents.own.mcp_client.calls_under_way import CallOwner, CallsUnderWay
from supervisor.agents.own.mcp_client.failures import Ended, Unavailable
from supervisor.agents.own.mcp_client.restarts import Restarts
from supervisor.agents.own.mcp_client.server_tools import Json, ServerTool
from supervisor.agents.own.mcp_client.transport_end import TransportEnd
from supervisor.config.mcp_servers import McpServer

if TYPE_CHECKING:
    from mcp.client import Transport

    from supervisor.agents.own.mcp_client.live import LiveSession, Mode

OpenTransport = Callable[[TransportEnd], "Transport"]  # called once per attempt; imports the SDK

SDK = "supervisor.agents.own.mcp_client.live"  # our module that imports it
LIST_S = 10.0  # for a list of tools that has changed; the turn goes on with the one before
log = structlog.get_logger()


class ServerConnection:
    def __init__(
        self,
        name: str,
        server: McpServer,
        reach: OpenTransport,
        modes: "tuple[Mode, ...]",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.server_info = ""
        self.used = clock()
        self._server = server
        self._reach = reach
        self._modes = modes
        self._clock = clock
        self._live: LiveSession | None = None
        self._tools: tuple[ServerTool, ...] | None = None
        self._life: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._closed = False
        self._closing = asyncio.Event()
        self._calls = CallsUnderWay(name, server.tool_timeout_sec)
        self._restarts = Restarts()
        self._why = ""

    def __repr__(self) -> str:
        return f"<Connection {self.name} {'ready' if self._live else 'not ready'} calls={len(self._calls)}>"

    @property
    def busy(self) -> bool:
        """Tell whether a call or a start is under way."""
        return bool(self._calls) or (self._ready is not None and not self._ready.done())

    @property
    def idle_s(self) -> float:
        return 0.0 if self.busy else self._clock() - self.used

    # --- for turns --------------------------------------------------------------------------------------------------

    async def tools(self) -> tuple[ServerTool, ...]:
        """Return the server's tools as they are now; start it if it does not run. Raises Unavailable."""
        live = await self._live_session()
        if self._tools is None:
            try:
                async with asyncio.timeout(LIST_S):
                    self._tools = await live.tools()
            except TimeoutError:
                raise Unavailable(f"its list of tools did not come within {LIST_S:.0f} s") from None
        return self._tools

    async def call(self, tool: str, arguments: Json, caller: CallOwner) -> Json:
        """Call a tool and return its result. Raises ServerError. A cancelled call is over at once."""
        live = await self._live_session()
        try:
            result = await self._calls.run(lambda: live.call(tool, arguments, caller.report_progress), caller)
        except Ended as ended:
            raise Ended(self._why or str(ended)) from ended
        else:
            self._restarts.note_answer()
            return result
        finally:
            self.used = self._clock()

    async def close(self) -> None:
        """End the session and the server, for good: the next use is another connection's."""
        self._closed = True
        self._closing.set()
        if self._life is not None:
            await asyncio.wait({self._life})

    # --- from the server, by itself ---------------------------------------------------------------------------------

    def tools_changed(self) -> None:
        self._tools = None

    async def elicit(self, params: Json) -> Json:
        return await self._calls.elicit(params)

    # --- its life ---------------------------------------------------------------------------------------------------

    async def _live_session(self) -> "LiveSession":
        if SDK not in sys.modules:
            await asyncio.to_thread(import_module, SDK)  # it takes half a second
        self.used = self._clock()
        if self._closed:
            raise Unavailable("it was being ended; try again")
        if self._live is not None:
            return self._live
        if self._ready is None or self._ready.done():
            await self._begin()
        limit_s = self._server.startup_timeout_s
        assert self._ready is not None  # noqa: S101  # made by `_begin`
        try:
            async with asyncio.timeout(limit_s):
                await asyncio.shield(self._ready)
        except TimeoutError:
            raise Unavailable(_not_ready(limit_s)) from None
        self.used = self._clock()
        return self._ready_now()

    def _ready_now(self) -> "LiveSession":
        if self._live is None:
            raise Unavailable(self._why or "it ended as soon as it was ready")
        return self._live

    async def _begin(self) -> None:
        if (wait_s := self._restarts.wait_s(self._clock())) > 0:
            raise Unavailable(f"{self._why}; it is started again in {wait_s:.0f} s")
        before = self._life
        self._ready = ready = asyncio.get_running_loop().create_future()
        ready.add_done_callback(lambda future: future.cancelled() or future.exception())  # nobody may be waiting
        life = self._live_on(ready, before)
        self._life = asyncio.create_task(life, name=f"mcp-{self.name}", context=Context())  # no conversation's own

    async def _live_on(self, ready: asyncio.Future[None], before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        began = self._clock()
        try:
            for last, mode in _marked_last(self._modes):
                if await self._one_session(mode, ready, last=last):
                    break
        except Exception as error:  # noqa: BLE001  # any error of the SDK or a server: the waiting calls must hear of it
            self._fail(ready, error, began)
        finally:
            self._live = self._tools = None
            if not ready.done():
                ready.set_exception(Unavailable("it was ended before it was ready"))

    async def _one_session(self, mode: "Mode", ready: asyncio.Future[None], *, last: bool) -> bool:
        """Live one session to its end. False if the server wants to be greeted in another way."""
        from supervisor.agents.own.mcp_client.live import knows_another_protocol, session

        watch = TransportEnd(self.name)
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._server.startup_timeout_s):
                    live = await stack.enter_async_context(session(self._reach(watch), mode, self))
                    self._tools = await live.tools()
                self._why, self._live, self.server_info = "", live, live.server
                log.info("mcp_server.ready", server=self.name, tools=len(self._tools))
                ready.set_result(None)
                await _first_of(watch.over, self._closing)
                self._live = None
                if watch.over.is_set() and not self._closing.is_set():
                    self._note_crash(watch.why)
        except Exception as error:
            if not last and not ready.done() and knows_another_protocol(error):
                return False
            if watch.why and not ready.done() and not isinstance(error, TimeoutError):
                raise Unavailable(watch.why) from error
            raise
        return True

    def _note_crash(self, why: str) -> None:
        self._why = why
        pause_s = self._restarts.note_end(self._clock())
        log.warning("mcp_server.ended", server=self.name, reason=why, again_in_s=pause_s)
        self._calls.tell(f"MCP server {self.name} is gone: {why}; the next call starts it anew")

    def _fail(self, ready: asyncio.Future[None], error: Exception, began: float) -> None:
        from supervisor.agents.own.mcp_client.live import reason

        if ready.done():  # the end of a session that was ready, which is reported already
            log.warning("mcp_server.left_badly", server=self.name, reason=reason(error))
            return
        late = isinstance(error, TimeoutError)
        self._why = _not_ready(self._server.startup_timeout_s) if late else reason(error)
        pause_s = self._restarts.note_no_start(began, self._clock())
        log.warning("mcp_server.not_started", server=self.name, reason=self._why, again_in_s=pause_s)
        ready.set_exception(Unavailable(self._why))


def _not_ready(limit_s: float) -> str:
    return f"it was not ready within {limit_s:g} s"


def _marked_last(modes: "tuple[Mode, ...]") -> "Iterator[tuple[bool, Mode]]":
    yield from ((at == len(modes) - 1, mode) for at, mode in enumerate(modes))


async def _first_of(*events: asyncio.Event) -> None:
    waiting = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
