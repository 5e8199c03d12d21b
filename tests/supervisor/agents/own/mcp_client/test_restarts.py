"""The pauses before a server is started again."""

from supervisor.agents.own.mcp_client.restarts import CRASH_MOST_S, RETRY_FIRST_S, RETRY_MOST_S, Restarts


def test_after_its_first_end_a_server_is_started_at_once_and_then_after_longer_and_longer_pauses() -> None:
    restarts = Restarts()
    assert [restarts.note_end(0.0) for _ in range(9)] == [
        0.0,
        1.0,
        2.0,
        4.0,
        8.0,
        16.0,
        32.0,
        CRASH_MOST_S,
        CRASH_MOST_S,
    ]
    assert restarts.wait_s(now=1.0) == CRASH_MOST_S - 1.0


def test_an_answer_forgives_the_ends_before_it() -> None:
    restarts = Restarts()
    for _ in range(5):
        restarts.note_end(0.0)
    restarts.note_answer()
    assert restarts.note_end(0.0) == 0.0
    assert restarts.wait_s(now=0.0) <= 0.0


def test_starts_that_fail_are_tried_again_after_pauses_that_double_up_to_ten_minutes() -> None:
    restarts = Restarts()
    pauses = [restarts.note_no_start(0.0, 1.0) for _ in range(7)]
    assert pauses[:3] == [RETRY_FIRST_S, 2 * RETRY_FIRST_S, 4 * RETRY_FIRST_S]
    assert pauses[-1] == RETRY_MOST_S


def test_a_failure_long_after_the_start_counts_as_the_first() -> None:
    restarts = Restarts()
    for _ in range(5):
        restarts.note_no_start(0.0, 1.0)
    assert restarts.note_no_start(0.0, 100.0) == RETRY_FIRST_S
