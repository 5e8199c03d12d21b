"""The order of a turn's events, and the one end of every turn."""

import pytest

from actors.messages.conversation import Rename
from actors.messages.orders import (
    AgentNews,
    AgentOutput,
    AgentStopped,
    AllStored,
    Completed,
    Crashed,
    InputWanted,
    ModelFailed,
    OutOfBudget,
    StorageAwaited,
    TakeMore,
)
from actors.vocabulary import events as ev
from actors.vocabulary.answers import TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import InvalidInput, UnknownConversation
from actors.vocabulary.ids import ItemId, TurnId
from actors.vocabulary.settings import AbortReason, Decision
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller

ANN = caller("ann")

NORMAL_CASES: dict[str, tuple[AgentNews, ...]] = {
    "a simple reply": (w.thought("hm"), w.reasoning("hm"), w.delta("hi"), w.message("hi"), w.tokens()),
    "an auto-approved command": (
        w.call(), w.begin(), w.chunk(b"a"), w.end(text="a"), w.output(), w.tokens(), InputWanted(), w.message("ok"),
    ),
    "a command that was denied": (w.call(), w.output(text="exec command rejected by user"), w.message("a pity")),
    "a patch": (
        w.call("patch"), w.patch_begin(), w.patch_end(), w.diff(), w.output("patch"), w.tokens(), w.diff(),
        InputWanted(), w.message("ok"), w.diff(),
    ),
    "a plan": (w.call("plan"), w.plan(), w.output("plan"), InputWanted(), w.message("planned")),
    "an unknown tool": (w.call("what"), w.output("what", "no such tool"), InputWanted(), w.message("sorry")),
    "a retry without the sandbox": (
        w.call(), w.begin(), w.end(code=1), ev.BackgroundEvent(message="Execution failed: 1"),
        ev.BackgroundEvent(message="retrying command without sandbox"), w.begin(), w.end(), w.output(),
    ),
    "a broken stream": (w.delta("h"), ev.StreamError(message="again", attempt=1, delay_ms=200), w.message("hi")),
}  # fmt: skip  # a case per line


@pytest.mark.parametrize("news", NORMAL_CASES.values(), ids=NORMAL_CASES)
def test_events_of_the_agent_are_stored_in_order_between_the_start_and_the_end_of_the_turn(
    news: tuple[AgentNews, ...],
) -> None:
    core = Core()
    core.send()
    for one in news:
        core.output(one)
    core.end()
    middle = [
        one.type
        for one in news
        if not isinstance(one, InputWanted | StorageAwaited) and not isinstance(one, ev.DELTAS)
    ]
    assert core.types == ["task_started", "user_message", *middle, "task_complete"]


@pytest.mark.parametrize("news", NORMAL_CASES.values(), ids=NORMAL_CASES)
def test_a_turn_reads_the_same_whether_its_news_comes_in_one_batch_or_in_many(news: tuple[AgentNews, ...]) -> None:
    one_batch, many = Core(), Core()
    for core, batches in ((one_batch, [news]), (many, [(one,) for one in news])):
        core.send()
        for batch in batches:
            core.output(*batch)
        core.end()
    assert [record.body for record in one_batch.disk.records] == [record.body for record in many.disk.records]


def test_a_command_with_approval_is_asked_answered_and_then_begun() -> None:
    core = Core()
    core.send()
    core.output(w.call(), w.ask())
    core.answer_with(Decision.APPROVED, ANN)
    core.output(w.begin(), w.end(), w.output(), w.message("done"))
    core.end()
    assert core.types == [
        "task_started", "user_message", "tool_call", "approval_requested", "approval_resolved",
        "work_began", "work_ended", "tool_output", "agent_message", "task_complete",
    ]  # fmt: skip


def test_a_patch_with_approval_is_asked_answered_and_then_applied() -> None:
    core = Core()
    core.send()
    core.output(w.call("patch"), w.ask_patch())
    core.answer_with(Decision.APPROVED, ANN)
    core.output(w.patch_begin(auto=False), w.patch_end(), w.diff(), w.output("patch"))
    core.end()
    assert core.types[2:] == [
        "tool_call", "approval_requested", "approval_resolved", "work_began", "work_ended",
        "turn_diff", "tool_output", "task_complete",
    ]  # fmt: skip


def test_d11_every_end_event_comes_before_turn_aborted_and_the_next_turn_after_it() -> None:
    core = Core()
    core.send("first")
    core.output(w.thought("hm"), w.delta("half"), w.call(), w.begin(), w.chunk(b"line"))
    core.output(w.call("patch"), w.patch_begin(), w.call("remote"), w.mcp_begin())
    core.interrupt(ANN)
    core.stopped()
    core.send("second")
    aborted = core.types.index("turn_aborted")
    assert core.types[2:aborted] == [
        "tool_call", "work_began", "tool_call", "work_began", "tool_call", "work_began",
        "work_ended", "work_ended", "work_ended", "tool_output", "tool_output", "tool_output",
        "agent_reasoning", "agent_message",
    ]  # fmt: skip
    assert core.types[aborted + 1 :] == ["task_started", "user_message"]


def test_a_stream_error_voids_what_the_model_had_not_finished_and_keeps_what_a_command_wrote() -> None:
    core = Core()
    core.send("go")
    core.output(w.call(), w.begin(), w.chunk(b"kept"), w.delta("void"), ev.StreamError(message="cut"))
    core.interrupt(ANN)
    core.stopped()
    assert "agent_message" not in core.types
    (ended,) = [event for event in core.events if isinstance(event, ev.WorkEnded)]
    assert ended.output == "kept"


def test_d11_a_command_that_was_cut_ends_with_minus_one_and_what_it_had_written() -> None:
    core = Core()
    core.send()
    core.output(w.begin(), w.chunk(b"out"), w.chunk(b"oops", error=True), w.chunk(b"put"))
    core.interrupt()
    core.stopped()
    (end,) = core.said_of(ev.WorkEnded)
    assert (end.exit_code, end.output, end.errors) == (-1, "output", "oops")


def test_d11_output_after_the_end_of_its_turn_is_dropped() -> None:
    core = Core()
    core.send()
    core.output(w.begin())
    old = core.turn
    core.interrupt()
    core.stopped()
    core.send("next")
    before = core.types
    assert core.output(w.chunk(b"late"), w.end(), w.message("late"), turn=old) == []
    assert core.types == before
    assert core.state.tails == ()


def test_d4_the_late_end_of_an_older_turn_does_not_end_the_one_that_runs() -> None:
    core = Core()
    core.send()
    old = core.turn
    core.interrupt()
    core.stopped()
    core.send("next", ANN, await_end=True)
    core.end(Completed("stale"), turn=old)
    assert core.answers(ANN) == []
    core.end(Completed("fresh"))
    result = core.answer(ANN)
    assert isinstance(result, TurnResult)
    assert result.message == "fresh"


@pytest.mark.parametrize(
    ("outcome", "types", "ending"),
    [
        (Completed("hi"), ["task_complete"], Ending.COMPLETED),
        (ModelFailed("502"), ["error", "task_complete"], Ending.ERROR),
        (Crashed("a bug"), ["error", "turn_aborted"], Ending.FAILED),
        (AgentStopped(), ["error", "turn_aborted"], Ending.FAILED),
        (OutOfBudget("10 requests"), ["error", "turn_aborted"], Ending.BUDGET),
    ],
)
def test_d6_however_the_agent_ends_there_is_one_terminal_event_and_the_caller_is_answered(
    outcome: Completed | ModelFailed | Crashed | AgentStopped | OutOfBudget, types: list[str], ending: Ending
) -> None:
    """D1, D3 and D6: on every exit path one end, one answer, and the request's id means nothing any more."""
    core = Core()
    core.send("hi", ANN, await_end=True)
    core.end(outcome)
    assert core.types[2:] == types
    result = core.answer(ANN)
    assert isinstance(result, TurnResult)
    assert result.ending is ending
    assert core.settled(ANN) == 1


def test_the_answer_of_a_turn_is_the_agents_last_message_and_its_place_in_history() -> None:
    core = Core()
    core.send("hi", ANN, await_end=True)
    turn = core.turn
    core.end(Completed("bye"))
    assert core.answer(ANN) == TurnResult(turn, Ending.COMPLETED, "bye", len(core.disk.records))


def test_d6_a_turn_that_failed_takes_the_next_message_again() -> None:
    core = Core()
    core.send()
    core.end(ModelFailed("503"))
    core.send("again")
    assert [len(run.inputs) for run in core.runs] == [1, 1]


def test_d9_a_message_without_items_is_refused_and_starts_nothing() -> None:
    core = Core()
    core.send("", ANN)
    assert isinstance(core.answer(ANN), InvalidInput)
    assert core.types == []
    core.send("now", ANN)
    assert core.types == ["task_started", "user_message"]


def test_d35_a_completed_item_stays_in_history_when_the_stream_breaks_after_it() -> None:
    core = Core()
    core.send()
    core.output(w.call(), w.begin(), w.end(), w.output(), w.delta("half"))
    core.end(ModelFailed("the stream broke"))
    assert core.types[2:] == [
        "tool_call", "work_began", "work_ended", "tool_output",
        "agent_message", "error", "task_complete",
    ]  # fmt: skip


def test_d38_partial_text_is_kept_once_and_marked_when_it_is_cut() -> None:
    core = Core()
    core.send()
    core.output(w.delta("Hel"), w.delta("lo"))
    core.interrupt()
    core.stopped()
    assert core.said_of(ev.AgentMessage) == [
        ev.AgentMessage(message="Hello", item_id=ItemId("message"), partial=True, cut=AbortReason.INTERRUPTED)
    ]


def test_d38_a_finished_message_takes_the_place_of_its_deltas() -> None:
    core = Core()
    core.send()
    core.output(w.delta("Hel"), w.delta("lo"), w.message("Hello"))
    core.interrupt()
    core.stopped()
    assert [(one.message, one.partial) for one in core.said_of(ev.AgentMessage)] == [("Hello", False)]


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (AbortReason.FAILED, "aborted: the supervisor failed"),
        (AbortReason.LOST, "aborted: the supervisor was stopped after this had begun; how far it came is not known"),
    ],
)
def test_a_call_that_was_cut_has_one_output_that_says_why(reason: AbortReason, text: str) -> None:
    core = Core()
    core.send()
    core.output(w.call(), w.begin())
    core.crash(reason)
    assert [one.output for one in core.said_of(ev.ToolOutput)] == [text]


def test_an_interrupted_call_reads_aborted_by_user() -> None:
    core = Core()
    core.send()
    core.output(w.call())
    core.interrupt()
    core.stopped()
    assert [one.output for one in core.said_of(ev.ToolOutput)] == ["aborted by user"]


def test_an_end_or_an_output_that_nothing_began_is_dropped() -> None:
    core = Core()
    core.send()
    core.output(w.end(), w.output(), w.patch_end())
    assert core.types == ["task_started", "user_message"]


def test_every_batch_of_the_running_turn_is_acknowledged_once() -> None:
    core = Core()
    core.send()
    core.output(w.delta("a"))
    core.output()
    assert core.orders_of(TakeMore) == [TakeMore(core.turn)] * 2


def test_an_event_of_the_core_is_refused_from_an_agent() -> None:
    """The type checker proves this: it objects to an ignore that nothing needs."""
    AgentOutput(TurnId("turn"), (ev.TaskComplete(),))  # type: ignore[arg-type]  # the error is the test


def test_the_agent_is_told_only_when_what_was_said_is_on_disk() -> None:
    core = Core(commits=False)
    core.send("hi", ANN)
    assert core.runs == []
    assert core.answers(ANN) == []
    core.store()
    (run,) = core.runs
    assert w.words_of(run.inputs) == ["hi"]
    assert run.seq == 3
    assert len(core.answers(ANN)) == 1


def test_only_the_turn_that_a_conversation_begins_with_has_no_history_to_read() -> None:
    core = Core()
    core.send("one")
    core.end()
    core.send("two")
    assert [run.first for run in core.runs] == [True, False]
    renamed = Core()
    renamed.say(Rename("two events old"), ANN)
    renamed.send("one")
    assert [run.first for run in renamed.runs] == [False]


def test_output_for_a_conversation_where_nothing_runs_is_dropped() -> None:
    core = Core()
    core.send()
    turn = core.turn
    core.end()
    assert core.say(AgentOutput(turn, (w.message("late"),))) == []


def test_a_message_for_a_conversation_that_never_began_is_refused() -> None:
    core = Core(begin=False)
    core.send("hi", ANN)
    assert isinstance(core.answer(ANN), UnknownConversation)
    assert core.disk.records == []


def test_reasoning_before_a_section_break_is_not_lost_when_it_is_cut() -> None:
    core = Core()
    core.send()
    core.output(w.thought("first, "), w.section_break(), w.thought("then"))
    reader = core.attach("late")
    core.interrupt()
    core.stopped()
    assert reader.text == "first, then"
    assert [(one.text, one.partial) for one in core.said_of(ev.AgentReasoning)] == [("first, then", True)]


def test_an_agent_that_was_not_told_yet_has_nothing_to_say() -> None:
    core = Core(commits=False)
    core.send()
    core.output(w.message("too early"))
    core.end()
    core.store()
    assert core.types == ["task_started", "user_message"]
    assert len(core.runs) == 1


# --- the disk, before what can't be taken back ---------------------------------------------------------------------


def test_an_agent_that_waits_for_the_disk_is_told_when_what_it_said_is_stored_and_not_before() -> None:
    core = Core()
    core.send()
    core.commits = False
    core.output(w.call(), w.begin(), StorageAwaited())
    assert core.orders_of(AllStored) == []
    core.store()
    assert len(core.orders_of(AllStored)) == 1


def test_an_agent_that_waits_for_the_disk_with_nothing_to_store_is_told_at_once() -> None:
    core = Core()
    core.send()
    core.output(w.call(), w.begin())
    core.output(StorageAwaited())
    assert len(core.orders_of(AllStored)) == 1


def test_a_path_that_is_no_text_is_told_as_far_as_it_is_one_and_the_turn_goes_on() -> None:
    core = Core()
    core.send()
    core.output(ev.BackgroundEvent(message="in /home/\udcff"), w.message("ok"))
    core.end()
    assert [event.message for event in core.said_of(ev.BackgroundEvent)] == ["in /home/?"]
    assert core.types[-1] == "task_complete"
