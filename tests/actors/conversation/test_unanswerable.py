"""Questions that a client can't answer: left to the others, and denied when there is nobody left."""

from actors.messages.conversation import Attach, ConnectionClosed, Detach, Park, PassOn, Quiesce, TimerFired
from actors.messages.effects import Leave, SetTimer, Stay
from actors.messages.orders import AnswerAgent, RunAgent, Suspended
from actors.vocabulary import events as ev
from actors.vocabulary.errors import StorageFull
from actors.vocabulary.ids import ApprovalId, ConnectionId, SubscriptionId
from actors.vocabulary.settings import AbortReason, Decision
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller, with_limits

TIMER = "unanswerable:question"
LONG_S = 300.0


def asked_of(*names: str, commits: bool = True) -> Core:
    """A turn that waits for the answer to `question`, read by these clients."""
    core = Core(limits=with_limits(unanswerable_s=LONG_S))
    for name in names:
        attach(core, name)
    core.send()
    core.output(w.call(), w.ask())
    core.commits = commits
    return core


def attach(core: Core, name: str, *, read_only: bool = False) -> None:
    core.say(Attach(ConnectionId(name), SubscriptionId(name), 0, read_only))


def pass_on(core: Core, name: str, *, asked: bool = True, approval: str = "question") -> None:
    core.say(PassOn(ConnectionId(name), ApprovalId(approval), asked, name))


def hang_up(core: Core, name: str) -> None:
    core.say(ConnectionClosed(ConnectionId(name)))


def wait(core: Core, seconds: float) -> None:
    core.now += seconds
    core.say(TimerFired(TIMER))


def timers(core: Core) -> list[float]:
    return [one.delay_s for one in core.effects if isinstance(one, SetTimer) and one.name == TIMER]


def decided(core: Core) -> list[tuple[Decision, str, str]]:
    return [(one.decision, one.by, one.reason) for one in core.said_of(ev.ApprovalResolved)]


NOBODY_LEFT = (Decision.DENIED, "ben", "no client that was asked could answer it")
NOBODY_CAME = (Decision.DENIED, "the daemon", "no attached client was able to answer it within 300 s")


# --- clients that were asked ------------------------------------------------------------------------------------


def test_the_last_one_asked_who_passes_on_denies() -> None:
    core = asked_of("ann", "ben")
    pass_on(core, "ann")
    assert decided(core) == []
    pass_on(core, "ben")
    assert decided(core) == [NOBODY_LEFT]
    assert [one.decision for one in core.orders_of(AnswerAgent)] == [Decision.DENIED]


def test_a_client_that_passes_on_twice_counts_once() -> None:
    core = asked_of("ann", "ben")
    pass_on(core, "ann")
    pass_on(core, "ann")
    assert decided(core) == []


def test_two_readers_of_one_client_pass_on_together() -> None:
    core = asked_of("ben")
    core.say(Attach(ConnectionId("ben"), SubscriptionId("another"), 0))
    pass_on(core, "ben")
    assert decided(core) == [NOBODY_LEFT]


def test_a_question_does_not_wait_for_a_client_that_only_watches() -> None:
    core = asked_of("ben")
    attach(core, "cem", read_only=True)
    pass_on(core, "ben")
    assert decided(core) == [NOBODY_LEFT]


def test_a_question_does_not_wait_for_a_client_that_left_before() -> None:
    core = asked_of("ann", "ben")
    core.say(Detach(SubscriptionId("ann")))
    pass_on(core, "ben")
    assert decided(core) == [NOBODY_LEFT]


def test_an_answer_after_a_pass_counts_as_any_other() -> None:
    core = asked_of("ann", "ben")
    pass_on(core, "ann")
    core.answer_with(Decision.APPROVED, caller("ann"))
    pass_on(core, "ben")
    assert [one[0] for one in decided(core)] == [Decision.APPROVED]


def test_passing_on_what_is_not_asked_means_nothing() -> None:
    core = asked_of("ben")
    pass_on(core, "ben", approval="another")
    assert decided(core) == []
    assert core.state.passes == {}


def test_each_question_is_passed_on_for_itself() -> None:
    core = Core()
    attach(core, "ann")
    attach(core, "ben")
    core.send()
    core.output(w.call(), w.ask("q1"), w.ask("q2"))
    pass_on(core, "ann", approval="q1")
    pass_on(core, "ben", approval="q2")
    assert decided(core) == []


def test_while_the_daemon_stops_nothing_is_denied_for_want_of_clients() -> None:
    core = asked_of("ben")
    core.say(Quiesce())
    pass_on(core, "ben")
    assert decided(core) == []


# --- nobody is there who could ----------------------------------------------------------------------------------


def test_a_question_that_could_not_be_put_is_denied_when_nobody_came_in_time() -> None:
    core = asked_of()
    attach(core, "ann", read_only=True)
    pass_on(core, "ann", asked=False)
    assert timers(core) == [LONG_S]
    wait(core, LONG_S - 1)
    assert decided(core) == []
    assert timers(core) == [LONG_S, 1]
    wait(core, 1)
    assert decided(core) == [NOBODY_CAME]


def test_it_is_denied_although_the_client_that_could_not_be_asked_has_left() -> None:
    core = asked_of()
    attach(core, "ann", read_only=True)
    pass_on(core, "ann", asked=False)
    hang_up(core, "ann")
    wait(core, LONG_S)
    assert decided(core) == [NOBODY_CAME]


def test_it_waits_as_long_as_somebody_is_there_who_could_and_counts_from_when_they_left() -> None:
    core = asked_of("ann")
    attach(core, "ben", read_only=True)
    pass_on(core, "ben", asked=False)
    assert timers(core) == []
    core.now += 10 * LONG_S
    hang_up(core, "ann")
    assert timers(core) == [LONG_S]
    wait(core, LONG_S)
    assert decided(core) == [NOBODY_CAME]


def test_a_client_that_comes_in_time_stops_the_clock() -> None:
    core = asked_of()
    pass_on(core, "ann", asked=False)
    attach(core, "ben")
    wait(core, LONG_S)
    assert decided(core) == []
    hang_up(core, "ben")
    wait(core, LONG_S - 1)
    assert decided(core) == []
    wait(core, 1)
    assert decided(core) == [NOBODY_CAME]


def test_there_is_one_timer_however_often_somebody_comes_and_goes() -> None:
    core = asked_of()
    pass_on(core, "ann", asked=False)
    for _ in range(5):
        attach(core, "ben")
        hang_up(core, "ben")
    assert timers(core) == [LONG_S]


def test_when_the_others_leave_without_a_word_the_one_that_passed_on_is_not_enough() -> None:
    core = asked_of("ann", "ben")
    pass_on(core, "ann")
    hang_up(core, "ben")
    assert decided(core) == []
    wait(core, LONG_S)
    assert decided(core) == [NOBODY_CAME]


def test_a_question_that_nobody_has_passed_on_waits_for_ever() -> None:
    core = asked_of()
    attach(core, "ann", read_only=True)
    hang_up(core, "ann")
    wait(core, 100 * LONG_S)
    assert timers(core) == []
    assert decided(core) == []


def test_an_answer_ends_the_waiting() -> None:
    core = asked_of()
    pass_on(core, "ann", asked=False)
    core.answer_with(Decision.APPROVED)
    wait(core, LONG_S)
    assert [one[0] for one in decided(core)] == [Decision.APPROVED]
    assert core.state.passes == {}


# --- other lives ------------------------------------------------------------------------------------------------


def test_it_is_not_parked_while_the_clock_runs_and_a_turn_on_paper_goes_on_with_the_denial() -> None:
    core = asked_of()
    pass_on(core, "ann", asked=False)
    core.now += core.limits.idle_park_s
    core.say(TimerFired("idle"))
    core.end(Suspended())
    assert core.say(Park()) == [Stay()]
    core.say(TimerFired(TIMER))
    assert decided(core) == [NOBODY_CAME]
    assert core.orders_of(RunAgent)[-1].resume
    assert Leave() not in core.effects


def test_a_successor_knows_who_has_passed_on() -> None:
    core = asked_of("ann", "ben")
    pass_on(core, "ann")
    core.now += core.limits.idle_park_s
    core.say(Quiesce())
    core.end(Suspended())
    core.crash(AbortReason.FAILED)
    pass_on(core, "ben")
    assert decided(core) == [NOBODY_LEFT]


def test_a_denial_that_the_disk_refuses_is_tried_again() -> None:
    core = asked_of()
    pass_on(core, "ann", asked=False)
    core.now += core.limits.idle_park_s
    core.say(TimerFired("idle"))
    core.end(Suspended())
    core.disk.refuses = StorageFull("full")
    core.say(TimerFired(TIMER))
    assert decided(core) == []
    core.disk.refuses = None
    wait(core, LONG_S)
    assert decided(core) == [NOBODY_CAME]
