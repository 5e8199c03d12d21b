"""The calls that are under way at one server, their clocks, and to whom its questions go. Loop thread."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import structlog

from supervisor.agents.own.mcp_client.failures import Ended, TimedOut
from supervisor.agents.own.mcp_client.server_tools import Json

QUESTIONS = 10  # of one call, one at a time: each is stored, and waits for a person

log = structlog.get_logger()


class Caller(Protocol):
    """A call under way, as its connection knows it."""

    conversation: str

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None: ...

    async def elicited(self, params: Json) -> Json:
        """Put the server's question to a person, and return the answer as MCP has it."""
        ...

    def told(self, notice: str) -> None:
        """Tell the person something about the server."""
        ...


class UnderWay:
    """A call, its clock, which stands while a person is asked, and what of it has to end with it."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.clock: asyncio.Timeout | None = None
        self.asking: set[asyncio.Task[Json]] = set()
        self.questions = 0
        self.one_at_a_time = asyncio.Lock()

    @contextmanager
    def clock_stopped(self, limit_s: float) -> Iterator[None]:
        if self.clock is not None:
            self.clock.reschedule(None)
        try:
            yield
        finally:
            if self.clock is not None and not self.clock.expired():
                self.clock.reschedule(asyncio.get_running_loop().time() + limit_s)


class CallsUnderWay:
    def __init__(self, server: str, limit_s: float) -> None:
        self._server = server
        self._limit_s = limit_s
        self._calls: list[UnderWay] = []
        self._leaving: set[asyncio.Task[Json]] = set()
        self._alone: asyncio.Lock | None = None  # once it has asked while it could not be known whom

    def __len__(self) -> int:
        return len(self._calls)

    async def run(self, work: Callable[[], Coroutine[Any, Any, Json]], caller: Caller) -> Json:
        """Make a call, alone where the server needs that. Raises what the call does, and TimedOut."""
        if self._alone is None:
            return await self._run(work, caller)
        async with self._alone:
            return await self._run(work, caller)

    async def _run(self, work: Callable[[], Coroutine[Any, Any, Json]], caller: Caller) -> Json:
        under_way = UnderWay(caller)
        self._calls.append(under_way)
        task = asyncio.create_task(work(), name=f"mcp-{self._server}")
        try:
            async with asyncio.timeout(self._limit_s) as under_way.clock:
                await asyncio.wait({task})
            return task.result()
        except TimeoutError:
            raise TimedOut(
                f"it did not answer within {self._limit_s:g} s; a person can raise "
                f"mcp_servers.{self._server}.tool_timeout_sec"
            ) from None
        except Ended:
            await asyncio.sleep(
                0
            )  # its process may tell why in this moment, and this call is among those that are told
            raise
        finally:
            under_way.clock = None
            self._calls.remove(under_way)
            self._let_go(task, *under_way.asking)

    def tell(self, notice: str) -> None:
        for one in self._calls:
            one.caller.told(notice)

    async def elicited(self, params: Json) -> Json:
        """Put its question to the conversation whose call is under way. With several nobody is asked."""
        callers = {one.caller.conversation for one in self._calls}
        if len(callers) != 1:
            self._nobody_knows_whom()
            return {"action": "cancel"}
        under_way = self._calls[-1]
        under_way.questions += 1
        if under_way.questions > QUESTIONS:
            if under_way.questions == QUESTIONS + 1:
                under_way.caller.told(
                    f"MCP server {self._server} asked more than {QUESTIONS} times in one call; told no"
                )
            return {"action": "cancel"}
        async with under_way.one_at_a_time:
            return await self._asked(under_way, params)

    async def _asked(self, under_way: UnderWay, params: Json) -> Json:
        if under_way not in self._calls:  # it was over while an earlier question stood
            return {"action": "cancel"}
        asking = asyncio.create_task(under_way.caller.elicited(params))
        under_way.asking.add(asking)
        with under_way.clock_stopped(self._limit_s):
            await asyncio.wait({asking})
        return {"action": "cancel"} if asking.cancelled() else asking.result()

    def _nobody_knows_whom(self) -> None:
        if self._alone is not None:
            return  # they have been told
        self._alone = asyncio.Lock()
        self.tell(
            f"MCP server {self._server} asked something while several conversations used it; nobody knows whom, so "
            "it was told no. From now on it gets one call at a time: try again"
        )

    def _let_go(self, *tasks: asyncio.Task[Json]) -> None:
        """Cancel what is still under way, and wait for none: a server may not even read that it is cancelled."""
        for task in tasks:
            if not task.done():
                task.cancel()
                self._leaving.add(task)
                task.add_done_callback(self._left)

    def _left(self, task: asyncio.Task[Json]) -> None:
        self._leaving.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.debug("mcp_server.call_left", server=self._server, error=str(error))
