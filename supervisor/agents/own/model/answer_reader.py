"""The reading of one answer: bytes to SSE data to stream events, a millisecond's worth at a time. Loop thread."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import cast

import httpx

from supervisor.agents.errors import BeyondBound, StreamBroken
from supervisor.agents.own.model import wire
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.error_mapping import clean_error, map_errors
from supervisor.agents.own.model.sse import EventTooLarge, SseParser
from supervisor.agents.own.model.stream_events import StreamEvent
from supervisor.config.bounds import Bounds

LINGER_S = 0.1  # for the end of a finished response's body, so that the connection can be used again
USAGE_LINGER_S = 1.0  # for token counts that were asked for and come after the answer
SLICE = 1024  # events decoded in one go, a millisecond or two; then the loop does other work
SLICE_BYTES = 64 * 1024  # the same for large events

Deliver = Callable[[Sequence[StreamEvent]], Awaitable[None]]


class AnswerReader:
    def __init__(self, endpoint: Endpoint, response: httpx.Response, deliver: Deliver, bounds: Bounds) -> None:
        self._endpoint = endpoint
        # The body itself: httpx's `aiter_raw` would count it and cut it anew.
        self._chunks = aiter(cast("httpx.AsyncByteStream", response.stream))
        self._deliver = deliver
        self._bounds = bounds
        self._decoder = wire.decoder(endpoint.wire, bounds)
        self._parser = SseParser(bounds.answer_event_bytes)
        self._silent = 0  # bytes since the model's last output

    async def read(self) -> None:
        try:
            await self._read()
        finally:  # an error keeps its frames alive, and so this object, but not the whole answer
            self._decoder = wire.decoder(self._endpoint.wire, self._bounds)

    async def _read(self) -> None:
        with map_errors(self._endpoint, StreamBroken):
            async for chunk in self._chunks:
                for start in range(0, len(chunk), SLICE_BYTES):
                    if start:
                        await asyncio.sleep(0)
                    await self._take(chunk[start : start + SLICE_BYTES])
                    if self._decoder.failure:
                        raise clean_error(self._endpoint, self._decoder.failure)
                if self._decoder.answered:
                    break
        late = await self._linger() if self._decoder.answered else []
        if late := [*late, *self._decoder.end()]:
            await self._deliver(late)
        if self._decoder.failure:
            raise clean_error(self._endpoint, self._decoder.failure)

    async def _take(self, chunk: bytes) -> None:
        said = self._decoder.said
        heard = await self._hear(self._parser.feed(chunk), self._deliver)
        self._silent = 0 if heard or self._decoder.said != said else self._silent + len(chunk)
        if self._silent - self._parser.unfinished_bytes > self._bounds.answer_silent_bytes:
            raise BeyondBound(
                self._bounds.describe_excess(
                    "answer_silent_bytes", "the model server sends on and on, and the model says nothing"
                )
            )

    async def _hear(self, events: list[bytes], deliver: Deliver) -> bool:
        """Decode and deliver events, many of them in slices; tell whether there was anything to deliver."""
        heard = False
        for number, some in enumerate(_slices(events)):
            if number:
                await asyncio.sleep(0)
            if news := self._decoder.read(some):
                heard = True
                await deliver(news)
            if self._decoder.failure or self._decoder.done:
                break
        return heard

    async def _linger(self) -> list[StreamEvent]:
        """Read on for a short time after the last item; errors in the rest are ignored."""
        late: list[StreamEvent] = []

        async def keep(news: Sequence[StreamEvent]) -> None:
            late.extend(news)

        now = asyncio.get_running_loop().time
        awaits_usage = self._endpoint.include_usage and not self._decoder.done
        with contextlib.suppress(TimeoutError, httpx.HTTPError, EventTooLarge):
            async with asyncio.timeout(USAGE_LINGER_S if awaits_usage else LINGER_S) as bound:
                async for chunk in self._chunks:
                    await self._hear(self._parser.feed(chunk), keep)
                    if awaits_usage and self._decoder.done:
                        awaits_usage = False
                        bound.reschedule(now() + LINGER_S)
        return late


def _slices(events: list[bytes]) -> Iterable[list[bytes]]:
    if len(events) <= SLICE and sum(map(len, events)) <= SLICE_BYTES:
        return (events,)
    return _cut_into_slices(events)


def _cut_into_slices(events: list[bytes]) -> Iterator[list[bytes]]:
    some: list[bytes] = []
    size = 0
    for event in events:
        some.append(event)
        size += len(event)
        if len(some) >= SLICE or size >= SLICE_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some
