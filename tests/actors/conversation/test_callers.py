"""A caller whose connection closes with its call open: its turn ends after a while, unless somebody else is there."""

from actors.messages.conversation import ConnectionClosed, Send, TimerFired
from actors.messages.effects import Effect, SetTimer
from actors.messages.orders import InputWanted, StopAgent
from actors.vocabulary import events as ev
from actors.vocabulary.ids import Caller, ConnectionId
from actors.vocabulary.settings import BusyPolicy
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller, said

ANN, BEN = caller("ann"), caller("ben")
GONE_S = 5.0


def call(
    core: Core, who: Caller = ANN, policy: BusyPolicy = BusyPolicy.STEER, *, gone_s: float | None = GONE_S
) -> None:
    core.say(Send(said("hi"), policy, await_end=True, gone_s=gone_s), who)


def leave(core: Core, who: Caller = ANN) -> list[str]:
    """Close the connection; returns the timers that this set."""
    return timers(core.say(ConnectionClosed(who.connection)))


def timers(effects: list[Effect]) -> list[str]:
    found = [one for one in effects if isinstance(one, SetTimer) and one.name.startswith("caller_gone:")]
    assert all(one.delay_s == GONE_S for one in found)
    return [one.name for one in found]


def stops(core: Core) -> int:
    return len([one for one in core.effects if isinstance(one, StopAgent)])


def test_a_turn_whose_caller_is_gone_and_stays_away_is_interrupted_and_says_why() -> None:
    core = Core()
    call(core)
    core.output(w.call(), w.begin())
    (timer,) = leave(core)
    assert stops(core) == 0
    core.say(TimerFired(timer))
    assert stops(core) == 1
    core.stopped()
    (aborted,) = core.said_of(ev.TurnAborted)
    assert (aborted.reason.value, aborted.message) == ("interrupted", "its caller is gone, and nobody else is here")


def test_a_caller_that_may_be_gone_for_ever_leaves_its_turn_to_itself() -> None:
    core = Core()
    call(core, gone_s=None)
    assert leave(core) == []


def test_a_call_that_was_answered_leaves_nothing_to_look_after() -> None:
    core = Core()
    call(core)
    core.end()
    assert leave(core) == []


def test_somebody_who_attached_meanwhile_keeps_the_turn() -> None:
    core = Core()
    call(core)
    (timer,) = leave(core)
    core.attach("reader")
    core.say(TimerFired(timer))
    assert stops(core) == 0


def test_another_caller_that_waits_for_the_same_turn_keeps_it_until_it_is_gone_too() -> None:
    core = Core()
    call(core)
    call(core, BEN)
    core.output(InputWanted())  # the turn takes what the second said
    (first,) = leave(core)
    core.say(TimerFired(first))
    assert stops(core) == 0
    (second,) = leave(core, BEN)
    core.say(TimerFired(second))
    assert stops(core) == 1


def test_the_timer_of_a_turn_that_is_over_stops_no_other() -> None:
    core = Core()
    call(core)
    (timer,) = leave(core)
    core.end()
    call(core, BEN)
    core.say(TimerFired(timer))
    assert stops(core) == 0


def test_queued_input_of_a_caller_that_is_gone_is_withdrawn() -> None:
    core = Core()
    core.send()
    call(core, policy=BusyPolicy.ENQUEUE)
    (timer,) = leave(core)
    core.say(TimerFired(timer))
    assert [one.reason for one in core.said_of(ev.InputWithdrawn)] == ["its caller is gone"]
    assert stops(core) == 0


def test_a_turn_that_only_waits_for_an_answer_is_left_on_paper() -> None:
    core = Core()
    call(core)
    core.output(w.call(), w.ask())
    (timer,) = leave(core)
    core.say(TimerFired(timer))
    assert stops(core) == 0
    assert core.state.facts.open_questions


def test_only_the_connection_that_closed_is_gone() -> None:
    core = Core()
    call(core)
    assert timers(core.say(ConnectionClosed(ConnectionId("somebody else")))) == []
