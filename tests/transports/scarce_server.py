"""A listener in a process of its own that can be left without descriptors. Its orders are one word a line."""

import contextlib
import os
import resource
import sys
import threading
import time
from pathlib import Path

import structlog

from tests.transports.house import LoopThread, eventually
from tests.transports.place import Place
from transports.dialect import Write
from transports.listener import ListenerLimits

HOGGED: list[int] = []


def script(line: bytes) -> tuple[Write, ...]:
    """`cpu`: how much time was used. `hog`, `free`: take all descriptors. `none`, `some`: allow no new ones."""
    match line:
        case b"hog":
            with contextlib.suppress(OSError):
                while True:
                    HOGGED.append(os.open(os.devnull, os.O_RDONLY))
        case b"free":
            while HOGGED:
                os.close(HOGGED.pop())
        case b"none" | b"some":
            _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (3 if line == b"none" else hard, hard))
        case _:
            pass
    return (Write(b"%f\n" % time.process_time()),)


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    limit = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    place = Place(LoopThread(), Path(sys.argv[1]), ListenerLimits(), script=script)
    place.open()
    print("ready", flush=True)
    sys.stdin.read()
    place.close()
    eventually(lambda: threading.active_count() == 2, "more is left than the main thread and the loop")
