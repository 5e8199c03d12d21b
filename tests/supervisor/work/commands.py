"""The commands of one test: built, awaited, and looked for in all of /proc when they should be gone."""

import asyncio
import os
import sys
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TypeVar

import pytest
from msgspec.structs import replace

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.work.processes.command import Command
from supervisor.work.processes.output import KEEP_BYTES, LIVE_BYTES, Output, Stream
from supervisor.work.sandbox.order import ConfinedCommand

LIMIT_S = 20.0  # far above what any of these takes; only a hanging test reaches it
INSTANCE = f"instance-of-the-tests-{os.getpid()}"  # a sweep must not end what other workers have started
TURN = TurnId("turn-1")
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks for what is left in /proc")
T = TypeVar("T")


def limited(work: Coroutine[None, None, T]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(LIMIT_S):
            return await work

    return asyncio.run(bounded())


def new_token() -> str:
    return f"token-{uuid.uuid4().hex}"


def command(
    *argv: str,
    cwd: Path | None = None,
    turn: TurnId = TURN,
    timeout_s: float | None = None,
    env: dict[str, str] | None = None,
) -> Command:
    return Command(
        argv=argv,
        cwd=cwd or Path("/"),
        env={"PATH": os.environ["PATH"], **(env or {})},
        conversation=ConversationId("conversation-1"),
        turn=turn,
        timeout_s=timeout_s,
    )


def confined(plain: Command, inside: ConfinedCommand) -> Command:
    return replace(
        plain, argv=inside.argv, cwd=inside.cwd, env=inside.env, keeper=inside.keeper, pass_fds=inside.pass_fds
    )


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that a child does by itself; the test's time limit is the bound."""
    while not condition():  # noqa: ASYNC110 - nobody sets an event there
        await asyncio.sleep(0.002)


class Watched:
    """An output whose pieces are kept, with an event for the first."""

    def __init__(self, *, keep_bytes: int = KEEP_BYTES, live_bytes: int = LIVE_BYTES) -> None:
        self.pieces: list[tuple[Stream, bytes]] = []
        self.spoke = asyncio.Event()
        self.output = Output(self.take, keep_bytes=keep_bytes, live_bytes=live_bytes)

    async def take(self, stream: Stream, piece: bytes) -> None:
        self.pieces.append((stream, piece))
        self.spoke.set()

    def of(self, stream: Stream) -> bytes:
        return b"".join(piece for name, piece in self.pieces if name == stream)


def alive(token: str) -> list[str]:
    """Return every process, running or zombie, with the token in its environment or command line."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            told = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except OSError:
            continue
        if token.encode() in told:
            found.append(f"{process.name}: {told[-200:]!r}")
    return found


def zombies() -> list[str]:
    """Return our own zombies: nobody else could reap them."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state == "Z" and int(parent) == os.getpid():
                found.append(process.name)
    return found


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
