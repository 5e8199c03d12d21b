"""Requests and notifications with an agent, both ways. Loop thread. Knows nothing of processes or of ACP's methods.

Messages of the agent are handled in the order of arrival: the answer to a prompt comes after all updates before it.
Its requests are begun in that order, and answered when they are done.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import structlog

from supervisor.agents.acp import wire
from supervisor.agents.acp.failures import AgentFailed, AgentRefused, ChildEnded, LoginWanted
from supervisor.agents.acp.wire import Json

REQUESTS = 64  # of the agent's at the same time; each may be a question that waits for a person
UNSENT = 256  # lines that wait for an agent that does not read
ERROR_TEXT = 2_000  # characters of an agent's error
SHOWN = 200  # characters of a misused line that are logged
# Useless messages of a turn: lines that are no messages, unknown requests and notifications, answers without a
# request. Agents that print their progress send some hundreds; each costs us as much as a useful message.
MISUSES, LOGGED = 10_000, 5
EXTENSION, EXTENSIONS = (
    ("_", "$/"),
    100_000,
)  # some agents send their whole stream a second time, in a form of their own
IN_A_THREAD = 64 * 1024  # bytes of a message whose parsing would hold up the loop
OF_A_LOGIN = ("auth", "api key", "log in", "login")  # some agents use the code of a missing login for any error
CANCEL = "$/cancel_request"

log = structlog.get_logger()

RequestHandler = Callable[[Json], Awaitable[Any]]


class TooManyMisuses(Exception):
    """The agent has sent too many useless messages; the text names the kind of the last one."""


class PeerReceiver(Protocol):
    """The receiver of the agent's messages."""

    async def take_notification(self, method: str, params: Json) -> bool:
        """Take a notification; the next message is read when this returns. False: its method is unknown."""
        ...

    def handler_for(self, method: str) -> RequestHandler | None:
        """Return the function that answers such requests of the agent; None: there is none."""
        ...


class AgentPeer:
    def __init__(self, agent: str, write: Callable[[bytes], Awaitable[int]], hears: PeerReceiver) -> None:
        self._agent = agent
        self._write = write
        self._hears = hears
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[Any]] = {}
        self._serving: dict[bytes, asyncio.Task[None]] = {}
        self._unsent: asyncio.Queue[bytes] = asyncio.Queue(UNSENT)
        self._writing = asyncio.create_task(self._write_on(), name=f"acp-{agent}-writer")
        self._ended = ""  # why the agent ended; a text, as an error would keep the frames that raised it
        self._misuses = self._extensions = 0

    # --- ours to the agent ------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send a request, and return the result. Raises AgentFailed. A cancellation cancels the request."""
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
            del answer  # an error in it would keep this frame

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification. Raises ChildEnded."""
        await self._send(wire.notification(method, params))

    async def _send(self, line: bytes) -> None:
        if self._ended:
            raise ChildEnded(self._ended)
        await self._unsent.put(line)

    async def _write_on(self) -> None:
        """Write whole lines, each after the other: half a line would break the wire."""
        while True:
            await self._write(await self._unsent.get())

    # --- the agent's to us ------------------------------------------------------------------------------------------

    async def hear(self, line: bytes) -> None:
        match await asyncio.to_thread(wire.read, line) if len(line) > IN_A_THREAD else wire.read(line):
            case wire.RpcNotification(method=method, params=params) if method == CANCEL:
                self._cancel(params)
            case wire.RpcNotification(method=method, params=params):
                if not await self._hears.take_notification(method, params):
                    self._skip(method)
            case wire.RpcRequest() as request:
                self._serve(request)
            case wire.RpcAnswer() as answer:
                self._settle(answer)
            case None:
                self._count_misuse("a line that is not a message", line=line)

    def begin_turn(self) -> None:
        """Reset the counts of useless messages."""
        if self._misuses > LOGGED:
            log.warning("agent.misused_us", agent=self._agent, messages=self._misuses)
        self._misuses = self._extensions = 0

    def _skip(self, method: str) -> None:
        """Skip an unknown notification. Extensions are meant to be skipped, so more of them are allowed."""
        self._extensions += method.startswith(EXTENSION)
        if not method.startswith(EXTENSION) or self._extensions > EXTENSIONS:
            self._count_misuse("an unknown notification", method=method)

    def _count_misuse(self, kind: str, *, line: bytes = b"", **details: str) -> None:
        """Log the first ones of a turn, and count the others. Raises Misused when there are too many."""
        self._misuses += 1
        if self._misuses <= LOGGED:
            shown = {"line": line[:SHOWN].decode("utf-8", "replace")} if line else details
            log.info("agent.misused_us", agent=self._agent, what=kind, last_shown=self._misuses == LOGGED, **shown)
        if self._misuses > MISUSES:
            log.warning("agent.misused_us", agent=self._agent, messages=self._misuses)
            raise TooManyMisuses(" ".join((kind, *(value[:60] for value in details.values()))))

    def _settle(self, answer: wire.RpcAnswer) -> None:
        """Pass an answer to its request. Without a waiting request it is a second answer, or too late."""
        waiting = self._open.get(answer.id)
        if waiting is None or waiting.done():
            self._count_misuse("an answer to nobody", id=str(answer.id))
        elif answer.error is None:
            waiting.set_result(answer.result)
        else:
            waiting.set_exception(agent_error(answer.error, self._agent))

    def _serve(self, request: wire.RpcRequest) -> None:
        serve = self._hears.handler_for(request.method)
        if request.id in self._serving:  # its answer would be taken for the first request's
            self._count_misuse("a request under an id that is taken", method=request.method)
            return
        if serve is None:
            self._count_misuse("an unknown request", method=request.method)
        if len(self._serving) >= REQUESTS:
            self._refuse(request)
            return
        work = self._serve_and_answer(request, serve)
        serving = asyncio.create_task(work, name=f"acp-{self._agent}-{request.method}")
        self._serving[request.id] = serving
        serving.add_done_callback(lambda _: self._serving.pop(request.id, None))

    def _refuse(self, request: wire.RpcRequest) -> None:
        """Refuse a request beyond the limit, unless the agent does not even read refusals."""
        self._count_misuse("a request too many", method=request.method)
        line = wire.refusal(request.id, wire.INTERNAL, f"{REQUESTS} requests are open; wait for an answer first")
        with contextlib.suppress(asyncio.QueueFull):
            self._unsent.put_nowait(line)

    async def _serve_and_answer(self, request: wire.RpcRequest, serve: RequestHandler | None) -> None:
        if serve is None:
            line = wire.refusal(request.id, wire.METHOD_UNKNOWN, f"{request.method} is not offered")
        else:
            line = await self._result(request, serve)
        if not self._ended:
            await self._unsent.put(line)

    async def _result(self, request: wire.RpcRequest, serve: RequestHandler) -> bytes:
        try:
            return wire.answer(request.id, await serve(request.params))
        except asyncio.CancelledError:
            return wire.refusal(request.id, wire.CANCELLED, "cancelled")
        except AgentRefused as error:
            return wire.refusal(request.id, error.error_code, str(error))
        except Exception as error:
            log.exception("agent.request_failed", agent=self._agent, method=request.method)
            return wire.refusal(request.id, wire.INTERNAL, type(error).__name__)

    def _cancel(self, params: Json) -> None:
        request = wire.id_of(params.get("requestId", params.get("id")))
        if (serving := self._serving.get(request)) is None:
            self._skip(CANCEL)
        else:
            serving.cancel()

    # --- the end ----------------------------------------------------------------------------------------------------

    def end(self, why: str) -> None:
        """Fail our open requests, and cancel the agent's. Called once."""
        self._ended = why
        self._writing.cancel()
        del self._writing  # a cancelled task keeps its frame, and that keeps this peer
        while not self._unsent.empty():  # makes room for waiting senders, whose requests fail below
            self._unsent.get_nowait()
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_exception(ChildEnded(why))
        for serving in self._serving.values():
            serving.cancel()


def agent_error(error: Json, agent: str) -> AgentFailed:
    """Return the agent's error as people read it: its message, with its details if they say more."""
    message, data = str(error.get("message") or "an error without words"), error.get("data")
    more = (
        data
        if isinstance(data, str)
        else data.get("message") or data.get("details")
        if isinstance(data, dict)
        else None
    )
    text = f"{message}: {more}" if more and str(more) not in message else message
    code = error.get("code")
    if code == wire.LOGIN_WANTED and any(word in text.lower() for word in OF_A_LOGIN):
        return LoginWanted(text[:ERROR_TEXT], agent, code)
    return AgentRefused(text[:ERROR_TEXT], code if isinstance(code, int) else wire.INTERNAL)
