"""An embedded server for tests: a program that serves its standard streams with the fake dialect."""

import asyncio
import os
import subprocess
import sys

import structlog

from actors.runtime.clock import LoopClock
from actors.runtime.shared import SharedThread
from actors.vocabulary.ids import Caller, ConnectionId
from tests.fakes.dialect import EchoDialect
from tests.transports.house import Probe
from transports.connection import Connection, ConnectionDeps
from transports.descriptors import DescriptorWire
from transports.dialect import Action, Ask, Client
from transports.stdio import StandardStreams
from transports.supervisor_requests import AskStatus
from transports.switchboard import Switchboard


def script(line: bytes) -> tuple[Action, ...] | None:
    """Do everything that could write into the wire, or read from it."""
    if line == b"noise":
        print("printed")
        os.write(1, b"written\n")
        subprocess.run(["/bin/sh", "-c", "echo child; cat"], check=True)
    if line == b"owe":
        return (Ask(AskStatus(), Caller(ConnectionId("stdio"), 1)),)
    return None


async def serve() -> None:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    wire = DescriptorWire(StandardStreams(), loop, lambda _: over.set())
    client = Client(ConnectionId("stdio"), "test")
    deps = ConnectionDeps(Probe(), Probe(), Switchboard(), LoopClock(loop), SharedThread(loop).start)
    connection = Connection(client, EchoDialect(client, script), wire, deps)
    ref = connection.begin()
    wire.open(ref)
    await over.wait()
    assert await asyncio.to_thread(ref.wait_for_end, 5.0)
    print("over", file=sys.stderr)


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    asyncio.run(serve())
