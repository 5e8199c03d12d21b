"""A hostile model endpoint, as fast as loopback allows. A process of its own, so that its work is not measured.

The last user message names what it does (`hostile NAME [SEED]`); any other is answered with `fine`. By hand:

    python -m tests.support.hostile_server
"""

import gzip
import json
import random
import re
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


def once_with(head: bytes) -> Pieces:
    yield head + chunk(event(delta(content="x"))) + finish()


def patched(body: str) -> Pieces:
    yield from called(json.dumps({"command": ["apply_patch", f"*** Begin Patch\n{body}\n*** End Patch"]}))


def for_ever(first: bytes, again: bytes) -> Pieces:
    yield first
    yield from repeat(again * (1 + 16 * KIB // len(again)))


def streamed(again: bytes) -> Pieces:
    """The same bytes for ever, in a stream that began well; 32 KiB to an HTTP chunk."""
    yield STREAM
    yield from repeat(chunk(again * (1 + 32 * KIB // len(again))))


def once(*pieces: bytes) -> Pieces:
    yield from (STREAM, *pieces)


@cache
def packed() -> bytes:
    """Some kilobytes that unpack, in two steps, to 256 MiB."""
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


def stalled(head: bytes) -> Pieces:
    yield head
    time.sleep(60.0)


def asked_for(*said: Any) -> Pieces:
    yield from once(chunk(event(delta(tool_calls=list(said)))), finish("tool_calls"))


def function(call_id: Any, name: Any, arguments: Any, index: int = 0) -> Any:
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}


def said_oddly(value: Any) -> Pieces:
    """The same value wherever words, lists or objects are expected."""
    yield STREAM
    for body in (
        *(delta(content=value), delta(reasoning=value), delta(refusal=value), delta(tool_calls=value), value),
        *(delta(tool_calls=[value]), delta(tool_calls=[function(value, value, value)]), {"choices": value}),
        *({"choices": [value]}, {"choices": [{"delta": value}]}, {"id": value, "choices": [{}]}, {"usage": value}),
    ):
        yield chunk(event(body))
    yield finish()


TEXT = event(delta(content="x" * 4000))
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 1.5, 10**400, "", "\0", "\ud800", [], [None], [[["x"]]], {}, {"text": {"text": "x"}}),
    *({"content": [{"text": None}]}, ["a", {"text": "b"}, 3, None], {"a": {"b": {"c": [1, {"d": None}]}}}),
)
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
    "folded": lambda: once_with(OK + b"X: a\r\n b\r\n\tc\r\n\r\n"),
    "no-length": lambda: once_with(b"HTTP/1.0 200 OK\r\n\r\n"),
    "upgrade": lambda: once_with(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    "two-lengths": lambda: once_with(OK + b"Content-Length: 3\r\nContent-Length: 9\r\n\r\n"),
    "length-and-chunks": lambda: once_with(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"),
    "negative-length": lambda: once_with(OK + b"Content-Length: -1\r\n\r\n"),
    "vast-length": lambda: stalled(OK + b"Content-Length: 999999999999999999999\r\n\r\n"),
    "long-length": lambda: stalled(OK + b"Content-Length: 99999999999\r\n\r\n" + TEXT),
    "vast-chunk": lambda: stalled(STREAM + b"FFFFFFFFFFFFFFFFFF\r\nx"),
    "nul-head": lambda: stalled(OK + b"X: a\0b\r\n\r\n"),
    "fields": lambda: streamed(b"retry: 1\nid: 2\nevent: x\n"),
    "field-events": lambda: streamed(b"id: 1\nretry: 2\n\n"),
    "split-letters": lambda: once(*(chunk(bytes([one])) for one in event(delta(content="é€😀") ))),
    "halves": lambda: once(*[chunk(event(delta(content=one))) for one in ("\ud83d", "\ude00", "\ud800")], finish()),
    "nul-text": lambda: once(chunk(event(delta(content="\0" * 9000)) + b"data: \0\0\n\n\0"), finish()),
    "same-ids": lambda: asked_for(*(function("c", "shell", "{}", at) for at in range(99))),
    "long-id": lambda: asked_for(function("c" * MIB, "shell", "{}")),
    "long-name": lambda: asked_for(function("c", "n" * MIB, "{}")),
    "no-name": lambda: asked_for(function("", "", ""), function("", "", "", 1)),
    "odd-names": lambda: asked_for(*(function("c", one, "{") for one in ("\0", "a b", "\ud800", "../x", "é"))),
    "deep-arguments": lambda: called('{"command":' + "[" * 30_000),
    "deeper-arguments": lambda: asked_for(function("c", "shell", json.loads("[" * 150 + "]" * 150))),
    "endless-numbers": lambda: called('{"command":["true"],"timeout":' + "9" * 2_000_000 + "}"),
    "long-lines": lambda: called(json.dumps({"command": ["bash", "-lc", "\n" * 2_000_000]})),
    "slow-script": lambda: called(json.dumps({"command": ["bash", "-lc", "a|" * 8_000]})),
    "slow-heredocs": lambda: called(json.dumps({"command": ["bash", "-lc", "<<A\n" * 4_000]})),
    "long-path": lambda: patched("*** Add File: " + "a/" * MIB + "x\n+a"),
    "long-header": lambda: patched("x" * 4 * MIB),
    "many-hunks": lambda: patched("*** Update File: /etc/passwd\n" + "@@\n-no\n+yes\n" * 60_000),
    "vast-numbers": lambda: once(
        chunk(event(b'{"usage":{"prompt_tokens":1e400,"completion_tokens":-0,"total_tokens":NaN},"choices":[]}')),
        chunk(event(b'{"usage":{"prompt_tokens":-1e400,"completion_tokens":Infinity},"choices":[]}')),
        chunk(event(b'{"choices":[{"index":%s}]}' % (b"9" * MIB))),
        finish(),
    ),
    **{f"odd-{place}": partial(said_oddly, odd) for place, odd in enumerate(ODD_VALUES)},
    **{f"count-{place}": partial(counted, odd) for place, odd in enumerate(ODD)},
}  # fmt: skip  # a line for each kind
SLOW = ("letters", "alternating", "tiny-chunks", "tiny-text-chunks")  # take seconds until they meet a bound


def of(kind: str, **more: Any) -> bytes:
    return event({"type": f"response.{kind}", **more})


def finished(*items: Any) -> Pieces:
    """An answer of these items, on the responses wire."""
    yield STREAM
    for item in items:
        yield chunk(of("output_item.done", item=item))
    yield chunk(of("completed", response={"id": "r"})) + b"0\r\n\r\n"


def requested(call_id: Any, name: Any, arguments: Any) -> Any:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def shown_oddly(value: Any) -> Pieces:
    kinds = ("created", "output_text.delta", "reasoning_summary_part.added", "function_call_arguments.delta")
    fields = ("delta", "item", "response")
    yield STREAM
    for kind in (*kinds, "reasoning_text.delta", "output_item.added", "output_item.done", "no_such"):
        yield chunk(of(kind, **dict.fromkeys(fields, value)))
    for item in ("message", "function_call", "reasoning", "web_search_call", value):
        parts = ("content", "summary", "encrypted_content", "id", "call_id", "name", "arguments")
        yield chunk(of("output_item.done", item={"type": item, **dict.fromkeys(parts, value)}))
    yield chunk(event({"type": value, "delta": value}))
    yield chunk(of("completed", response={"id": value, "usage": value})) + b"0\r\n\r\n"


def many(count: int) -> list[Any]:
    return [{"type": "summary_text", "text": "s"}] * count


RESPONSES: dict[str, Callable[[], Pieces]] = {
    "text": lambda: streamed(of("output_text.delta", delta="x" * 4000)),
    "reasoning": lambda: streamed(of("reasoning_summary_text.delta", delta="x" * 4000)),
    "raw": lambda: streamed(of("reasoning_text.delta", delta="x" * 4000)),
    "breaks": lambda: streamed(of("reasoning_summary_text.delta", delta="x") + of("reasoning_summary_part.added")),
    "arguments": lambda: streamed(of("function_call_arguments.delta", delta="x" * 4000)),
    "created": lambda: streamed(of("created", response={"id": "r" * 4000})),
    "items": lambda: streamed(of("output_item.done", item={"type": "message", "content": [{"text": "x" * 4000}]})),
    "empty-items": lambda: streamed(of("output_item.done", item={"type": "message"})),
    "foreign-items": lambda: streamed(of("output_item.done", item={"type": "web_search_call", "id": "x" * 400})),
    "thoughts": lambda: streamed(of("output_item.done", item={"type": "reasoning", "id": "r", "summary": []})),
    "sealed": lambda: streamed(
        of("output_item.done", item={"type": "reasoning", "id": "r", "encrypted_content": "x" * 9000})
    ),
    "parts": lambda: finished({"type": "reasoning", "id": "r", "summary": many(10_000)}),
    "many-parts": lambda: finished({"type": "reasoning", "id": "r", "summary": many(10**6)}),
    "calls": lambda: streamed(of("output_item.done", item=requested("c", "nothing", "{}"))),
    "same-ids": lambda: finished(*[requested("c", "nothing", "{}")] * 99),
    "no-name": lambda: finished(requested("", "", ""), requested(None, None, None)),
    "long-id": lambda: finished(requested("c" * MIB, "shell", "{}")),
    "long-name": lambda: finished(requested("c", "n" * MIB, "{}")),
    "long-kind": lambda: streamed(event({"type": "t" * 4000})),
    "error-words": lambda: once(
        chunk(of("failed", response={"error": {"message": "x" * 4 * MIB, "code": "c" * MIB}}))
    ),
    "incomplete": lambda: once(chunk(of("incomplete", response={"incomplete_details": {"reason": "x" * MIB}}))),
    **{f"odd-{place}": partial(shown_oddly, odd) for place, odd in enumerate(ODD_VALUES)},
    **{
        f"count-{place}": partial(
            once, chunk(of("completed", response={"id": "r", "usage": {"input_tokens": odd, "output_tokens": odd}}))
        )
        for place, odd in enumerate(ODD)
    },
}
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
    """Random pieces of all kinds in any order: ended well, cut off, or endless."""
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


def answer(prompt: str, *, responses: bool) -> Pieces:
    verb, _, rest = prompt.partition(" ")
    name, _, seed = rest.partition(" ")
    if verb != "hostile" and responses:
        return finished({"type": "message", "content": [{"text": "fine"}]})
    if verb != "hostile":
        return once(chunk(event(delta(content="fine"))), finish())
    if responses:
        return RESPONSES[name]()
    return random_answer(int(seed)) if name == "random" else {**KINDS, **DRIPS}[name]()


def serve(connection: socket.socket) -> None:
    with connection:
        try:
            while (request := asked(connection)) is not None:
                prompt = last_said(request)
                if why := objection(request):
                    connection.sendall(b"HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n%s" % (len(why), why.encode()))
                    continue
                for piece in answer(prompt, responses="input" in request):
                    connection.sendall(piece)
                if prompt.startswith("hostile"):
                    return
        except OSError:
            pass  # the client has had enough


def asked(connection: socket.socket) -> Any | None:
    """The request's body; None at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(64 * KIB)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    parts = [body]
    left = size - len(body)
    while left > 0:
        parts.append(connection.recv(MIB))
        left -= len(parts[-1])
    return json.loads(b"".join(parts))


def objection(request: Any) -> str:
    """The objection of a strict provider to a request's history, which every later request has, too."""
    groups = [message.get("tool_calls", ()) for message in request.get("messages", ())]
    groups.append([item for item in request.get("input", ()) if item.get("type") == "function_call"])
    for group in groups:
        ids = [call.get("call_id") or call.get("id") for call in group]
        if "messages" in request and len({*ids, None, ""}) != len(ids) + 2:
            return f"ids of calls: {ids}"[:200]
        for call in group:
            function = call.get("function", call)
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"]):
                return f"name of a call: {function['name']!r:.100}"
            try:
                json.loads(function["arguments"])
            except ValueError:
                return f"arguments of a call: {function['arguments']!r:.100}"
    return ""


def last_said(request: Any) -> str:
    """The last thing that a person said."""
    items = request.get("messages") or request["input"]
    said = [one for one in items if one.get("role") in {"user", "tool"} or one.get("type") == "function_call_output"]
    if said[-1].get("role") != "user":
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
