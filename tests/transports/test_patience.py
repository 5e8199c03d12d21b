"""A client that costs much processor time waits; others never do."""

from transports.throttle import ALLOWANCE_S, HEAVY_S, LONGEST_S, SHARE, Throttle


def test_any_number_of_light_messages_never_wait() -> None:
    patience = Throttle()
    assert {patience.pause_after(HEAVY_S * 0.9, at / 1000) for at in range(10_000)} == {0.0}


def test_a_few_heavy_messages_are_looked_at_at_once() -> None:
    patience = Throttle()
    assert patience.pause_after(ALLOWANCE_S / 2, 1.0) == 0.0
    assert patience.pause_after(ALLOWANCE_S / 2, 1.1) == 0.0


def test_heavy_ones_one_after_the_other_come_to_a_hundredth_of_the_time() -> None:
    patience, now, spent, each = Throttle(), 0.0, 0.0, 0.05
    for _ in range(200):
        spent += each
        now += each + patience.pause_after(each, now + each)
    assert spent < ALLOWANCE_S + now * SHARE * 1.05


def test_no_pause_is_longer_than_a_client_waits_for_an_answer() -> None:
    assert Throttle().pause_after(1_000.0, 0.0) == LONGEST_S


def test_one_that_rests_may_be_heavy_again() -> None:
    patience = Throttle()
    assert patience.pause_after(ALLOWANCE_S, 0.0) == 0.0
    assert patience.pause_after(0.1, 0.1) > 0.0
    assert patience.pause_after(ALLOWANCE_S, 1_000.0) == 0.0
