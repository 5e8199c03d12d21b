"""Requests and notifications with one agent, both ways. Loop thread. Knows nothing of processes or of ACP's methods.

What the agent says is handled in the order of arrival: the answer of a prompt comes after all updates before it. Its
requests are begun in that order, and answered when they are done.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import structlog

from supervisor.agents.acp import wire
from supervisor.agents.acp.failures import AgentFailed, ChildEnded, LoginWanted, Refused
from supervisor.agents.acp.wire import Json

REQUESTS = 64  # of the agent's at the same time; each may be a question that waits for a person
UNSENT = 256  # lines that wait for an agent that does not read
ERROR_TEXT = 2_000  # characters of an agent's error
SHOWN = 200  # characters of what it said that are logged
# Messages of one turn that nobody can answer or wants: lines that are none, unknown requests and notifications,
# answers to nobody. Agents that print what they do say some hundreds; each costs us as much as one of use.
MISUSES, LOGGED = 10_000, 5
EXTENSION, EXTENSIONS = ("_", "$/"), 100_000  # some send their whole stream a second time, in words of their own
IN_A_THREAD = 64 * 1024  # bytes of a message whose parsing would hold up the loop
OF_A_LOGIN = ("auth", "api key", "log in", "login")  # others use the number of a missing login for anything
CANCEL = "$/cancel_request"

log = structlog.get_logger()

Serve = Callable[[Json], Awaitable[Any]]


class Misused(Exception):
    """The agent has said too much that nobody can answer; the text says of what kind the last was."""


class Hears(Protocol):
    """The listener at our end."""

    async def told(self, method: str, params: Json) -> bool:
        """Take a notification; the next message is read when this returns. False: it is none that is known here."""
        ...

    def served(self, method: str) -> Serve | None:
        """Return what answers such a request of the agent's; None: nothing does."""
        ...


class Peer:
    def __init__(self, agent: str, write: Callable[[bytes], Awaitable[int]], hears: Hears) -> None:
        self._agent = agent
        self._write = write
        self._hears = hears
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[Any]] = {}
        self._serving: dict[bytes, asyncio.Task[None]] = {}
        self._unsent: asyncio.Queue[bytes] = asyncio.Queue(UNSENT)
        self._writing = asyncio.create_task(self._write_on(), name=f"acp-{agent}-writer")
        self._ended = ""  # why it has; not as an error, which would keep all that it was raised in
        self._misuses = self._extensions = 0

    # --- ours to the agent ------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Ask, and return the result. Raises AgentFailed. If it is cancelled, so is the request."""
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._open[number] = answer
        try:
            await self._send(wire.request(number, method, params))
            return await answer
        except asyncio.CancelledError:
            if not self._unsent.full():
                self._unsent.put_nowait(wire.notification(CANCEL, {"requestId": number}))
            raise
        finally:
            del self._open[number]
            answer.cancel()
            del answer  # if it is an error, that keeps this frame

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the agent. Raises ChildEnded."""
        await self._send(wire.notification(method, params))

    async def _send(self, line: bytes) -> None:
        if self._ended:
            raise ChildEnded(self._ended)
        await self._unsent.put(line)

    async def _write_on(self) -> None:
        """Write whole lines, one after the other: half a line would be the end of all understanding."""
        while True:
            await self._write(await self._unsent.get())

    # --- the agent's to us ------------------------------------------------------------------------------------------

    async def hear(self, line: bytes) -> None:
        match await asyncio.to_thread(wire.read, line) if len(line) > IN_A_THREAD else wire.read(line):
            case wire.Notification(method=method, params=params) if method == CANCEL:
                self._cancel(params)
            case wire.Notification(method=method, params=params):
                if not await self._hears.told(method, params):
                    self._passed_over(method)
            case wire.Request() as request:
                self._serve(request)
            case wire.Answer() as answer:
                self._settle(answer)
            case None:
                self._misused("a line that is not a message", line=line)

    def begin_turn(self) -> None:
        """Count anew what nobody can answer."""
        if self._misuses > LOGGED:
            log.warning("agent.misused_us", agent=self._agent, messages=self._misuses)
        self._misuses = self._extensions = 0

    def _passed_over(self, method: str) -> None:
        """Take a notification that nobody knows. Extensions are meant to be passed over, so there may be more."""
        self._extensions += method.startswith(EXTENSION)
        if not method.startswith(EXTENSION) or self._extensions > EXTENSIONS:
            self._misused("an unknown notification", method=method)

    def _misused(self, what: str, *, line: bytes = b"", **of: str) -> None:
        """Log the first ones of a turn, count the others, and have enough at last. Raises Misused."""
        self._misuses += 1
        if self._misuses <= LOGGED:
            shown = {"line": line[:SHOWN].decode("utf-8", "replace")} if line else of
            log.info("agent.misused_us", agent=self._agent, what=what, last_shown=self._misuses == LOGGED, **shown)
        if self._misuses > MISUSES:
            log.warning("agent.misused_us", agent=self._agent, messages=self._misuses)
            raise Misused(" ".join((what, *(value[:60] for value in of.values()))))

    def _settle(self, answer: wire.Answer) -> None:
        """An answer that nobody waits for is a second one, or came too late."""
        waiting = self._open.get(answer.id)
        if waiting is None or waiting.done():
            self._misused("an answer to nobody", id=str(answer.id))
        elif answer.error is None:
            waiting.set_result(answer.result)
        else:
            waiting.set_exception(refused(answer.error, self._agent))

    def _serve(self, request: wire.Request) -> None:
        serve = self._hears.served(request.method)
        if request.id in self._serving:  # an answer would be taken for that of the first
            self._misused("a request under an id that is taken", method=request.method)
            return
        if serve is None:
            self._misused("an unknown request", method=request.method)
        if len(self._serving) >= REQUESTS:
            self._refuse(request)
            return
        work = self._answered(request, serve)
        serving = asyncio.create_task(work, name=f"acp-{self._agent}-{request.method}")
        self._serving[request.id] = serving
        serving.add_done_callback(lambda _: self._serving.pop(request.id, None))

    def _refuse(self, request: wire.Request) -> None:
        """Say that it is one too many; an agent that does not read even that hears nothing."""
        self._misused("a request too many", method=request.method)
        line = wire.refusal(request.id, wire.INTERNAL, f"{REQUESTS} requests are open; wait for an answer first")
        with contextlib.suppress(asyncio.QueueFull):
            self._unsent.put_nowait(line)

    async def _answered(self, request: wire.Request, serve: Serve | None) -> None:
        if serve is None:
            line = wire.refusal(request.id, wire.METHOD_UNKNOWN, f"{request.method} is not offered")
        else:
            line = await self._result(request, serve)
        if not self._ended:
            await self._unsent.put(line)

    async def _result(self, request: wire.Request, serve: Serve) -> bytes:
        try:
            return wire.answer(request.id, await serve(request.params))
        except asyncio.CancelledError:
            return wire.refusal(request.id, wire.CANCELLED, "cancelled")
        except Refused as error:
            return wire.refusal(request.id, error.given, str(error))
        except Exception as error:
            log.exception("agent.request_failed", agent=self._agent, method=request.method)
            return wire.refusal(request.id, wire.INTERNAL, type(error).__name__)

    def _cancel(self, params: Json) -> None:
        asked = wire.id_of(params.get("requestId", params.get("id")))
        if (serving := self._serving.get(asked)) is None:
            self._passed_over(CANCEL)
        else:
            serving.cancel()

    # --- the end ----------------------------------------------------------------------------------------------------

    def end(self, why: str) -> None:
        """Fail all that waits for the agent, and end what it waits for. Called once."""
        self._ended = why
        self._writing.cancel()
        del self._writing  # it keeps the frame that it was cancelled in, which knows this peer
        while not self._unsent.empty():  # a sender that waits for room finds it, and its answer fails
            self._unsent.get_nowait()
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_exception(ChildEnded(why))
        for serving in self._serving.values():
            serving.cancel()


def refused(error: Json, agent: str) -> AgentFailed:
    """Return the agent's error as people read it: its own words, and what it adds where that says more."""
    said, data = str(error.get("message") or "an error without words"), error.get("data")
    more = (
        data
        if isinstance(data, str)
        else data.get("message") or data.get("details")
        if isinstance(data, dict)
        else None
    )
    text = f"{said}: {more}" if more and str(more) not in said else said
    code = error.get("code")
    if code == wire.LOGIN_WANTED and any(word in text.lower() for word in OF_A_LOGIN):
        return LoginWanted(text[:ERROR_TEXT], agent, code)
    return Refused(text[:ERROR_TEXT], code if isinstance(code, int) else wire.INTERNAL)
