"""The requests a dialect has accepted and not answered: bounded, and each id once. Part of its connection."""

from collections.abc import Iterator
from itertools import chain

from actors.vocabulary.errors import GreenroomError, InvalidInput, Overloaded
from actors.vocabulary.ids import RequestId

REQUESTS_LIMIT = 64  # per connection; an editor has a handful


class InFlight:
    """Bounded requests. Urgent ones, which end others, have their own quota: a full client can still cancel."""

    def __init__(self, limit: int = REQUESTS_LIMIT) -> None:
        self._limit = limit
        self._ordinary: set[RequestId] = set()
        self._urgent: set[RequestId] = set()

    def admit(self, request: RequestId, *, urgent: bool = False) -> GreenroomError | None:
        """Admit a request; returns the refusal to answer with, or None. A refused request is not kept."""
        if request in self:
            return InvalidInput(f"request {request!r} is not answered yet")
        share = self._urgent if urgent else self._ordinary
        if len(share) >= self._limit:
            return Overloaded(f"{self._limit} requests are in flight; try again when one is answered")
        share.add(request)
        return None

    def done(self, request: RequestId) -> None:
        self._ordinary.discard(request)
        self._urgent.discard(request)

    def __contains__(self, request: object) -> bool:
        return request in self._ordinary or request in self._urgent

    def __iter__(self) -> Iterator[RequestId]:
        return chain(self._ordinary, self._urgent)

    def __len__(self) -> int:
        return len(self._ordinary) + len(self._urgent)
