"""Attacking clients, each in a process of its own, so that they don't slow the measuring process down.

`python -m tests.faults.attackers KIND SOCKET [CONVERSATION]` says a line when it has begun, and ends when its input
does. Standard library only.
"""

import contextlib
import os
import select
import socket
import sys
import threading
from collections.abc import Callable

from greenroom.wire import ControlWire, hello, line

MIB = 1 << 20
READERS = 1_000
SILENT = 2_500
NUMBERED = ControlWire(print)  # is never fed


def connected(path: str, dialect: str | None) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(30)
    sock.connect(path)
    if dialect is not None:
        sock.sendall(hello("worst", "0", dialect=dialect))
        sock.recv(1 << 16)
    if dialect == "mcp":
        client = {"name": "worst", "version": "0"}
        sock.sendall(request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client))
        sock.recv(1 << 16)
        sock.sendall(line({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    return sock


def request(method: str, **params: object) -> bytes:
    """A request with a number of its own, whose answer nobody waits for."""
    return NUMBERED.request(method, params, print)[1]


def drain(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while sock.recv(1 << 18):
            pass


def flood(path: str, dialect: str, piece: bytes) -> None:
    """Send the same bytes again and again, as fast as they are taken; read the answers and drop them."""
    sock = connected(path, dialect)
    sock.settimeout(None)
    threading.Thread(target=drain, args=(sock,), daemon=True).start()
    begun()
    with contextlib.suppress(OSError):
        while True:
            sock.sendall(piece)


def brackets(path: str, _: str) -> None:
    flood(path, "control", b"[" + b"[]," * (5 * MIB) + b"[]]\n")


def malformed(path: str, _: str) -> None:
    flood(path, "control", b"x\n" * 32_768)


def listings(path: str, _: str) -> None:
    flood(path, "mcp", b"".join(request("tools/list") for _ in range(1_000)))


def requests(path: str, _: str) -> None:
    flood(path, "control", b"".join(request("conversation/list") for _ in range(1_000)))


def pictures(path: str, conversation: str) -> None:
    """Send messages of the greatest length to a conversation that takes them."""
    items = [{"type": "image", "image_url": "data:image/png;base64," + "A" * (15 * MIB)}]
    flood(path, "control", request("conversation/send", conversation=conversation, items=items, if_busy="enqueue"))


def readers(path: str, conversation: str) -> None:
    socks = [connected(path, "control") for _ in range(READERS)]
    for sock in socks:
        sock.sendall(request("conversation/attach", conversation=conversation, after=None))
    poll = select.poll()
    by_number = {sock.fileno(): sock for sock in socks}
    for number in by_number:
        poll.register(number, select.POLLIN)
    begun()
    busy = connected(path, "control")
    while True:
        busy.sendall(
            request("conversation/send", conversation=conversation, prompt="say " + "word " * 200, wait=True)
        )
        answered = False
        while not answered:
            for number, _ in poll.poll(10):
                by_number[number].recv(1 << 18)
            answered = bool(select.select([busy], [], [], 0)[0]) and bool(busy.recv(1 << 16))


def silent(path: str, _: str) -> None:
    socks: list[socket.socket] = []
    for _number in range(SILENT):
        with contextlib.suppress(OSError):
            socks.append(connected(path, None))
    begun()
    sys.stdin.buffer.read()


KINDS: dict[str, Callable[[str, str], None]] = {
    "brackets": brackets,
    "malformed": malformed,
    "listings": listings,
    "requests": requests,
    "pictures": pictures,
    "readers": readers,
    "silent": silent,
}


def begun() -> None:
    os.write(1, b"begun\n")


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] != "silent":
        threading.Thread(target=_end_with_input, daemon=True).start()
    KINDS[sys.argv[1]](sys.argv[2], (sys.argv[3:] or [""])[0])
