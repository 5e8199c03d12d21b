"""Silent behaviour of pykka, made loud or harmless: each test is one of its surprises, on real threads."""

import contextlib
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pykka
import pytest
import structlog

from actors.messages.conversation import Inspect, Interrupt, ToConversation
from actors.runtime.base import Actor, Failure, Ref
from actors.runtime.base import start as start_on_own_thread
from actors.runtime.mailbox import CAPACITY
from actors.runtime.shared import SharedThread
from actors.vocabulary.errors import ActorGone, DeadlineExceeded, GreenroomError, MailboxFull, TooManySessions
from actors.vocabulary.ids import ConversationId
from supervisor.loop.thread import LoopThread
from tests.actors.conftest import stop_leftovers

LOOK = ToConversation(ConversationId("any"), Inspect())
STOP = ToConversation(ConversationId("any"), Interrupt())

Start = Callable[..., Ref[Any]]

BOUND_S = 5.0  # for one hand-over between threads, on a machine that does other things as well


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedThread]:
    loop = LoopThread()
    loop.start()
    yield SharedThread(loop.loop)
    assert loop.stop(BOUND_S)


@pytest.fixture(params=["own thread", "shared thread"])
def start(request: pytest.FixtureRequest, shared: SharedThread) -> Start:
    """An actor is the same, wherever it runs."""
    return shared.start if request.param == "shared thread" else start_on_own_thread


@dataclass(frozen=True)
class Note:
    text: str


@dataclass(frozen=True)
class Do:
    """Runs on the actor's thread; what it returns is the reply."""

    what: Callable[["Probe"], object]


class Probe(Actor[Any]):
    """Writes down what happens to it."""

    def __init__(self, name: str = "probe") -> None:
        super().__init__()
        self.name = name
        self.heard: list[object] = []
        self.failures: list[Failure] = []
        self.failed = threading.Event()
        self.stopped = False

    def on_receive(self, message: Any) -> object:
        if isinstance(message, Do):
            return message.what(self)
        self.heard.append(message)
        return len(self.heard)

    def on_stop(self) -> None:
        self.stopped = True

    def on_failure(self, *_: object) -> None:
        assert self.failure is not None
        self.failures.append(self.failure)
        self.failed.set()


class Survivor(Probe):
    fatal = False


def explode(error: BaseException) -> Do:
    def what(_: Probe) -> object:
        raise error

    return Do(what)


class Gate:
    """Holds an actor in the middle of a message until it is opened."""

    def __init__(self, ref: Ref[Any]) -> None:
        self._entered, self._open = threading.Event(), threading.Event()
        ref.tell(Do(self._hold))
        assert self._entered.wait(BOUND_S)

    def _hold(self, _: Probe) -> object:
        self._entered.set()
        return self._open.wait(BOUND_S)

    def open(self) -> None:
        self._open.set()


def settled(ref: Ref[Any]) -> None:
    """Wait until everything that was told before is handled."""
    ref.ask(Note("barrier"), BOUND_S)


# --- failing (facts 1 to 4) ---------------------------------------------------------------------------------


def test_a_raise_while_told_ends_the_actor_and_is_reported_with_message_and_traceback(
    start: Start, log: list[Any]
) -> None:
    actor = Probe()
    ref = start(actor)
    bad = explode(ValueError("poison"))
    ref.tell(bad)
    assert actor.failed.wait(BOUND_S)
    assert ref.wait_for_end(BOUND_S)
    (failure,) = actor.failures
    assert failure.message is bad
    assert "ValueError: poison" in failure.traceback
    assert [entry["event"] for entry in log] == ["actor.failed"]


def test_a_raise_while_asked_ends_the_actor_just_the_same_and_the_asker_is_told(start: Start) -> None:
    actor = Probe()
    ref = start(actor)
    with pytest.raises(GreenroomError, match="poison"):
        ref.ask(explode(ValueError("poison")), BOUND_S)
    assert ref.wait_for_end(BOUND_S)
    assert len(actor.failures) == 1


def test_an_actor_that_the_daemon_hangs_on_survives_a_bad_message_and_says_so(start: Start, log: list[Any]) -> None:
    actor = Survivor()
    ref = start(actor)
    ref.tell(explode(ValueError("poison")))
    with pytest.raises(GreenroomError, match="poison"):
        ref.ask(explode(ValueError("poison")), BOUND_S)
    ref.tell(Note("after"))
    settled(ref)
    assert actor.heard[0] == Note("after")
    assert [entry["event"] for entry in log] == ["actor.message_failed"] * 2
    assert ref.stop(BOUND_S)


def test_the_supervisor_can_still_be_told_when_an_actor_fails(start: Start) -> None:
    supervisor = Probe("supervisor")
    above = start(supervisor)

    class Reporting(Probe):
        def on_failure(self, *_: object) -> None:
            above.tell(self.failure)

    start(Reporting()).tell(explode(ValueError("poison")))
    for _ in range(1000):
        settled(above)
        if any(isinstance(message, Failure) for message in supervisor.heard):
            break
    else:
        pytest.fail("the supervisor was never told")
    assert above.stop(BOUND_S)


def test_a_raise_while_starting_is_reported_and_nobody_waits_for_the_dead_actor(start: Start) -> None:
    class Stillborn(Probe):
        def on_start(self) -> None:
            raise OSError("no such device")

    actor = Stillborn()
    ref = start(actor)
    assert ref.wait_for_end(BOUND_S)
    (failure,) = actor.failures
    assert failure.message is None
    with pytest.raises(ActorGone):
        ref.ask(Note("anybody?"), BOUND_S)
    with pytest.raises(ActorGone):
        ref.tell(Note("anybody?"))


def test_messages_to_an_actor_that_fails_while_starting_are_handed_back(start: Start) -> None:
    told = threading.Event()

    class Stillborn(Probe):
        def on_start(self) -> None:
            told.wait(BOUND_S)
            raise OSError("no such device")

    actor = Stillborn()
    ref = start(actor)
    ref.tell(Note("early"))
    told.set()
    assert actor.failed.wait(BOUND_S)
    assert actor.failures[0].leftovers == (Note("early"),)
    assert ref.wait_for_end(BOUND_S)


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), GeneratorExit()])
def test_not_even_a_system_exit_in_one_actor_ends_another(start: Start, error: BaseException) -> None:
    neighbour, actor = start(Probe("neighbour")), Probe()
    ref = start(actor)
    with pytest.raises(GreenroomError):
        ref.ask(explode(error), BOUND_S)
    assert ref.wait_for_end(BOUND_S)
    settled(neighbour)
    assert neighbour.stop(BOUND_S)


def test_a_supervisor_that_can_not_be_told_is_logged_and_the_thread_ends(start: Start, log: list[Any]) -> None:
    class Unlucky(Probe):
        def on_failure(self, *_: object) -> None:
            raise RuntimeError("nobody home")

    ref = start(Unlucky())
    ref.tell(explode(ValueError("poison")))
    assert ref.wait_for_end(BOUND_S)
    assert [entry["event"] for entry in log] == ["actor.failed", "actor.failure_unreported"]


# --- ending (facts 5 to 7, 12, 13) --------------------------------------------------------------------------


def test_messages_after_a_failing_one_are_handed_to_the_supervisor_in_order(start: Start) -> None:
    actor = Probe()
    ref = start(actor)
    gate = Gate(ref)
    for message in (explode(ValueError("poison")), Note("one"), Note("two"), STOP):
        ref.tell(message)
    gate.open()
    assert actor.failed.wait(BOUND_S)
    assert ref.wait_for_end(BOUND_S)
    handled_first = [STOP]
    assert actor.heard == handled_first
    assert actor.failures[0].leftovers == (Note("one"), Note("two"))


def test_a_message_to_an_ended_actor_is_refused_in_the_sender(start: Start) -> None:
    ref = start(Probe())
    assert ref.stop(BOUND_S)
    with pytest.raises(ActorGone):
        ref.tell(Note("late"))
    with pytest.raises(ActorGone):
        ref.ask(Note("late"), BOUND_S)


def test_an_ask_that_waits_behind_a_stop_is_answered_with_gone_and_a_tell_is_logged(
    start: Start, log: list[Any]
) -> None:
    actor = Probe()
    ref = start(actor)
    gate = Gate(ref)
    ref.stop_soon()
    ref.tell(Note("behind"))
    outcome: list[object] = []

    def ask() -> None:
        with pytest.raises(ActorGone):
            ref.ask(Note("behind"), BOUND_S)
        outcome.append("gone")

    asker = threading.Thread(target=ask)
    asker.start()
    while len(actor.mailbox) < 3:
        assert asker.is_alive()
    gate.open()
    asker.join(BOUND_S)
    assert outcome == ["gone"]
    assert ref.wait_for_end(BOUND_S)
    assert actor.stopped
    assert [entry["kinds"] for entry in log if entry["event"] == "actor.stopped_with_messages"] == [["Note"]]


def test_no_ask_hangs_that_races_with_a_stop(start: Start) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(100):
            ref = start(Probe())
            gate = threading.Barrier(4)
            hung: list[object] = []

            def ask(ref: Ref[Any] = ref, gate: threading.Barrier = gate, hung: list[object] = hung) -> None:
                gate.wait(BOUND_S)
                with contextlib.suppress(ActorGone):
                    while True:
                        try:
                            ref.ask(Note("quick"), BOUND_S)
                        except DeadlineExceeded as error:
                            hung.append(error)
                            return

            askers = [threading.Thread(target=ask) for _ in range(3)]
            for asker in askers:
                asker.start()
            gate.wait(BOUND_S)
            ref.stop_soon()
            for asker in askers:
                asker.join(2 * BOUND_S)
            assert not hung
            assert ref.wait_for_end(BOUND_S)
    finally:
        sys.setswitchinterval(before)


def test_an_ask_has_a_bound_and_is_still_carried_out_later(start: Start) -> None:
    actor = Probe()
    ref = start(actor)
    gate = Gate(ref)
    with pytest.raises(DeadlineExceeded):
        ref.ask(Note("patient"), 0.01)
    gate.open()
    settled(ref)
    assert actor.heard[0] == Note("patient")
    assert ref.stop(BOUND_S)


def test_an_actor_that_ends_itself_does_not_wait_for_itself(start: Start) -> None:
    actor = Probe()
    ref = start(actor)
    ref.tell(Do(lambda probe: probe.stop()))
    assert ref.wait_for_end(BOUND_S)
    assert actor.stopped


def test_an_actor_has_ended_only_when_it_has_released_what_it_held(start: Start) -> None:
    entered, release = threading.Event(), threading.Event()

    class Holding(Probe):
        def on_stop(self) -> None:
            entered.set()
            release.wait(BOUND_S)
            self.stopped = True

    actor = Holding()
    ref = start(actor)
    ref.stop_soon()
    assert entered.wait(BOUND_S)
    assert not ref.wait_for_end(0.0)
    release.set()
    assert ref.wait_for_end(BOUND_S)
    assert actor.stopped


def test_a_raise_while_stopping_ends_the_actor_all_the_same(start: Start, log: list[Any]) -> None:
    class Clumsy(Probe):
        def on_stop(self) -> None:
            raise SystemExit(3)

    assert start(Clumsy()).stop(BOUND_S)
    assert [entry["event"] for entry in log] == ["actor.stop_failed"]


# --- flow (facts 8, 9) --------------------------------------------------------------------------------------


def test_a_mailbox_is_bounded_and_a_full_one_can_still_be_stopped_even_by_its_owner(
    start: Start, log: list[Any]
) -> None:
    actor = Probe()
    ref = start(actor)
    gate = Gate(ref)
    for _ in range(CAPACITY):
        ref.tell(LOOK)
    with pytest.raises(MailboxFull):
        ref.tell(LOOK)
    ref.tell(STOP)
    ref.tell(Do(lambda probe: probe.stop()))
    ref.stop_soon()
    gate.open()
    assert ref.wait_for_end(BOUND_S)
    assert [entry["kinds"] for entry in log if entry["event"] == "actor.stopped_with_messages"] == [
        ["ToConversation"]
    ]


def test_an_interrupt_overtakes_queued_news_and_a_stop_does_not(start: Start) -> None:
    actor = Probe()
    ref = start(actor)
    gate = Gate(ref)
    ref.tell(Note("one"))
    ref.stop_soon()
    ref.tell(STOP)
    gate.open()
    assert ref.wait_for_end(BOUND_S)
    assert actor.heard == [STOP, Note("one")]


def test_an_actor_is_told_messages_and_never_called_by_attribute(start: Start) -> None:
    actor = Probe()
    ref = start(actor)
    ref.proxy().on_stop.defer()
    settled(ref)
    assert isinstance(actor.heard[0], pykka.messages.ProxyCall)
    assert not actor.stopped
    assert ref.stop(BOUND_S)


# --- threads (facts 14 to 18) -------------------------------------------------------------------------------


def test_a_thread_that_can_not_be_started_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    actor = Probe()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(TooManySessions):
            start_on_own_thread(actor)
    assert pykka.ActorRegistry.get_all() == []
    assert not actor.address.alive
    assert actor.address.wait_for_end(0.0)
    with pytest.raises(ActorGone):
        actor.address.tell(Note("anybody?"))
    with pytest.raises(ActorGone):
        actor.address.ask(Note("anybody?"), BOUND_S)


def test_an_actor_that_has_ended_is_not_remembered(start: Start) -> None:
    ended, failed = start(Probe()), start(Probe())
    failed.tell(explode(ValueError("poison")))
    assert ended.stop(BOUND_S)
    assert failed.wait_for_end(BOUND_S)
    assert pykka.ActorRegistry.get_all() == []


def test_an_actor_that_is_stuck_does_not_keep_the_process() -> None:
    program = """
import threading
from actors.runtime.base import Actor, start
class Stuck(Actor):
    def on_receive(self, message):
        threading.Event().wait()
start(Stuck()).tell("wait")
print("main is done")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (run.returncode, run.stdout) == (0, "main is done\n")


def test_an_idle_actor_keeps_neither_its_last_message_nor_its_last_answer_alive(start: Start) -> None:
    class Big:
        pass

    actor = Probe()
    ref = start(actor)
    big = Big()
    gone = threading.Event()
    weakref.finalize(big, gone.set)
    ref.tell(Do(lambda _, kept=big: bool(kept)))  # type: ignore[misc]  # mypy knows no defaults in lambdas
    del big
    assert gone.wait(BOUND_S)
    assert ref.stop(BOUND_S)


@pytest.fixture
def _no_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collection")
@pytest.mark.parametrize("poisoned", [False, True], ids=["stopped", "failed"])
def test_an_actor_that_has_ended_is_freed_by_its_references_alone(
    start: Start, log: list[Any], *, poisoned: bool
) -> None:
    """A collector would have to look through all that lives, and stop everybody meanwhile."""

    class Careless(Actor[Any]):
        """An actor whose error came of another."""

        def on_receive(self, _: object) -> object:
            try:
                return int("no number")
            except ValueError as error:
                raise KeyError("poison") from error

    actor, gone, mailbox_gone = Careless(), threading.Event(), threading.Event()
    weakref.finalize(actor, gone.set)
    weakref.finalize(actor.mailbox, mailbox_gone.set)
    ref = start(actor)
    del actor
    if poisoned:
        ref.tell(Note("poison"))
    else:
        ref.stop_soon()
    assert ref.wait_for_end(BOUND_S)
    log.clear()  # the test's own, which has the error itself
    assert gone.wait(BOUND_S), "something of its own keeps it"
    assert mailbox_gone.wait(BOUND_S), "the address keeps the mailbox"


def test_the_address_of_an_ended_actor_refuses_everything(start: Start) -> None:
    """Timers hold addresses until they are due, of every conversation that was opened and left meanwhile."""
    ref = start(Probe())
    assert ref.stop(BOUND_S)
    assert not ref.alive
    ref.stop_soon()
    with pytest.raises(ActorGone):
        ref.tell(Note("too late"))
    with pytest.raises(ActorGone):
        ref.ask(Note("too late"), BOUND_S)


def test_log_variables_bound_for_one_actor_appear_in_its_lines_alone(start: Start) -> None:
    def bound(_: Probe) -> object:
        return dict(structlog.contextvars.get_contextvars())

    mine, other = start(Probe("mine"), conversation="7f3a"), start(Probe("other"))
    assert mine.ask(Do(bound), BOUND_S) == {"actor": "mine", "conversation": "7f3a"}
    assert other.ask(Do(bound), BOUND_S) == {"actor": "other"}
    assert mine.stop(BOUND_S)
    assert other.stop(BOUND_S)


def test_log_variables_bound_by_one_message_are_gone_in_the_next(start: Start) -> None:
    def bind(_: Probe) -> object:
        structlog.contextvars.bind_contextvars(request=7)
        return None

    def bound(_: Probe) -> object:
        return dict(structlog.contextvars.get_contextvars())

    ref = start(Probe("mine"))
    ref.ask(Do(bind), BOUND_S)
    assert ref.ask(Do(bound), BOUND_S) == {"actor": "mine"}
    assert ref.stop(BOUND_S)


# --- tests themselves (fact 26) -----------------------------------------------------------------------------


def test_an_actor_that_a_test_forgets_is_stopped_and_named(start: Start) -> None:
    start(Probe("forgotten"))
    assert stop_leftovers(BOUND_S) == ["forgotten"]
    assert stop_leftovers(BOUND_S) == []


def test_an_actor_that_will_not_stop_is_named_once_and_not_blamed_on_the_next_test(start: Start) -> None:
    ref = start(Probe("stuck"))
    gate = Gate(ref)
    assert stop_leftovers(0.05) == ["stuck (would not stop)"]
    assert stop_leftovers(0.05) == []
    gate.open()
    assert ref.wait_for_end(BOUND_S)
