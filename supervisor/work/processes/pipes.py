"""Reads a command's pipes into its Output: bounded, one piece in flight, never ahead of a slow taker. Loop thread."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from io import FileIO

from supervisor.work.processes.exits import settle
from supervisor.work.processes.output import Capture, Output, Stream, whole_length

CHUNK = 64 * 1024  # the capacity of a pipe, so that a single read empties it
PENDING = 64 * 1024  # most bytes read ahead of the taker, plus a chunk
LEFT_BEHIND = 1024 * 1024  # most bytes read from children that go on writing after their command has ended
SINK_PAUSE_S = 0.01  # between reads of dropped data: 6 MB/s suit a server's log and don't let a `yes` keep us busy


class Pipe:
    """The reading end of a stream."""

    def __init__(self, name: Stream, file: FileIO, capture: Capture, live: int, news: Callable[[], None]) -> None:
        self.name = name
        self.ended = asyncio.get_running_loop().create_future()
        self._file = file
        self._fd = file.fileno()
        self._loop = asyncio.get_running_loop()
        self._capture = capture
        self._live = live
        self._news = news
        self._pending = bytearray()
        os.set_blocking(self._fd, False)
        self._loop.add_reader(self._fd, self._readable)

    def _readable(self) -> None:
        if self._read() and len(self._pending) >= PENDING:
            self._loop.remove_reader(self._fd)

    def _read(self) -> int:
        """Read once and return the number of bytes; at the end of the stream close the pipe."""
        try:
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return 0
        if not data:
            self.close()
            return 0
        self._capture.add(data)
        if self._live > len(self._pending):
            self._pending += data[: self._live - len(self._pending)]
            self._news()
        return len(data)

    def take(self, *, last: bool = False) -> bytes:
        """Return the whole characters that have come since the last time; reading goes on."""
        size = len(self._pending) if last or self.ended.done() else whole_length(self._pending)
        piece = bytes(self._pending[:size])
        del self._pending[:size]
        self._live -= size
        if not self.ended.done():
            self._loop.add_reader(self._fd, self._readable)
        return piece

    def empty(self) -> None:
        """Read the current content, even without a taker: as much as the pipe holds, and more while it is written."""
        left = LEFT_BEHIND
        while not self.ended.done() and left > 0 and (came := self._read()):
            left -= came

    def sink(self) -> None:
        """Drop further data, so that a server left in the background doesn't die of a closed pipe."""
        self._loop.remove_reader(self._fd)
        if self.ended.done():
            return
        with contextlib.suppress(BlockingIOError):
            if not os.read(self._fd, CHUNK):
                self.close()
                return
        self._loop.call_later(SINK_PAUSE_S, self._sink_on)

    def _sink_on(self) -> None:
        if not self.ended.done():
            self._loop.add_reader(self._fd, self.sink)

    def close(self) -> None:
        if not self._file.closed:
            self._loop.remove_reader(self._fd)
            self._file.close()
            settle(self.ended)
            self._news()


class Pump:
    """Both pipes of a command, and the task that hands their pieces to the taker, one at a time."""

    def __init__(self, stdout: FileIO, stderr: FileIO, output: Output) -> None:
        self._came = asyncio.Event()
        self._finishing = False
        self._take = output.take
        live = output.live_bytes
        self.pipes = (
            Pipe("stdout", stdout, output.stdout, live, self._came.set),
            Pipe("stderr", stderr, output.stderr, live, self._came.set),
        )
        self.task = asyncio.create_task(self._deliver())

    async def _deliver(self) -> None:
        while True:
            last = self._finishing
            self._came.clear()
            for pipe in self.pipes:
                if piece := pipe.take(last=last):
                    await self._take(pipe.name, piece)
            if last:
                return
            await self._came.wait()

    async def wait_for_end(self, within_s: float) -> None:
        """Wait until both streams have ended, or the time is up because a process keeps them open."""
        for pipe in self.pipes:
            pipe.empty()
        waiting = [pipe.ended for pipe in self.pipes if not pipe.ended.done()]
        if waiting:
            await asyncio.wait(waiting, timeout=within_s)
            for pipe in self.pipes:
                pipe.empty()

    async def finish(self) -> None:
        """Hand over the remaining pieces."""
        self._finishing = True
        self._came.set()
        await self.task

    def stop(self) -> list[Pipe]:
        """Stop handing over. The pipes' content is captured; return those that stay open."""
        self.task.cancel()
        del self.task  # a cancelled or failed task keeps its frame, and that keeps this pump
        for pipe in self.pipes:
            pipe.empty()
        return [pipe for pipe in self.pipes if not pipe.ended.done()]
