"""Parking: a conversation leaves memory only when it may, and comes back the same."""

from actors.conversation import condition
from actors.conversation.state import Limits
from actors.messages.conversation import ConnectionClosed, Inspect, Park, Rename, TimerFired
from actors.messages.effects import Effect, Leave, OfferToPark, SetTimer, Stay
from actors.messages.orders import Suspended
from actors.vocabulary.conditions import Condition
from actors.vocabulary.errors import StorageFull
from actors.vocabulary.ids import ConnectionId
from actors.vocabulary.settings import BusyPolicy, Decision
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller

ANN = caller("ann")


def look(core: Core, after_s: float) -> list[Effect]:
    """The effects of the idle timer, without the next timer."""
    core.now += after_s
    return [effect for effect in core.say(TimerFired("idle")) if not isinstance(effect, SetTimer)]


def test_a_conversation_that_was_idle_long_enough_offers_to_leave() -> None:
    core = Core()
    assert look(core, core.limits.idle_park_s) == [OfferToPark()]
    assert core.say(Park()) == [Leave()]


def test_a_conversation_that_was_spoken_to_meanwhile_stays() -> None:
    core = Core()
    core.now += core.limits.idle_park_s / 2
    core.say(Inspect(), ANN)
    assert look(core, core.limits.idle_park_s / 2) == []
    assert look(core, core.limits.idle_park_s) == [OfferToPark()]


def test_there_is_always_one_timer_that_looks() -> None:
    core = Core()
    core.send()
    core.end()
    assert core.effects.count(SetTimer("idle", core.limits.idle_park_s)) == 1
    core.now += 1
    core.say(TimerFired("idle"))
    assert core.effects.count(SetTimer("idle", core.limits.idle_park_s)) == 2


def test_a_conversation_that_may_idle_for_no_time_at_all_is_not_looked_at_without_a_pause() -> None:
    core = Core(limits=Limits(idle_park_s=0.0))
    core.send()
    core.say(TimerFired("idle"))
    looks = [effect.delay_s for effect in core.effects if isinstance(effect, SetTimer) and effect.name == "idle"]
    assert len(looks) == 2
    assert all(delay_s >= 0.1 for delay_s in looks)


def test_a_conversation_stays_while_a_turn_runs() -> None:
    core = Core()
    core.send()
    assert look(core, core.limits.idle_park_s) == []
    assert core.say(Park()) == [Stay()]


def test_a_conversation_whose_append_was_refused_may_leave_before_the_ones_behind_it_are_refused_too() -> None:
    core = Core(commits=False)
    core.say(Rename("one"), ANN)
    core.say(Rename("two"), ANN)
    core.disk.refuses = StorageFull("full")
    core.store(1)
    core.disk.refuses = None
    assert core.disk.under_way
    assert core.say(Park()) == [Leave()]
    core.store()
    assert core.disk.restored(core.limits).facts == core.state.facts


def test_a_conversation_stays_while_somebody_is_attached() -> None:
    core = Core()
    core.attach("r", connection="ann")
    assert look(core, core.limits.idle_park_s) == []
    assert core.say(Park()) == [Stay()]
    core.say(ConnectionClosed(ConnectionId("ann")))
    assert core.say(Park()) == [Leave()]


def test_a_conversation_stays_while_something_is_not_on_disk() -> None:
    core = Core()
    core.commits = False
    core.send()
    core.interrupt()
    assert core.say(Park()) == [Stay()]
    core.store()
    assert core.say(Park()) == [Leave()]


def test_a_conversation_stays_while_a_call_waits_for_the_end_of_its_turn() -> None:
    core = Core()
    core.send("hi", ANN, await_end=True)
    core.output(w.ask())
    look(core, core.limits.idle_park_s)
    core.end(Suspended())
    assert core.say(Park()) == [Stay()]


def test_a_message_between_the_offer_to_park_and_the_leave_keeps_the_session() -> None:
    core = Core()
    assert look(core, core.limits.idle_park_s) == [OfferToPark()]
    core.send()
    assert core.say(Park()) == [Stay()]


def test_a_turn_that_waits_on_paper_may_leave_and_the_answer_continues_it() -> None:
    core = Core()
    core.send()
    core.output(w.call(), w.ask())
    look(core, core.limits.idle_park_s)
    core.end(Suspended())
    assert look(core, core.limits.idle_park_s) == [OfferToPark()]
    assert core.say(Park()) == [Leave()]
    core.crash()
    assert condition(core.state) is Condition.WAITING
    core.answer_with(Decision.APPROVED, ANN)
    assert core.runs[-1].resume


def test_a_conversation_that_left_comes_back_with_the_same_facts_and_without_a_word() -> None:
    core = Core()
    core.send("one")
    core.send("two", policy=BusyPolicy.ENQUEUE)
    core.interrupt()
    core.stopped()
    before = core.state.facts
    assert core.say(Park()) == [Leave()]
    core.crash()
    assert core.state.facts == before


def test_a_conversation_stays_while_a_question_has_a_deadline() -> None:
    core = Core()
    core.send()
    core.output(w.ask(deadline_s=3600))
    look(core, core.limits.idle_park_s)
    core.end(Suspended())
    assert look(core, core.limits.idle_park_s) == []
    core.say(TimerFired("approval:question"))
    assert core.runs[-1].resume
