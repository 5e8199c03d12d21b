"""Readers: history, then the present, without a gap or a duplicate; a slow one costs nothing but its cursor."""

from collections.abc import Callable
from functools import partial

import pytest

from actors.conversation import summary
from actors.conversation.reading import READERS_PER_STEP
from actors.messages.conversation import Attach, ConnectionClosed, Detach, PageRead, ReadersWait, Rename
from actors.messages.effects import Deliver, FeedOthers, ReadPage, ReplyTo
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AttachedReader, Done
from actors.vocabulary.errors import InvalidInput, StorageFull, UnknownConversation
from actors.vocabulary.ids import ConnectionId, SubscriptionId
from actors.vocabulary.settings import Decision
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller, with_limits

ANN = caller("ann")
SMALL = with_limits(window_records=4, page_records=3)


def talk(core: Core, messages: int) -> None:
    """One turn with so many messages."""
    core.send()
    for number in range(messages):
        core.output(w.message(str(number), f"m{number}"))
    core.end()


def dense(core: Core) -> list[int]:
    return list(range(1, len(core.disk.records) + 1))


# --- where a reader begins --------------------------------------------------------------------------------------


def test_a_reader_from_the_beginning_gets_all_of_history_and_then_what_comes() -> None:
    core = Core()
    talk(core, 3)
    reader = core.attach("r")
    talk(core, 2)
    assert reader.seqs == dense(core)


def test_a_reader_from_a_cursor_gets_what_it_has_not_seen() -> None:
    core = Core()
    talk(core, 3)
    reader = core.attach("r", after=4)
    assert reader.seqs == dense(core)[4:]


def test_a_reader_from_now_gets_only_what_comes() -> None:
    core = Core()
    talk(core, 3)
    stored = len(core.disk.records)
    reader = core.attach("r", after=None)
    assert reader.seqs == []
    talk(core, 1)
    assert reader.seqs == dense(core)[stored:]


@pytest.mark.parametrize("after", [-1, 2, 1000])
def test_a_cursor_outside_history_is_refused_with_the_last_that_there_is(after: int) -> None:
    core = Core()
    core.say(Attach(ANN.connection, SubscriptionId("r"), after), ANN)
    answer = core.answer(ANN)
    assert isinstance(answer, InvalidInput)
    assert answer.details == {"last_seq": 1}
    assert core.reader("r").slices == []


def test_a_cursor_into_what_is_not_on_disk_yet_is_refused() -> None:
    core = Core(commits=False)
    core.send()
    core.say(Attach(ANN.connection, SubscriptionId("r"), 2), ANN)
    assert isinstance(core.answer(ANN), InvalidInput)


def test_nobody_can_attach_to_a_conversation_that_never_began() -> None:
    core = Core(begin=False)
    core.say(Attach(ANN.connection, SubscriptionId("r")), ANN)
    assert isinstance(core.answer(ANN), UnknownConversation)


def test_d28_the_answer_to_attach_comes_before_the_first_slice() -> None:
    core = Core()
    effects = core.say(Attach(ANN.connection, SubscriptionId("r")), ANN)
    kinds = [type(effect) for effect in effects]
    assert kinds.index(ReplyTo) < kinds.index(Deliver)
    answer = core.answer(ANN)
    assert isinstance(answer, AttachedReader)
    assert answer.seq == 1


def test_the_first_slice_that_reaches_the_present_says_so_even_when_it_is_empty() -> None:
    core = Core()
    reader = core.attach("r", after=None)
    assert [(slice_.live, slice_.records) for slice_ in reader.slices] == [(True, ())]


# --- log first --------------------------------------------------------------------------------------------------


def test_nobody_sees_what_is_not_on_disk() -> None:
    core = Core()
    reader = core.attach("r")
    core.send()
    shown = list(reader.seqs)
    core.commits = False
    core.output(w.message("hi"))
    core.end()
    assert reader.seqs == shown
    core.store()
    assert reader.seqs == dense(core)


def test_a_delta_waits_for_the_events_before_it() -> None:
    core = Core()
    core.send()
    reader = core.attach("r")
    core.commits = False
    core.output(w.call(), w.delta("words"))
    assert reader.text == ""
    core.store()
    assert reader.text == "words"
    assert reader.slices[-1].records[-1].type == "tool_call"


@pytest.mark.parametrize("attach_at", range(6))
def test_d20_whatever_order_the_disk_and_the_reader_come_in_there_is_no_gap_and_no_duplicate(attach_at: int) -> None:
    core = Core()
    core.send()
    core.commits = False
    news = (w.delta("a"), w.message("ab"))
    acts: list[Callable[[], object]] = [*(partial(core.output, one) for one in news), core.end]
    for number, act in enumerate((*acts, core.store, core.send, core.store)):
        if number == attach_at:
            core.attach("r")
        act()
    assert core.reader("r").seqs == dense(core)


# --- the unfinished tail ----------------------------------------------------------------------------------------


def test_d21_a_newcomer_gets_what_is_in_progress_as_one_delta() -> None:
    core = Core()
    core.send()
    for word in ("one ", "two ", "three"):
        core.output(w.delta(word))
    reader = core.attach("r")
    assert reader.deltas == [w.delta("one two three")]


def test_a_slow_reader_gets_the_deltas_it_missed_as_one() -> None:
    core = Core(ready=False)
    core.send()
    reader = core.attach("r")
    for word in ("one ", "two ", "three"):
        core.output(w.delta(word))
    core.free("r")
    assert reader.deltas == [w.delta("one two three")]


def test_a_reader_gets_each_word_of_a_delta_once() -> None:
    core = Core()
    core.send()
    core.output(w.delta("a"))
    reader = core.attach("r")
    for word in ("b", "c", "d"):
        core.output(w.delta(word), w.thought(word))
    assert [one.delta for one in reader.deltas if isinstance(one, ev.AgentMessageDelta)] == ["a", "b", "c", "d"]


def test_a_finished_item_is_not_preceded_by_deltas_the_reader_had_not_seen() -> None:
    core = Core(ready=False)
    core.send()
    reader = core.attach("r")
    core.output(w.delta("half"), w.message("all of it"))
    core.free("r")
    assert reader.deltas == []
    assert reader.slices[-1].records[-1].type == "agent_message"


def test_output_of_a_command_is_streamed_by_stream() -> None:
    core = Core()
    core.send()
    core.output(w.begin())
    reader = core.attach("r")
    core.output(w.chunk(b"out"), w.chunk(b"bad", error=True), w.chunk(b"put"))
    assert reader.deltas == [w.chunk(b"output"), w.chunk(b"bad", error=True)]


def test_deltas_of_a_turn_end_with_it() -> None:
    core = Core()
    core.send()
    core.output(w.delta("half"))
    core.interrupt()
    core.stopped()
    assert core.attach("r").deltas == []


# --- slow readers -----------------------------------------------------------------------------------------------


def test_a_reader_that_is_never_ready_has_one_slice_and_costs_a_cursor() -> None:
    core = Core(limits=SMALL, ready=False)
    reader = core.attach("r")
    before = core.state.subscribers[SubscriptionId("r")]
    for _ in range(50):
        talk(core, 10)
    assert len(reader.slices) == 1
    assert core.state.subscribers[SubscriptionId("r")] == before
    assert len(core.state.window) <= SMALL.window_records


def test_a_slow_reader_delays_nobody() -> None:
    core = Core(ready=False)
    core.attach("slow")
    core.ready = True
    quick = core.attach("quick")
    talk(core, 5)
    assert quick.seqs == dense(core)
    assert core.reader("slow").seqs == [1]


def test_a_reader_that_fell_behind_memory_catches_up_by_pages_and_is_told_once() -> None:
    core = Core(limits=SMALL, ready=False)
    reader = core.attach("r")
    talk(core, 20)
    core.ready = True
    core.free("r")
    assert reader.seqs == dense(core)
    assert reader.lags == 1
    assert reader.slices[1].lagged
    assert [slice_.live for slice_ in reader.slices[1:-1]] == [False] * (len(reader.slices) - 2)
    assert reader.slices[-1].live


def test_a_newcomer_that_reads_history_by_pages_does_not_lag() -> None:
    core = Core(limits=SMALL)
    talk(core, 20)
    reader = core.attach("r")
    assert reader.seqs == dense(core)
    assert reader.lags == 0
    assert max(len(slice_.records) for slice_ in reader.slices) <= SMALL.window_records


def test_each_time_it_falls_behind_it_is_told_once() -> None:
    core = Core(limits=SMALL, ready=False)
    reader = core.attach("r")
    for _ in range(2):
        core.ready = False
        talk(core, 20)
        core.ready = True
        core.free("r")
    assert reader.lags == 2
    assert reader.seqs == dense(core)


def test_a_reader_whose_history_was_pruned_is_told_what_is_missing() -> None:
    core = Core(limits=SMALL)
    talk(core, 20)
    core.disk.first_seq = 10
    reader = core.attach("r")
    assert reader.slices[0].gap == (1, 9)
    assert reader.seqs == dense(core)[9:]
    assert all(slice_.gap is None for slice_ in reader.slices[1:])


def test_a_reader_that_is_behind_everything_that_was_kept_is_told_and_goes_on() -> None:
    core = Core(limits=SMALL, ready=False)
    core.attach("r")
    talk(core, 20)
    core.free("r")
    core.disk.first_seq = len(core.disk.records) + 1
    core.page()
    assert core.reader("r").slices[-1].gap == (2, len(core.disk.records))


def test_a_reader_whose_history_is_gone_is_sent_away() -> None:
    core = Core(limits=SMALL, ready=False)
    talk(core, 20)
    reader = core.attach("r")
    core.say(PageRead(SubscriptionId("r"), None))
    assert reader.ended == ["its history is gone"]
    assert core.state.subscribers == {}


def test_a_page_for_a_reader_that_left_is_dropped() -> None:
    core = Core(limits=SMALL, ready=False)
    talk(core, 20)
    core.attach("r")
    core.say(Detach(SubscriptionId("r")))
    core.page()
    assert core.reader("r").slices == []


# --- many -------------------------------------------------------------------------------------------------------


def test_readers_at_the_same_place_share_one_slice() -> None:
    core = Core()
    readers = [core.attach(f"r{number}", after=None) for number in range(READERS_PER_STEP)]
    core.send()
    core.output(w.delta("x"))
    for place in (-1, -2):
        assert len({id(reader.slices[place]) for reader in readers}) == 1


def test_readers_at_different_places_do_not() -> None:
    core = Core()
    early, late = core.attach("early", after=0), core.attach("late", after=None)
    assert early.slices[0] is not late.slices[0]
    talk(core, 1)
    assert early.slices[-1] is late.slices[-1]


def test_two_subscriptions_of_one_connection_are_two_readers() -> None:
    core = Core()
    one, two = core.attach("one"), core.attach("two")
    talk(core, 2)
    assert one.seqs == two.seqs == dense(core)


# --- questions --------------------------------------------------------------------------------------------------


def test_waiting_questions_come_with_the_first_live_slice_and_not_with_the_next() -> None:
    core = Core()
    core.send()
    core.output(w.ask())
    reader = core.attach("r")
    core.output(w.delta("meanwhile"))
    assert [[one.approval_id for one in slice_.pending or ()] for slice_ in reader.slices] == [["question"], []]


# --- leaving ----------------------------------------------------------------------------------------------------


def test_a_detached_reader_gets_nothing_more() -> None:
    core = Core()
    reader = core.attach("r")
    core.say(Detach(SubscriptionId("r")), ANN)
    assert core.answer(ANN) == Done()
    talk(core, 1)
    assert reader.seqs == [1]


def test_a_client_that_is_not_attached_cannot_detach() -> None:
    core = Core()
    core.say(Detach(SubscriptionId("r")), ANN)
    assert isinstance(core.answer(ANN), InvalidInput)


def test_d23_detaching_one_subscription_leaves_a_newer_one_of_the_same_client_alone() -> None:
    core = Core()
    core.attach("old")
    new = core.attach("new")
    core.say(Detach(SubscriptionId("old")))
    talk(core, 1)
    assert new.seqs == dense(core)


def test_a_closed_connection_takes_its_subscriptions_along_and_no_other() -> None:
    core = Core()
    core.attach("mine", connection="ann")
    other = core.attach("other", connection="ben")
    core.say(ConnectionClosed(ConnectionId("ann")))
    assert set(core.state.subscribers) == {"other"}
    talk(core, 1)
    assert other.seqs == dense(core)


def test_a_reader_that_comes_back_by_its_cursor_misses_nothing_and_gets_nothing_twice() -> None:
    core = Core()
    first = core.attach("first")
    talk(core, 3)
    core.say(Detach(SubscriptionId("first")))
    talk(core, 3)
    second = core.attach("second", after=first.seqs[-1])
    talk(core, 1)
    assert first.seqs + second.seqs == dense(core)


def test_a_page_may_know_more_of_the_disk_than_the_conversation_does() -> None:
    core = Core(limits=SMALL, ready=False)
    talk(core, 20)
    reader = core.attach("r")
    core.commits = False
    core.send()
    wanted = ReadPage(SubscriptionId("r"), 0, 100)
    told = core.disk.answer_oldest()
    core.say(PageRead(SubscriptionId("r"), core.disk.page(wanted)))
    core.pages.clear()
    core.say(told)
    core.free("r")
    assert reader.seqs == dense(core)


def test_an_approval_is_never_pending_for_a_reader_that_has_seen_its_answer() -> None:
    """The page may have it a moment before the conversation hears that it is stored."""
    core = Core(limits=SMALL, ready=False)
    talk(core, 20)
    core.send()
    core.output(w.ask())
    reader = core.attach("r")
    core.commits = False
    core.answer_with(Decision.DENIED)
    wanted = ReadPage(SubscriptionId("r"), 0, 100)
    told = core.disk.answer_oldest()
    core.say(PageRead(SubscriptionId("r"), core.disk.page(wanted)))
    core.pages.clear()
    core.free("r")
    core.say(told)
    core.free("r")
    assert reader.seqs == dense(core)
    resolved = False
    for slice_ in reader.slices:
        resolved = resolved or any(one.type == "approval_resolved" for one in slice_.records)
        assert not (resolved and slice_.pending)


def test_a_command_that_runs_again_is_streamed_from_its_beginning_to_a_reader_that_was_busy_meanwhile() -> None:
    core = Core()
    core.send()
    reader = core.attach("r")
    core.ready = False
    core.output(w.begin(), w.chunk(b"first try"))
    core.output(w.end(code=1), w.begin(), w.chunk(b"second"))
    core.ready = True
    core.free("r")
    assert reader.deltas == [w.chunk(b"first try"), w.chunk(b"second")]


def test_after_a_refused_write_a_reader_is_shown_what_comes_from_its_first_word() -> None:
    core = Core()
    core.send()
    reader = core.attach("r")
    core.output(w.delta("before"))
    core.ready = False
    core.output(w.plan())
    core.disk.refuses = StorageFull("full")
    core.output(w.message("other", "other"))
    core.disk.refuses = None
    core.say(Rename("works again"))
    core.output(w.delta("after"))
    core.ready = True
    core.free("r")
    assert reader.text == "beforeafter"


def test_a_reader_that_says_ready_twice_gets_its_page_once() -> None:
    core = Core(limits=SMALL, ready=False)
    talk(core, 20)
    reader = core.attach("r")
    core.free("r")
    core.ready = True
    while core.pages:
        core.page()
    assert reader.seqs == dense(core)


def test_d20_a_question_that_is_not_on_disk_yet_is_not_shown_to_a_newcomer_and_then_shown_once() -> None:
    core = Core()
    core.send()
    core.commits = False
    core.output(w.ask())
    reader = core.attach("r", after=None)
    assert not reader.slices[0].pending
    assert summary(core.state).pending == ()
    core.store()
    assert [record.type for slice_ in reader.slices for record in slice_.records] == ["approval_requested"]


def test_a_question_whose_answer_the_disk_refused_was_shown_to_those_who_came_meanwhile() -> None:
    core = Core()
    core.send()
    core.output(w.ask())
    core.commits = False
    core.answer_with(Decision.APPROVED)
    reader = core.attach("r", after=None)
    assert [one.approval_id for one in reader.slices[0].pending or ()] == ["question"]


# --- a crowd ------------------------------------------------------------------------------------------------------


def test_a_crowd_is_served_in_several_steps_and_everybody_gets_everything_in_order() -> None:
    core = Core()
    names = [f"r{number}" for number in range(3 * READERS_PER_STEP)]
    for name in names:
        core.attach(name)
    talk(core, 2)
    for name in names:
        assert core.reader(name).seqs == dense(core)


def test_one_step_serves_a_few_and_says_that_others_wait() -> None:
    core = Core(ready=False)
    for number in range(2 * READERS_PER_STEP + 1):
        core.attach(f"r{number}")
        core.free(f"r{number}")
    core.say(Rename("new"))
    told = core.effects[-READERS_PER_STEP - 1 :]
    assert [type(one) for one in told] == [*[Deliver] * READERS_PER_STEP, FeedOthers]
    first = {one.subscription for one in told if isinstance(one, Deliver)}
    second = {one.subscription for one in core.say(ReadersWait()) if isinstance(one, Deliver)}
    assert len(second) == READERS_PER_STEP
    assert not first & second
