"""Requests in flight are bounded."""

from actors.vocabulary.errors import InvalidInput, Overloaded
from actors.vocabulary.ids import ConnectionId, RequestId
from transports.dialects.kit.requests import Requests
from transports.dialects.kit.script import Scripts


def bounded(limit: int) -> Requests:
    return Requests(Scripts(ConnectionId("c"), lambda _: None), limit)


def admitted(requests: Requests, *ids: RequestId, urgent: bool = False) -> bool:
    return all(requests.refusal(one, urgent=urgent) is None for one in ids)


def answer(requests: Requests, request: RequestId) -> None:
    requests.run(request, "done", lambda *_: None)


def test_beyond_the_limit_a_request_is_refused_as_retryable_and_not_kept() -> None:
    requests = bounded(2)
    assert admitted(requests, 1, "1")
    refusal = requests.refusal(3, urgent=False)
    assert isinstance(refusal, Overloaded)
    assert refusal.retryable
    assert len(requests) == 2
    answer(requests, "1")
    assert admitted(requests, 3)
    assert len(requests) == 2


def test_an_id_that_is_not_answered_yet_is_refused_and_stays_open() -> None:
    requests = bounded(64)
    assert admitted(requests, 1)
    assert isinstance(requests.refusal(1, urgent=False), InvalidInput)
    assert len(requests) == 1
    answer(requests, 1)
    assert len(requests) == 0
    assert admitted(requests, 1)


def test_urgent_requests_have_room_of_their_own_and_share_ids_with_the_others() -> None:
    requests = bounded(1)
    assert admitted(requests, 1)
    assert isinstance(requests.refusal(1, urgent=True), InvalidInput)
    assert admitted(requests, 2, urgent=True)
    assert isinstance(requests.refusal(3, urgent=True), Overloaded)
    assert len(requests) == 2
    answer(requests, 2)
    assert admitted(requests, 3, urgent=True)
    assert isinstance(requests.refusal(4, urgent=False), Overloaded)
