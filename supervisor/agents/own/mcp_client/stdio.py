"""The stdio transport of the SDK over a process of ours: spawned, marked and ended as commands are.

Loop thread. The SDK's own transport starts processes that no ledger would know after a `kill -9`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from actors.vocabulary.json_values import has_too_many_values
from supervisor.agents.own.mcp_client.transport_end import TransportEnd
from supervisor.formats.lines import IN_A_ROW, LineCutter, MessageTooLong, StderrLog
from supervisor.work.processes.command import Command, Finished, NotStarted
from supervisor.work.processes.input import Input
from supervisor.work.processes.output import Output, Stream
from supervisor.work.processes.processes import Processes

KEPT = 1  # byte of output in memory after it is read: it is not needed any more
ENDLESS = 1 << 62  # bytes that are read of a server: it lives as long as it is used
LEAVES_S = 1.0  # for a server to end after its input was closed; then it is ended like a command
IN_A_THREAD = 64 * 1024  # bytes of a message whose parsing would hold up the loop
VALUES = 500_000  # in one message, which is a tenth of a second of parsing
BANNERS = 3  # lines that are no message and are logged; some programs greet on stdout

ReceivedMessages = MemoryObjectSendStream[SessionMessage | Exception]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

log = structlog.get_logger()


def stdio(
    processes: Processes, started: AbstractAsyncContextManager[Command], watch: TransportEnd, longest: int
) -> Transport:
    """Return a server's transport. `started` is entered for its command, and left when no process of it is alive."""
    return _stdio(processes, started, watch, longest)


@asynccontextmanager
async def _stdio(
    processes: Processes, started: AbstractAsyncContextManager[Command], watch: TransportEnd, longest: int
) -> AsyncIterator[Streams]:
    async with started as command, _run_for(processes, command, watch, longest) as streams:
        yield streams


@asynccontextmanager
async def _run_for(
    processes: Processes, command: Command, watch: TransportEnd, longest: int
) -> AsyncIterator[Streams]:
    received, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    given, words = Input(), StderrLog("mcp_server.stderr", server=watch.server)
    output = Output(_Reader(watch, received, words, longest).take, keep_bytes=KEPT, live_bytes=ENDLESS)
    running = asyncio.create_task(_run(processes, command, output, given, watch, words, received))
    writing = asyncio.create_task(_write(given, to_send))
    try:
        yield read_stream, write_stream
    finally:
        read_stream.close()
        write_stream.close()
        await asyncio.wait({writing}, timeout=LEAVES_S)
        given.close()
        await asyncio.wait({running}, timeout=LEAVES_S)
        await processes.end_turn(command.turn)
        writing.cancel()
        await asyncio.wait({running, writing})
        to_send.close()


async def _run(
    processes: Processes,
    command: Command,
    output: Output,
    given: Input,
    watch: TransportEnd,
    words: StderrLog,
    received: ReceivedMessages,
) -> None:
    """Run the server. Its end is the end of the stream, so that waiting calls hear of it."""
    try:
        result = await processes.run(command, output, given)
        watch.note_end(_reason_of_end(result, words.text))
    except MessageTooLong:
        watch.note_end("it sent a message that is too long")
    except Exception as error:
        watch.note_end(f"{type(error).__name__}: {error}")
        raise
    finally:
        received.close()


def _reason_of_end(result: Finished | NotStarted, words: str) -> str:
    if isinstance(result, NotStarted):
        return f"it could not be started: {result.reason}"
    return f"it ended with status {result.exit_code}{words and f', and said last: {words}'}"


async def _write(given: Input, to_send: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for session_message in to_send:
        text = session_message.message.model_dump_json(by_alias=True, exclude_unset=True)
        await given.write(f"{text}\n".encode())


class _Reader:
    def __init__(self, watch: TransportEnd, received: ReceivedMessages, words: StderrLog, longest: int) -> None:
        self._watch = watch
        self._received = received
        self._words = words
        self._lines = LineCutter(longest)
        self._banners = 0

    async def take(self, stream: Stream, piece: bytes) -> None:
        if stream == "stderr":
            self._words.take(piece)
            return
        for number, line in enumerate(self._lines.complete_lines(piece), 1):
            if line.strip():
                await self._hear(line)
            if number % IN_A_ROW == 0:
                await asyncio.sleep(0)

    async def _hear(self, line: bytes) -> None:
        try:
            message = await asyncio.to_thread(_parse, line) if len(line) > IN_A_THREAD else _parse(line)
        except ValueError:
            self._banners += 1
            if self._banners <= BANNERS:
                log.info(
                    "mcp_server.no_message", server=self._watch.server, line=line[:200].decode("utf-8", "replace")
                )
            return
        try:
            await self._received.send(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the session is over, and the server is being ended


def _parse(line: bytes) -> JSONRPCMessage:
    if has_too_many_values(line, VALUES):
        raise ValueError("too many values")
    return jsonrpc_message_adapter.validate_json(line, by_name=False)
