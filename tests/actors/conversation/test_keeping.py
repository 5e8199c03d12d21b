"""Unfinished text on disk: written every second while it grows, part of the history after a kill, never doubled."""

import pytest

from actors.conversation.storing_tails import KEEP_S, TIMER
from actors.conversation.tail import PIECES, TAIL_LIMIT
from actors.messages.conversation import TimerFired
from actors.messages.effects import SetTimer
from actors.messages.orders import AgentNews, Completed
from actors.vocabulary import events as ev
from actors.vocabulary.errors import StorageFull
from actors.vocabulary.ids import ItemId
from actors.vocabulary.settings import AbortReason, Decision
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller

ANN = caller("ann")
AGAIN = SetTimer(TIMER, KEEP_S)


def streaming(*news: AgentNews) -> Core:
    core = Core()
    core.send()
    core.output(*news)
    return core


def second(core: Core) -> None:
    core.say(TimerFired(TIMER))


def timers(core: Core) -> int:
    return core.effects.count(AGAIN)


def partial(core: Core) -> list[tuple[str, AbortReason | None]]:
    return [(one.message, one.cut) for one in core.said_of(ev.AgentMessage) if one.partial]


def test_text_that_was_on_a_screen_a_second_before_a_kill_is_in_the_history_as_cut_off() -> None:
    core = streaming(w.delta("Hel"), w.delta("lo"))
    second(core)
    core.output(w.delta(", wor"))
    core.crash()
    assert partial(core) == [("Hello", AbortReason.LOST)]
    assert core.types[-3:] == ["agent_message", "error", "turn_aborted"]
    assert core.disk.kept == ()


def test_the_pieces_of_several_seconds_are_one_text() -> None:
    core = streaming()
    for piece in ("one ", "two ", "three"):
        core.output(w.delta(piece))
        second(core)
    assert len(core.disk.kept) == 3
    core.crash()
    assert partial(core) == [("one two three", AbortReason.LOST)]


def test_reasoning_and_the_output_of_a_command_are_kept_too() -> None:
    core = streaming(w.thought("I think"), w.call(), w.begin(), w.chunk(b"\xc3"), w.chunk(b"oh", error=True))
    core.output(w.chunk(b"\xa4"))
    second(core)
    core.crash()
    (ended,) = core.said_of(ev.WorkEnded)
    assert (ended.output, ended.errors, ended.cut) == ("ä", "oh", AbortReason.LOST)
    (thought,) = core.said_of(ev.AgentReasoning)
    assert (thought.text, thought.partial, thought.cut) == ("I think", True, AbortReason.LOST)


def test_a_second_kill_before_the_first_is_settled_loses_nothing_and_doubles_nothing() -> None:
    core = streaming(w.delta("Hello"))
    second(core)
    core.commits = False
    core.crash()
    core.disk.under_way.clear()
    core.commits = True
    core.crash()
    assert partial(core) == [("Hello", AbortReason.LOST)]
    core.crash()
    assert len(core.said_of(ev.AgentMessage)) == 1


def test_a_finished_item_is_kept_nowhere_else() -> None:
    core = streaming(w.delta("Hello"))
    second(core)
    core.output(w.message("Hello"))
    assert core.disk.kept == ()
    core.crash()
    assert [one.partial for one in core.said_of(ev.AgentMessage)] == [False]


def test_text_repeated_after_a_broken_stream_is_not_doubled() -> None:
    core = streaming(w.delta("Hel", "first"))
    second(core)
    core.output(ev.StreamError(message="broken"), w.delta("Hello", "again"))
    second(core)
    core.crash()
    assert partial(core) == [("Hello", AbortReason.LOST)]


def test_a_turn_that_goes_on_and_ends_leaves_nothing() -> None:
    core = streaming(w.delta("Hello"))
    second(core)
    core.output(w.message("Hello"))
    core.end(Completed("Hello"))
    assert core.disk.kept == ()
    assert "turn_aborted" not in core.types


def test_an_interrupt_keeps_the_text_in_the_history_alone_and_says_why_it_is_cut() -> None:
    core = streaming(w.delta("Hello"))
    second(core)
    core.output(w.delta(" world"))
    core.interrupt(ANN)
    core.stopped()
    assert partial(core) == [("Hello world", AbortReason.INTERRUPTED)]
    assert core.disk.kept == ()


def test_a_timer_runs_only_while_text_grows() -> None:
    core = Core()
    core.send()
    assert timers(core) == 0
    core.output(w.delta("a"))
    core.output(w.delta("b"))
    assert timers(core) == 1
    second(core)
    assert timers(core) == 2
    second(core)  # nothing has come since
    assert timers(core) == 2
    core.output(w.delta("c"))
    assert timers(core) == 3


def test_a_word_is_written_once_and_a_reader_waits_for_none_of_it() -> None:
    core = streaming(w.delta("a" * 1000))
    reader = core.attach("r")
    second(core)
    core.output(w.delta("b"))
    second(core)
    assert [one.end - one.start for one in core.disk.kept] == [1000, 1]
    assert reader.text == "a" * 1000 + "b"
    assert core.state.versions == ()


def test_text_that_grows_for_long_is_made_one_piece_again() -> None:
    core = streaming()
    for number in range(3 * PIECES):
        core.output(w.delta(f"{number} "))
        second(core)
        assert len(core.disk.kept) <= PIECES
    core.crash()
    assert partial(core)[0][0] == "".join(f"{number} " for number in range(3 * PIECES))


def test_output_without_end_is_kept_up_to_a_bound() -> None:
    core = streaming(w.call(), w.begin())
    for _ in range(20):
        core.output(w.chunk(b"x" * (TAIL_LIMIT // 4)))
        second(core)
        assert sum(one.end - one.start for one in core.disk.kept) <= 2 * TAIL_LIMIT
    core.crash()
    assert TAIL_LIMIT // 2 <= len(core.said_of(ev.WorkEnded)[0].output) <= TAIL_LIMIT


def test_text_is_not_written_to_a_disk_that_refuses_and_the_turn_ends_as_before() -> None:
    core = streaming(w.delta("a"))
    second(core)
    core.disk.refuses = StorageFull("full")
    core.output(w.delta("b"))
    second(core)  # refused, and nobody is told
    core.output(w.call())
    core.disk.refuses = None
    core.stopped()
    assert core.disk.kept == ()
    assert core.types[-1] == "turn_aborted"


def test_of_text_with_a_gap_the_end_is_kept() -> None:
    core = streaming(w.delta("one "))
    second(core)
    core.disk.refuses = StorageFull("full")
    core.output(w.delta("two "))
    second(core)
    core.disk.refuses = None
    core.output(w.delta("three"))
    second(core)
    core.crash()
    assert partial(core) == [("three", AbortReason.LOST)]


def test_a_turn_on_paper_goes_on_without_the_text_of_its_last_life() -> None:
    core = streaming(w.delta("half", "odd"), w.call(), w.ask())
    second(core)
    core.crash()
    assert core.state.tails == ()
    core.answer_with(Decision.APPROVED)
    core.output(w.begin(), w.end(), w.output(), w.message("Done"))
    assert core.disk.kept == ()
    core.end()
    assert [one.item_id for one in core.said_of(ev.AgentMessage)] == [ItemId("message")]


@pytest.mark.parametrize("reason", [AbortReason.LOST, AbortReason.FAILED])
def test_the_text_is_kept_whether_the_daemon_or_only_the_conversation_broke(reason: AbortReason) -> None:
    core = streaming(w.delta("Hello"))
    second(core)
    core.crash(reason)
    assert partial(core) == [("Hello", reason)]


def test_half_a_character_does_not_stop_the_keeping() -> None:
    core = streaming(w.delta("a\ud83d"))
    second(core)
    assert len(core.disk.kept) == 1
