"""A model whose every word is the time at which it was said: for latencies from the agent to a client.

Standard library, a process of its own. The prompt says how: `words N EVERY_MS`, `now` for one word at once.
By hand: python -m tests.support.clocked_model
"""

import asyncio
import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _delta(content: str) -> bytes:
    event = {"id": "r", "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}]}
    return _chunk(b"data: " + json.dumps(event).encode() + b"\n\n")


_END = (
    _chunk(b'data: {"id":"r","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    + _chunk(b"data: [DONE]\n\n")
    + b"0\r\n\r\n"
)


NOT_FOUND = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            size = int(head.partition("content-length:")[2].partition("\r\n")[0] or 0)
            body = json.loads(await reader.readexactly(size)) if size else {}
            if "messages" not in body:  # a question about the model's window
                writer.write(NOT_FOUND)
                continue
            await _speak(writer, str(_said(body)))
    writer.close()


def _said(body: dict[str, object]) -> object:
    messages = body["messages"]
    assert isinstance(messages, list)
    content = next(one["content"] for one in reversed(messages) if one["role"] == "user")
    return content if isinstance(content, str) else content[0]["text"]


async def _speak(writer: asyncio.StreamWriter, prompt: str) -> None:
    verb, *numbers = prompt.split()
    writer.write(HEAD)
    if verb == "words":
        count, every_s = int(numbers[0]), float(numbers[1]) / 1000
        due = time.monotonic() + random.random() * every_s  # so that not all speak in the same moment
        for _ in range(count):
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due += every_s
            writer.write(_delta(f"{time.time():.6f} "))
    else:
        writer.write(_delta(f"{time.time():.6f} "))
    writer.write(_END)
    await writer.drain()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()


@contextlib.contextmanager
def clocked_model() -> Iterator[str]:
    """Run the model; its address."""
    command = [sys.executable, "-m", "tests.support.clocked_model"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(_main())
