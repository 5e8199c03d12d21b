"""The requests a dialect has accepted and not answered: bounded, and each id once. Part of its connection."""

from collections.abc import Iterator

from actors.errors import GreenroomError, InvalidInput, Overloaded
from actors.ids import RequestId

REQUESTS_LIMIT = 64  # per connection; an editor has a handful


class InFlight:
    def __init__(self, limit: int = REQUESTS_LIMIT) -> None:
        self._limit = limit
        self._open: set[RequestId] = set()

    def admit(self, request: RequestId) -> GreenroomError | None:
        """None if it may go on; otherwise what to answer. A refused one is not kept."""
        if request in self._open:
            return InvalidInput(f"request {request!r} is not answered yet")
        if len(self._open) >= self._limit:
            return Overloaded(f"{self._limit} requests are in flight; try again when one is answered")
        self._open.add(request)
        return None

    def done(self, request: RequestId) -> None:
        self._open.discard(request)

    def __contains__(self, request: object) -> bool:
        return request in self._open

    def __iter__(self) -> Iterator[RequestId]:
        return iter(self._open)

    def __len__(self) -> int:
        return len(self._open)
