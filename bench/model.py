"""CPU per streamed delta, from an HTTP chunk to a batch of news: as fast as the model can send, and of paced streams.

The floor is the HTTP library alone reading the same answer from the same server in the same run. The last column is
the whole with httpx's own transport. The server is a process of its own, so that its CPU is not counted.
Run: python bench/model.py [DELTAS]
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx

from supervisor.agents.own.model import wire as wires
from supervisor.agents.own.model.client import ModelClient, build_http
from supervisor.agents.own.model.endpoint import Endpoint, headers_of, url_of
from supervisor.agents.own.model.request import ModelRequest, text_message
from supervisor.agents.own.model.sse import SseParser
from supervisor.agents.own.model.stream_events import StreamEvent
from supervisor.config.shared_keys import WireApi

ROOT = Path(__file__).resolve().parent.parent
TARGET_US = 15.0
STREAMS, PACED = 64, 200  # paced streams, and deltas of each, 50 a second
SHAPES = {"an event per HTTP chunk": "", "HTTP chunks of 4 KiB": "pack 4096;", "HTTP chunks of 16 KiB": "pack 16384;"}


@contextmanager
def server() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.support.model_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout is not None else ""
        finally:
            process.terminate()


async def floor(http: httpx.AsyncClient, endpoint: Endpoint, request: ModelRequest) -> list[bytes]:
    headers = headers_of(endpoint, "")
    content = b"".join(wires.body(endpoint, request))
    async with http.stream("POST", url_of(endpoint), headers=headers, content=content) as response:
        return [chunk async for chunk in response.aiter_bytes()]


async def ours(client: ModelClient, endpoint: Endpoint, request: ModelRequest) -> int:
    batches = 0

    async def deliver(_batch: Sequence[StreamEvent]) -> None:
        nonlocal batches
        batches += 1

    await client.attempt(endpoint, request, deliver)
    return batches


def pure(chunks: list[bytes], wire: WireApi) -> None:
    parser, decoder = SseParser(), wires.decoder(wire)
    for chunk in chunks:
        decoder.read(parser.feed(chunk))
    assert decoder.done


async def cpu(work: Callable[[], Awaitable[object]], deltas: int) -> float:
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        await work()
        best = min(best, time.process_time() - begin)
    return best / deltas * 1e6


async def paced(client: ModelClient, endpoint: Endpoint) -> None:
    request = ModelRequest("mock-model", "bench", (text_message("user", f"slow 20; stream {PACED}"),))
    await asyncio.gather(*(ours(client, endpoint, request) for _ in range(STREAMS)))


async def measure(base_url: str, deltas: int) -> None:
    print(f"{'us CPU per delta, best of 3':42} {'floor':>7} {'whole':>7} {'ours':>7} {'parse':>7} {'httpx':>7}")
    async with ModelClient() as client, ModelClient(httpx.AsyncClient) as plain, build_http() as http:
        for wire in WireApi:
            endpoint = Endpoint(base_url, wire)
            for name, shape in SHAPES.items():
                request = ModelRequest("mock-model", "bench", (text_message("user", f"{shape} stream {deltas}"),))
                chunks = await floor(http, endpoint, request)  # also has the server build its answer
                bottom = await cpu(partial(floor, http, endpoint, request), deltas)
                whole = await cpu(partial(ours, client, endpoint, request), deltas)
                begin = time.process_time()
                pure(chunks, wire)
                parse = (time.process_time() - begin) / deltas * 1e6
                with_httpx = await cpu(partial(ours, plain, endpoint, request), deltas)
                verdict = "" if whole - bottom <= TARGET_US else f"  OVER {TARGET_US}"
                label = f"{wire.value}, {name}"
                figures = "".join(f" {figure:7.1f}" for figure in (bottom, whole, whole - bottom, parse, with_httpx))
                print(f"{label:42}{figures}{verdict}")
        endpoint = Endpoint(base_url, WireApi.CHAT)
        whole, with_httpx = [await cpu(partial(paced, asked, endpoint), STREAMS * PACED) for asked in (client, plain)]
        print(f"{f'chat, {STREAMS} streams at 50/s':42} {'':7} {whole:7.1f} {'':7} {'':7} {with_httpx:7.1f}")


def main() -> None:
    deltas = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with server() as base_url:
        asyncio.run(measure(base_url, deltas))


if __name__ == "__main__":
    main()
