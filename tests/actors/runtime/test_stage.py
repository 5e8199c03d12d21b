"""The stage behaves as threads do: the same scenes run on both."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from actors.messages.conversation import Interrupt, ToConversation
from actors.runtime import base
from actors.runtime.base import Actor, Failure, Ref
from actors.vocabulary.errors import ActorGone
from actors.vocabulary.ids import ConversationId
from tests.fakes.stage import Stage

STOP = ToConversation(ConversationId("any"), Interrupt())

BOUND_S = 5.0  # for one scene on threads, on a machine that does other things as well


class Player(Actor[Any]):
    name = "player"

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[object] = []
        self.failures: list[Failure] = []
        self.curtain = threading.Event()

    def on_start(self) -> None:
        self.curtain.wait(BOUND_S)
        self.heard.append("start")

    def on_receive(self, message: object) -> object:
        if message == "poison":
            raise ValueError(message)
        self.heard.append(message)
        return None

    def on_stop(self) -> None:
        self.heard.append("stop")

    def on_failure(self, *_: object) -> None:
        assert self.failure is not None
        self.failures.append(self.failure)


class Stoic(Player):
    fatal = False


Play = Callable[[Player, tuple[object, ...]], Ref[Any]]


def on_threads(player: Player, messages: tuple[object, ...]) -> Ref[Any]:
    ref = base.start(player)
    return told(player, ref, messages)


def on_stage(player: Player, messages: tuple[object, ...]) -> Ref[Any]:
    return told(player, Stage().start(player), messages)


def told(player: Player, ref: Ref[Any], messages: tuple[object, ...]) -> Ref[Any]:
    for message in messages:
        ref.tell(message)
    player.curtain.set()
    assert ref.stop(BOUND_S)
    return ref


@pytest.fixture(params=[on_threads, on_stage])
def play(request: pytest.FixtureRequest) -> Play:
    chosen: Play = request.param
    return chosen


def test_commands_go_first_and_work_before_a_stop_is_done(play: Play) -> None:
    player = Player()
    play(player, ("one", "two", STOP))
    assert player.heard == ["start", STOP, "one", "two", "stop"]


def test_a_failure_hands_over_what_was_left_and_runs_no_stop(play: Play) -> None:
    player = Player()
    ref = play(player, ("one", "poison", "two", "three"))
    (failure,) = player.failures
    assert (failure.message, failure.leftovers) == ("poison", ("two", "three"))
    assert player.heard == ["start", "one"]
    assert not ref.alive
    with pytest.raises(ActorGone):
        ref.tell("late")


def test_one_that_is_not_fatal_goes_on(play: Play) -> None:
    player = Stoic()
    play(player, ("poison", "two"))
    assert player.heard == ["start", "two", "stop"]
    assert player.failures == []


def test_a_failing_start_is_a_failure_with_everything_left(play: Play) -> None:
    class Stillborn(Player):
        def on_start(self) -> None:
            self.curtain.wait(BOUND_S)
            raise OSError("no such device")

    player = Stillborn()
    play(player, ("one",))
    assert [failure.leftovers for failure in player.failures] == [("one",)]
    assert player.heard == []


def test_the_stage_delivers_to_whom_it_is_told_and_holds_back_whom_it_is_told() -> None:
    stage = Stage()
    first, second = Player(), Player()
    for player in (first, second):
        player.curtain.set()
        stage.start(player)
    stage.run()
    first.address.tell("one")
    second.address.tell("two")
    stage.deliver(second.address)
    assert (first.heard, second.heard) == (["start"], ["start", "two"])
    with stage.holding(first.address):
        stage.run()
        assert first.heard == ["start"]
    stage.run()
    assert first.heard == ["start", "one"]


def test_actors_that_keep_each_other_busy_for_nothing_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Restless(Player):
        def on_receive(self, message: object) -> object:
            self.address.tell(message)
            return None

    monkeypatch.setattr("tests.fakes.stage.RESTLESS", 100)
    stage, player = Stage(), Restless()
    player.curtain.set()
    stage.start(player).tell("again")
    with pytest.raises(AssertionError, match="come to rest"):
        stage.run()
