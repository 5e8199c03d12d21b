"""A model endpoint that does its worst, as fast as loopback takes it. A process of its own: its work is not ours.

The last user message names what it does (`hostile NAME [SEED]`); any other is answered with `fine`. By hand:

    python -m tests.support.hostile_server
"""

import gzip
import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KIB, MIB = 1 << 10, 1 << 20
OK = b"HTTP/1.1 200 OK\r\n"
STREAM = OK + b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
Pieces = Iterator[bytes]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(body: Any) -> bytes:
    return b"data: %s\n\n" % (body if isinstance(body, bytes) else json.dumps(body).encode())


def delta(**said: Any) -> Any:
    return {"id": "r", "choices": [{"index": 0, "delta": said, "finish_reason": None}]}


def finish(reason: str = "stop", **more: Any) -> bytes:
    whole = {"id": "r", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], **more}
    return chunk(event(whole) + b"data: [DONE]\n\n") + b"0\r\n\r\n"


def for_ever(first: bytes, again: bytes) -> Pieces:
    yield first
    yield from repeat(again * (1 + 16 * KIB // len(again)))


def streamed(again: bytes) -> Pieces:
    """One thing for ever, in a stream that began well; 32 KiB of it to an HTTP chunk."""
    yield STREAM
    yield from repeat(chunk(again * (1 + 32 * KIB // len(again))))


def once(*pieces: bytes) -> Pieces:
    yield from (STREAM, *pieces)


@cache
def packed() -> bytes:
    """Some kilobytes that are 256 MiB once they are unpacked twice."""
    return gzip.compress(gzip.compress(b" " * (256 * MIB), 1))


def bombed(head: bytes, encoding: bytes) -> Pieces:
    yield head + b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (encoding, len(packed())) + packed()


def dripped(head: bytes, piece: bytes) -> Pieces:
    yield head
    while True:
        time.sleep(0.01)
        yield piece


def calls(count: int, name: str = "nothing") -> Pieces:
    yield STREAM
    for start in range(0, count, 500):
        said = [
            {"index": at, "id": f"c{at}", "function": {"name": name, "arguments": "{}"}}
            for at in range(start, min(count, start + 500))
        ]
        yield chunk(event(delta(tool_calls=said)))
    yield finish("tool_calls")


def called(arguments: str) -> Pieces:
    piece = {"index": 0, "id": "c", "function": {"name": "shell", "arguments": arguments}}
    yield from once(chunk(event(delta(tool_calls=[piece]))), finish("tool_calls"))


def counted(total: Any) -> Pieces:
    usage = {"prompt_tokens": total, "completion_tokens": total, "total_tokens": total}
    yield from once(chunk(event(delta(content="counted"))), finish(usage=usage))


TEXT = event(delta(content="x" * 4000))
ODD: tuple[Any, ...] = (2**63, 2**63 - 1, -5, 1.5, 10**300, "many", True, None, [], {"a": 1})

KINDS: dict[str, Callable[[], Pieces]] = {
    "header-name": lambda: for_ever(OK, b"x"),
    "header-value": lambda: for_ever(OK + b"X: ", b"y"),
    "headers": lambda: for_ever(OK, b"a: b\r\n"),
    "status-line": lambda: for_ever(b"HTTP/1.1 200 ", b"O"),
    "continue": lambda: for_ever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "trailer": lambda: for_ever(STREAM + chunk(b": x\n") + b"0\r\nT: ", b"t"),
    "trailers": lambda: for_ever(STREAM + b"0\r\n", b"t: t\r\n"),
    "chunk-extension": lambda: for_ever(STREAM + b"4;a=", b"e"),
    "tiny-chunks": lambda: for_ever(STREAM, b"1\r\n:\r\n"),
    "tiny-text-chunks": lambda: for_ever(STREAM, b"".join(chunk(bytes([one])) for one in TEXT)),
    "gzip": lambda: bombed(OK, b"gzip"),
    "gzip-gzip": lambda: bombed(OK, b"gzip, gzip"),
    "brotli": lambda: bombed(OK, b"br"),
    "zstd": lambda: bombed(OK, b"zstd"),
    "deflate": lambda: bombed(OK, b"deflate"),
    "refused-gzip": lambda: bombed(b"HTTP/1.1 400 Bad\r\n", b"gzip, gzip"),
    "transfer-gzip": lambda: for_ever(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n", chunk(b"x" * 4000)),
    "refused-endless": lambda: for_ever(b"HTTP/1.1 400 Bad\r\n\r\n", b"no "),
    "comments": lambda: streamed(b": nothing\n"),
    "comment-events": lambda: streamed(b": nothing\n\n"),
    "blank": lambda: streamed(b"\n"),
    "event": lambda: for_ever(STREAM, chunk(b"x" * 4000)),
    "event-lines": lambda: streamed(b"data: x\n"),
    "empty-objects": lambda: streamed(b"data: {}\n\n"),
    "text": lambda: streamed(TEXT),
    "letters": lambda: streamed(event(delta(content="x"))),
    "control-text": lambda: streamed(event(delta(content="\x01" * 600))),
    "reasoning": lambda: streamed(event(delta(reasoning="r" * 4000))),
    "alternating": lambda: streamed(event(delta(content="x")) + event(delta(reasoning="y"))),
    "arguments": lambda: streamed(
        event(delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "shell", "arguments": "x" * 4000}}]))
    ),
    "name": lambda: streamed(event(delta(tool_calls=[{"index": 0, "function": {"name": "n" * 99}}]))),
    "calls": lambda: calls(100_000),
    "unknown-calls": lambda: calls(100),
    "wide-json": lambda: once(chunk(event(b'{"choices":[' + b"[]," * 2_000_000 + b"[]]}"))),
    "deep-json": lambda: once(chunk(event(b"[" * MIB + b"]" * MIB)), chunk(event(b'{"a":' * MIB))),
    "deep-words": lambda: once(
        chunk(event(b'{"choices":[{"delta":{"content":' + b"[" * 150 + b"]" * 150 + b"}}]}"))
    ),
    "many-values": lambda: streamed(event({"choices": [[0] * 6_000]})),
    "bad-arguments": lambda: called('{"command":[' + "1," * 1_000_000 + "1]}"),
    "long-command": lambda: called(json.dumps({"command": ["echo", "x" * MIB]})),
    "many-words": lambda: called(json.dumps({"command": ["echo", *["x"] * 40_000]})),
    "long-time": lambda: called('{"command":["true"],"timeout":1' + "0" * 400 + "}"),
    **{f"count-{place}": partial(counted, odd) for place, odd in enumerate(ODD)},
}  # fmt: skip  # a line for each kind
SLOW = ("letters", "alternating", "tiny-chunks", "tiny-text-chunks")  # take seconds until they meet a bound
DRIPS: dict[str, Callable[[], Pieces]] = {
    "drip-head": lambda: dripped(OK, b"x"),
    "drip-continue": lambda: dripped(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "drip-refusal": lambda: dripped(b"HTTP/1.1 503 Busy\r\nContent-Length: 1000000\r\n\r\n", b"no "),
    "drip-comments": lambda: dripped(STREAM, chunk(b": x\n\n")),
    "drip-text": lambda: dripped(STREAM, chunk(event(delta(content="x")))),
}
WORDS = (
    *(b"data: ", b"data: [DONE]\n\n", b"\n", b"\n\n", b"\r\n", b": c\n", b"\xef\xbb\xbf", b'{"choices":[', b"}]}"),
    *(b'{"error":{"message":"x"}}', b"null", b"1e999", b"9" * 30, b'"\\ud800"', b"[" * 40, b"\0", b"\xff", TEXT),
    event(delta(tool_calls=[{"index": 10**30, "id": "x", "function": {"name": "shell", "arguments": "{}"}}])),
    event(delta(content=["a", {"text": "b"}, [["c"]]])),
    event({"usage": {"prompt_tokens": -1, "completion_tokens": 1e300, "total_tokens": "1"}}),
    event({"type": "response.output_item.done", "item": {"type": "message", "content": [{"text": "m"}]}}),
    event({"type": "response.completed", "response": {"usage": {"input_tokens": 2**70}}}),
)
HEADS = (
    *(STREAM, STREAM, STREAM, OK + b"\r\n", OK + b"Content-Length: 99\r\n\r\n", b"HTTP/1.1 500 No\r\n\r\n"),
    *(b"HTTP/1.1 429 Later\r\nRetry-After: 0\r\n\r\n", b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 103 Early\r\n\r\n", b""),
    *(OK + b"Content-Encoding: gzip\r\n\r\n", OK + b"Transfer-Encoding: chunked, chunked\r\n\r\n", b"\0" * 40),
    b"HTTP/1.1 301 There\r\nLocation: /\r\n\r\n",
)


def random_answer(seed: int) -> Pieces:
    """Pieces of everything in any order: ended well, cut off, or endless."""
    chance = random.Random(seed)
    if chance.random() < 0.2:
        yield from KINDS[chance.choice(sorted(KINDS))]()
        return
    head = chance.choice(HEADS)
    yield head
    pieces = [chance.choice(WORDS) * chance.choice((1, 1, 1, 50)) for _ in range(chance.randrange(40))]
    for piece in pieces:
        yield chunk(piece) if head is STREAM and chance.random() < 0.97 else piece
    if chance.random() < 0.5:
        yield finish() if head is STREAM else b""
    elif chance.random() < 0.3:
        yield from repeat(chunk(chance.choice(WORDS)))


def answer(prompt: str) -> Pieces:
    verb, _, rest = prompt.partition(" ")
    name, _, seed = rest.partition(" ")
    if verb != "hostile":
        return once(chunk(event(delta(content="fine"))), finish())
    return random_answer(int(seed)) if name == "random" else {**KINDS, **DRIPS}[name]()


def serve(connection: socket.socket) -> None:
    with connection:
        try:
            while prompt := asked(connection):
                for piece in answer(prompt):
                    connection.sendall(piece)
                if prompt.startswith("hostile"):
                    return
        except OSError:
            pass  # the client has had enough


def asked(connection: socket.socket) -> str:
    """The last thing that a person said in the request."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(64 * KIB)
        if not more:
            return ""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    parts = [body]
    left = size - len(body)
    while left > 0:
        parts.append(connection.recv(MIB))
        left -= len(parts[-1])
    items = json.loads(b"".join(parts))
    said = [one for one in items.get("messages") or items["input"] if one.get("role") in {"user", "tool"}]
    if said[-1]["role"] == "tool":
        return "tools are done"
    content = said[-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@contextmanager
def hostile_server() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.support.hostile_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
