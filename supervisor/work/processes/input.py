"""The writing end of a command's standard input. Waits for a reader instead of filling memory; loop thread."""

import asyncio
import os
from io import FileIO

from supervisor.work.processes.exits import settle

PIECE = 64 * 1024  # bytes of a write, the capacity of a pipe


class Input:
    """A command's input. Before the command's start and after its end it has no reader."""

    def __init__(self) -> None:
        self._file: FileIO | None = None
        self._room: asyncio.Future[None] | None = None  # a writer waits for it

    def open(self, file: FileIO) -> None:
        os.set_blocking(file.fileno(), False)
        self._file = file

    @property
    def is_open(self) -> bool:
        return self._file is not None

    async def write(self, data: bytes) -> int:
        """Write, and wait while the pipe is full. Return how many bytes were taken; fewer if the reader is gone."""
        taken = 0
        while self._file is not None and taken < len(data):
            try:
                taken += os.write(self._file.fileno(), data[taken : taken + PIECE])
            except BlockingIOError:
                await self._wait_for_room(self._file.fileno())
            except BrokenPipeError:
                self.close()
        return taken

    async def _wait_for_room(self, fd: int) -> None:
        loop = asyncio.get_running_loop()
        self._room = room = loop.create_future()
        loop.add_writer(fd, settle, room)
        try:
            await room
        finally:
            if self._file is not None:
                loop.remove_writer(fd)

    def close(self) -> None:
        """End the input; the command reads the end of its file."""
        if self._file is not None:
            asyncio.get_running_loop().remove_writer(self._file.fileno())
            self._file.close()
            self._file = None
        if self._room is not None:
            settle(self._room)
