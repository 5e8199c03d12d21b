"""Helpers with which the tests of this folder ask a model and listen."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from msgspec.structs import replace

from supervisor.agents.errors import ModelError
from supervisor.agents.own.model import wire as wires
from supervisor.agents.own.model.client import ModelClient
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.request import ModelRequest, text_message
from supervisor.agents.own.model.sse import SseParser
from supervisor.agents.own.model.stream_events import RawReasoningDelta, ReasoningDelta, StreamEvent, TextDelta
from supervisor.config.shared_keys import WireApi
from tests.support.model_server import ModelServer

T = TypeVar("T")
BOTH = list(WireApi)
WAIT_S = 10.0


def run(work: Coroutine[Any, Any, T]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(WAIT_S):
            return await work

    return asyncio.run(bounded())


@dataclass
class Heard:
    """A consumer that keeps every batch."""

    batches: list[list[StreamEvent]] = field(default_factory=list)

    async def __call__(self, batch: Sequence[StreamEvent]) -> None:
        self.batches.append(list(batch))

    @property
    def news(self) -> list[StreamEvent]:
        return joined([news for batch in self.batches for news in batch])


def joined(news: Sequence[StreamEvent]) -> list[StreamEvent]:
    """Join adjacent deltas, whose cuts nobody promises, and leave out the number of the block."""
    result: list[StreamEvent] = []
    for one in news:
        last = result[-1] if result else None
        if isinstance(one, TextDelta | ReasoningDelta | RawReasoningDelta) and type(last) is type(one):
            assert isinstance(last, TextDelta | ReasoningDelta | RawReasoningDelta)
            if last.block == one.block:
                result[-1] = replace(one, text=last.text + one.text)
                continue
        result.append(one)
    return [replace(one, block=0) if hasattr(one, "block") else one for one in result]


def request(prompt: str) -> ModelRequest:
    return ModelRequest("mock-model", "be brief", (text_message("user", prompt),), session_id="s1")


def endpoint(server: ModelServer, wire: WireApi, **options: Any) -> Endpoint:
    return Endpoint(server.base_url, wire, **options)


def decoded(wire: WireApi, *chunks: bytes) -> tuple[list[StreamEvent], ModelError | None]:
    """Decode a stream of these chunks, up to its end."""
    parser, decoder = SseParser(), wires.decoder(wire)
    news: list[StreamEvent] = []
    for chunk in chunks:
        news += decoder.read(parser.feed(chunk))
    news += decoder.end()
    return joined(news), decoder.failure


async def heard(server: ModelServer, wire: WireApi, prompt: str, **options: Any) -> list[StreamEvent]:
    """Make one attempt with a client of its own."""
    hear = Heard()
    async with ModelClient() as client:
        await client.attempt(endpoint(server, wire, **options), request(prompt), hear)
    return hear.news


async def in_thread(work: Callable[..., None], *arguments: object) -> None:
    """Wait for the server's thread, off the loop, with a time limit."""
    await asyncio.to_thread(work, *arguments)


def always(value: ModelRequest) -> Callable[[], Awaitable[ModelRequest]]:
    async def build() -> ModelRequest:
        return value

    return build
