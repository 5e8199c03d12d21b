"""The calls that are under way at one server, their clocks, and the way of its questions. Loop thread."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import structlog

from supervisor.agents.own.mcp_client.failures import Ended, ServerTimedOut
from supervisor.agents.own.mcp_client.server_tools import Json

QUESTIONS = 10  # of one call, one at a time: each is stored, and waits for a person

log = structlog.get_logger()


class CallOwner(Protocol):
    """A call under way, as its connection knows it."""

    conversation: str

    async def report_progress(self, progress: float, total: float | None, message: str | None) -> None: ...

    async def elicit(self, params: Json) -> Json:
        """Put the server's question to a person, and return the answer as MCP has it."""
        ...

    def show_notice(self, notice: str) -> None:
        """Tell the person something about the server."""
        ...


class CallUnderWay:
    """A call, its clock, which stands still while a person is asked, and the questions that end with it."""

    def __init__(self, caller: CallOwner) -> None:
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
        self._calls: list[CallUnderWay] = []
        self._leaving: set[asyncio.Task[Json]] = set()
        self._alone: asyncio.Lock | None = None  # from the first question that could have been any conversation's

    def __len__(self) -> int:
        return len(self._calls)

    async def run(self, work: Callable[[], Coroutine[Any, Any, Json]], caller: CallOwner) -> Json:
        """Make a call, alone where the server needs that. Raises the call's errors, and TimedOut."""
        if self._alone is None:
            return await self._run(work, caller)
        async with self._alone:
            return await self._run(work, caller)

    async def _run(self, work: Callable[[], Coroutine[Any, Any, Json]], caller: CallOwner) -> Json:
        under_way = CallUnderWay(caller)
        self._calls.append(under_way)
        task = asyncio.create_task(work(), name=f"mcp-{self._server}")
        try:
            async with asyncio.timeout(self._limit_s) as under_way.clock:
                await asyncio.wait({task})
            return task.result()
        except TimeoutError:
            raise ServerTimedOut(
                f"it did not answer within {self._limit_s:g} s; a person can raise "
                f"mcp_servers.{self._server}.tool_timeout_sec"
            ) from None
        except Ended:
            # Its process may tell the reason in this moment, and this call is among those that are told.
            await asyncio.sleep(0)
            raise
        finally:
            under_way.clock = None
            self._calls.remove(under_way)
            self._let_go(task, *under_way.asking)

    def tell(self, notice: str) -> None:
        for call in self._calls:
            call.caller.show_notice(notice)

    async def elicit(self, params: Json) -> Json:
        """Put a question to the conversation that has a call under way; unless it is the only one, answer no."""
        callers = {call.caller.conversation for call in self._calls}
        if len(callers) != 1:
            self._take_one_at_a_time()
            return {"action": "cancel"}
        under_way = self._calls[-1]
        under_way.questions += 1
        if under_way.questions > QUESTIONS:
            if under_way.questions == QUESTIONS + 1:
                under_way.caller.show_notice(
                    f"MCP server {self._server} asked more than {QUESTIONS} times in one call; told no"
                )
            return {"action": "cancel"}
        async with under_way.one_at_a_time:
            return await self._put_question(under_way, params)

    async def _put_question(self, under_way: CallUnderWay, params: Json) -> Json:
        if under_way not in self._calls:  # it was over while an earlier question stood
            return {"action": "cancel"}
        asking = asyncio.create_task(under_way.caller.elicit(params))
        under_way.asking.add(asking)
        with under_way.clock_stopped(self._limit_s):
            await asyncio.wait({asking})
        return {"action": "cancel"} if asking.cancelled() else asking.result()

    def _take_one_at_a_time(self) -> None:
        if self._alone is not None:
            return  # they have been told
        self._alone = asyncio.Lock()
        self.tell(
            f"MCP server {self._server} asked something while several conversations used it; nobody knows whom, so "
            "it was told no. From now on it gets one call at a time: try again"
        )

    def _let_go(self, *tasks: asyncio.Task[Json]) -> None:
        """Cancel the tasks still under way, and wait for none: a server may not even read of it."""
        for task in tasks:
            if not task.done():
                task.cancel()
                self._leaving.add(task)
                task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[Json]) -> None:
        self._leaving.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.debug("mcp_server.call_left", server=self._server, error=str(error))
