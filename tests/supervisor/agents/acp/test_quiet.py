"""The end of a turn, decided."""

from supervisor.agents.acp.inactivity import SILENT_S, Activity, wait_s, work_goes_on_notice


def test_an_answer_with_nothing_open_is_the_end() -> None:
    assert wait_s(Activity()) == 0


def test_an_open_call_is_waited_for_until_it_has_been_silent_for_a_while() -> None:
    assert wait_s(Activity(uses=1, silent_s=0.5)) == SILENT_S - 0.5
    assert wait_s(Activity(processes=1)) == SILENT_S
    assert wait_s(Activity(uses=1, silent_s=SILENT_S + 1)) == 0


def test_work_without_a_prompt_is_over_when_it_is_silent() -> None:
    assert wait_s(Activity(prompted=False)) == SILENT_S
    assert wait_s(Activity(prompted=False, silent_s=SILENT_S)) == 0


def test_the_notice_of_ongoing_work_counts_tool_uses_and_processes() -> None:
    assert work_goes_on_notice(Activity(), "codex") == ""
    assert "1 tool use that it has not ended and 2 processes that it began" in work_goes_on_notice(
        Activity(uses=1, processes=2), "codex"
    )
