"""Requests in flight are bounded."""

from actors.vocabulary.errors import InvalidInput, Overloaded
from transports.dialects.kit.in_flight import InFlight


def test_beyond_the_limit_a_request_is_refused_as_retryable_and_not_kept() -> None:
    requests = InFlight(limit=2)
    assert [requests.admit(1), requests.admit("1")] == [None, None]
    refusal = requests.admit(3)
    assert isinstance(refusal, Overloaded)
    assert refusal.retryable
    assert 3 not in requests
    requests.done("1")
    assert requests.admit(3) is None
    assert set(requests) == {1, 3}


def test_an_id_that_is_not_answered_yet_is_refused_and_stays_open() -> None:
    requests = InFlight()
    requests.admit(1)
    assert isinstance(requests.admit(1), InvalidInput)
    assert 1 in requests
    requests.done(1)
    requests.done(1)
    assert len(requests) == 0
    assert requests.admit(1) is None


def test_what_is_urgent_has_room_of_its_own_and_an_id_means_one_request_all_the_same() -> None:
    requests = InFlight(limit=1)
    assert requests.admit(1) is None
    assert isinstance(requests.admit(1, urgent=True), InvalidInput)
    assert requests.admit(2, urgent=True) is None
    assert isinstance(requests.admit(3, urgent=True), Overloaded)
    assert len(requests) == 2
    requests.done(2)
    assert set(requests) == {1}
