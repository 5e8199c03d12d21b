"""Input that waits: people list it, edit it, move it, withdraw it."""

import pytest

from actors.messages.conversation import EditInput, Inspect, MoveInput, QueueEnd, ResumeQueue, WithdrawAll
from actors.messages.orders import GiveInput, InputWanted
from actors.vocabulary import events as ev
from actors.vocabulary.answers import ConversationSummary, Done, InterruptedTurn, TurnResult
from actors.vocabulary.errors import Cancelled, InvalidInput, QueueFull
from actors.vocabulary.ids import InputId
from actors.vocabulary.items import ImageItem, TextItem
from actors.vocabulary.settings import BusyPolicy
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller, said, with_limits

ANN, BEN = caller("ann"), caller("ben")


def with_queue(*texts: str, core: Core | None = None) -> Core:
    core = core or Core()
    core.send("first")
    for text in texts:
        core.send(text, policy=BusyPolicy.ENQUEUE)
    return core


def waits(core: Core, words: str) -> InputId:
    return next(one.id for one in core.state.facts.pending if w.words_of((one,)) == [words])


def line(core: Core) -> list[str]:
    return w.words_of(core.state.facts.line)


def runs(core: Core) -> list[list[str]]:
    return [w.words_of(run.inputs) for run in core.runs]


def refusal(core: Core) -> str:
    answer = core.answer(ANN)
    assert isinstance(answer, InvalidInput)
    return answer.message


def test_queued_input_is_listed_in_the_order_in_which_it_will_run() -> None:
    core = with_queue("queued")
    core.send("steering", BEN)
    core.say(Inspect(), ANN)
    found = core.answer(ANN)
    assert isinstance(found, ConversationSummary)
    assert [(one.preview, one.policy.value, one.by) for one in found.waiting] == [
        ("steering", "steer", "ben"),
        ("queued", "enqueue", ""),
    ]
    assert (found.queued, found.waiting[0].since) == (2, core.now)


def test_a_long_message_and_one_of_pictures_are_told_by_their_first_words() -> None:
    core = with_queue("word " * 100)
    items = (ImageItem(image_url="data:,"), ImageItem(image_url="data:,"))
    core.say(EditInput(core.state.facts.pending[0].id, items))
    core.send("word\n" * 100, policy=BusyPolicy.ENQUEUE)
    core.interrupt(ANN)
    core.stopped()
    answer = core.answer(ANN)
    assert isinstance(answer, InterruptedTurn)
    assert [one.preview for one in answer.waiting] == ["2 pictures", ("word " * 16)[:80]]
    assert core.said_of(ev.QueuePaused)[0].waiting == ("2 pictures", ("word " * 16)[:80])


def test_a_paused_queue_names_the_first_messages_and_counts_all() -> None:
    core = with_queue(*"abcdefg")
    core.interrupt()
    core.stopped()
    assert core.said_of(ev.QueuePaused) == [ev.QueuePaused(queued=7, waiting=tuple("abcde"))]


def test_edited_input_runs_with_its_new_words_in_its_old_place_under_its_old_key() -> None:
    core = Core()
    core.send("first")
    core.send("a", policy=BusyPolicy.ENQUEUE, key="k")
    core.send("b", policy=BusyPolicy.ENQUEUE)
    core.say(EditInput(waits(core, "a"), said("A"), "ben"), BEN)
    core.send("a", ANN, policy=BusyPolicy.ENQUEUE, key="k")
    core.end()
    assert core.answer(BEN) == Done()
    assert core.said_of(ev.InputEdited)[0].by == "ben"
    assert runs(core) == [["first"], ["A"]]
    core.end()
    assert runs(core) == [["first"], ["A"], ["b"]]


def test_the_sender_of_edited_input_is_answered_by_the_turn_that_takes_it() -> None:
    core = Core()
    core.send("first")
    core.send("a", ANN, policy=BusyPolicy.ENQUEUE, await_end=True)
    core.say(EditInput(waits(core, "a"), said("A")), BEN)
    core.end()
    core.end()
    assert isinstance(core.answer(ANN), TurnResult)


def test_steering_input_is_edited_until_the_agent_takes_it() -> None:
    core = Core()
    core.send("first")
    core.send("left")
    steering = waits(core, "left")
    core.say(EditInput(steering, said("right")), BEN)
    core.output(InputWanted())
    assert [w.words_of(one.inputs) for one in core.orders_of(GiveInput)] == [["right"]]
    core.say(EditInput(steering, said("too late")), ANN)
    assert refusal(core) == f"input {steering} does not wait any more: turn {core.turn} has taken it"


def test_an_edit_that_changes_nothing_is_no_event() -> None:
    core = with_queue("a")
    core.say(EditInput(waits(core, "a"), said("a")), ANN)
    assert core.answer(ANN) == Done()
    assert "input_edited" not in core.types


@pytest.mark.parametrize("items", [(), said("  \n")], ids=["none", "blank"])
def test_input_is_not_edited_to_nothing(items: tuple[TextItem, ...]) -> None:
    core = with_queue("a")
    core.say(EditInput(waits(core, "a"), items), ANN)
    assert isinstance(core.answer(ANN), InvalidInput)
    assert line(core) == ["a"]


def test_an_edit_keeps_to_the_bound_of_what_waits() -> None:
    core = with_queue("a", "b", core=Core(limits=with_limits(queue_bytes=100)))
    core.say(EditInput(waits(core, "a"), said("x" * 200)), ANN)
    assert isinstance(core.answer(ANN), QueueFull)
    assert line(core) == ["a", "b"]


@pytest.mark.parametrize(
    ("moved", "to", "then"),
    [
        ("c", QueueEnd.FIRST, "cab"),
        ("a", QueueEnd.LAST, "bca"),
        ("c", "b", "acb"),
        ("a", "c", "bac"),
        ("a", QueueEnd.FIRST, "abc"),
        ("a", "b", "abc"),
        ("c", QueueEnd.LAST, "abc"),
        ("b", "b", "abc"),
    ],
)
def test_a_queued_message_is_moved(moved: str, to: str | QueueEnd, then: str) -> None:
    core = with_queue(*"abc")
    core.say(MoveInput(waits(core, moved), to if isinstance(to, QueueEnd) else waits(core, to)), ANN)
    assert core.answer(ANN) == Done()
    assert line(core) == list(then)
    assert core.types.count("input_moved") == (then != "abc")
    core.crash()
    assert line(core) == list(then)


def test_input_that_joins_the_turn_cannot_be_moved_among_queued_turns() -> None:
    core = with_queue("queued")
    core.send("steering")
    core.say(MoveInput(waits(core, "queued"), waits(core, "steering")), ANN)
    assert "no order" in refusal(core)


def test_steering_input_is_first_and_last_among_its_own_kind() -> None:
    core = with_queue("queued")
    for text in ("s", "t"):
        core.send(text)
    core.say(MoveInput(waits(core, "t"), QueueEnd.FIRST))
    assert line(core) == ["t", "s", "queued"]


def test_input_that_does_not_wait_is_not_moved() -> None:
    core = with_queue("a")
    core.say(MoveInput(waits(core, "a"), InputId("unheard-of")), ANN)
    assert refusal(core) == "no input unheard-of waits"


def test_everything_that_waits_is_withdrawn_and_who_waits_for_it_is_told_by_whom() -> None:
    core = with_queue("a")
    core.send("b", ANN, policy=BusyPolicy.ENQUEUE, await_end=True)
    core.say(WithdrawAll("not today", "ben"), BEN)
    assert core.answer(BEN) == Done()
    assert line(core) == []
    answer = core.answer(ANN)
    assert isinstance(answer, Cancelled)
    assert answer.message == "the input was withdrawn by ben: not today"
    assert {one.by for one in core.said_of(ev.InputWithdrawn)} == {"ben"}


def test_the_client_that_lets_the_queue_go_on_is_named() -> None:
    core = with_queue("a")
    core.interrupt()
    core.stopped()
    core.say(ResumeQueue("ben"))
    assert core.said_of(ev.QueueResumed) == [ev.QueueResumed(queued=1, by="ben")]
