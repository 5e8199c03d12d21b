"""Bounds for answers from a server's address: the SDK reads an answer whole, unpacked, and parses it on the loop.

Loop thread. A stream of events is bounded by the SDK, event by event.
"""

from collections.abc import AsyncIterator

import httpx2

from actors.vocabulary.json_values import has_too_many_values

PLAIN = {"accept-encoding": "identity"}  # a packed answer of kilobytes may be gigabytes
VALUES = 500_000  # in one answer, as in a line of a program's
EVENTS = "text/event-stream"


class AnswerTooLarge(httpx2.StreamError):
    """An answer beyond the bounds. The call fails, the session goes on."""


class BoundedAnswer(httpx2.AsyncByteStream):
    """The bytes of an answer, up to so many."""

    def __init__(self, answer: httpx2.AsyncByteStream, longest: int) -> None:
        self._answer = answer
        self._longest = longest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = bytearray()
        async for piece in self._answer:
            read += piece
            if len(read) > self._longest:
                raise AnswerTooLarge(f"it is longer than {self._longest} bytes")
            yield piece
        if has_too_many_values(bytes(read), VALUES):
            raise AnswerTooLarge(f"it has more than {VALUES} values")

    async def aclose(self) -> None:
        await self._answer.aclose()


def bound_answer(response: httpx2.Response, longest: int) -> None:
    """Bound an answer that has begun. Raises Refused."""
    packed = response.headers.get("content-encoding", "identity")
    if packed.strip().lower() not in {"", "identity"}:
        raise AnswerTooLarge(f"it is packed ({packed[:40]}), which was not asked for")
    stream = response.stream
    if isinstance(stream, httpx2.AsyncByteStream) and not response.headers.get("content-type", "").startswith(EVENTS):
        response.stream = BoundedAnswer(stream, longest)
