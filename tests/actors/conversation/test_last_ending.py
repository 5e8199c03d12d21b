"""The end of the last turn, in one word: it stands until the next message, through parking, restarts and kills."""

from collections.abc import Callable

import pytest

from actors.conversation import restore
from actors.conversation.summary import condition, summary
from actors.messages.conversation import Archive, Restart
from actors.messages.orders import Completed, Crashed, ModelFailed, Outcome, OutOfBudget
from actors.vocabulary.conditions import Condition, LastEnding
from actors.vocabulary.settings import Decision
from tests.actors.conversation import words as w
from tests.support.core_driver import CONVERSATION, Core, caller

ANN = caller("ann")


def ended_by(outcome: Outcome) -> Callable[[Core], None]:
    def end(core: Core) -> None:
        core.send()
        core.end(outcome)

    return end


def answered(decision: Decision, outcome: Outcome) -> Callable[[Core], None]:
    def end(core: Core) -> None:
        core.send()
        core.output(w.call(), w.ask())
        core.answer_with(decision, ANN)
        core.end(outcome)

    return end


def lost(core: Core) -> None:
    core.send()
    core.crash()


def interrupted(core: Core) -> None:
    core.send()
    core.interrupt()
    core.stopped()


WAYS: dict[str, tuple[Callable[[Core], None], LastEnding, Condition]] = {
    "answered": (ended_by(Completed("yes")), "completed", Condition.IDLE),
    "the model failed": (ended_by(ModelFailed("no")), "error", Condition.FAILED),
    "our fault": (ended_by(Crashed("bug")), "failed", Condition.FAILED),
    "budget": (ended_by(OutOfBudget("spent")), "budget", Condition.OVER_BUDGET),
    "killed": (lost, "lost", Condition.LOST),
    "interrupted": (interrupted, "interrupted", Condition.IDLE),
    "no, and it went on": (answered(Decision.DENIED, Completed("well")), "denied", Condition.DENIED),
    "no, and an end": (answered(Decision.ABORT, Completed(None)), "denied", Condition.DENIED),
    "yes": (answered(Decision.APPROVED, Completed("well")), "completed", Condition.IDLE),
    "no, and the model failed": (answered(Decision.DENIED, ModelFailed("no")), "error", Condition.FAILED),
    "no, and a budget": (answered(Decision.DENIED, OutOfBudget("spent")), "budget", Condition.OVER_BUDGET),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> tuple[Callable[[Core], None], LastEnding, Condition]:
    return WAYS[request.param]


def seen(core: Core) -> tuple[str | None, Condition]:
    told = summary(core.state)
    assert told.state is condition(core.state)
    return told.ended, told.state


def test_the_end_of_a_turn_is_seen_until_the_next_begins(
    way: tuple[Callable[[Core], None], LastEnding, Condition],
) -> None:
    end, ending, word = way
    core = Core()
    assert seen(core) == (None, Condition.IDLE)
    end(core)
    assert seen(core) == (ending, word)
    assert core.disk.head is not None
    assert (core.disk.head.ended, core.disk.head.state) == (ending, word.value)
    core.crash()
    assert seen(core) == (ending, word)
    replayed = restore(CONVERSATION, None, tuple(core.disk.records))
    assert (summary(replayed).ended, condition(replayed)) == (ending, word)
    core.send()
    assert seen(core) == (None, Condition.RUNNING)
    core.end()
    assert seen(core) == ("completed", Condition.IDLE)


def test_a_failed_turn_can_be_restarted_and_archived() -> None:
    core = Core()
    core.send()
    core.end(ModelFailed("no"))
    core.say(Archive(True), ANN)
    assert seen(core)[1] is Condition.ARCHIVED
    core.say(Archive(False), ANN)
    assert seen(core) == ("error", Condition.FAILED)
    core.say(Restart(), ANN)
    assert seen(core) == (None, Condition.IDLE)
