"""The end of a turn, read from its last events, is what its callers were told at the time."""

import pytest

from actors.messages.orders import AgentStopped, Completed, Crashed, ModelFailed, Outcome
from actors.vocabulary.answers import TurnResult
from actors.vocabulary.ids import TurnId
from tests.actors.conversation.words import message
from tests.support.core_driver import Core, caller
from transports.dialects.kit.turn_endings import LAST_WORDS, ending_of

ANN = caller("ann")


@pytest.mark.parametrize(
    "outcome", [Completed("done"), Completed(None), ModelFailed("no such model"), Crashed("a bug"), AgentStopped()]
)
def test_history_tells_the_same_end_as_the_caller_was_told(outcome: Outcome) -> None:
    core = Core()
    core.send("hi", ANN, key="k", await_end=True)
    core.output(message("well"))
    if isinstance(outcome, AgentStopped):
        core.interrupt()
    core.end(outcome)
    told = core.answer(ANN)
    assert isinstance(told, TurnResult)
    assert ending_of(told.turn, core.disk.records[told.seq - LAST_WORDS : told.seq]) == told


def test_of_events_that_are_gone_nothing_is_said() -> None:
    assert ending_of(TurnId("t"), ()) is None


def test_the_events_of_other_turns_say_nothing() -> None:
    core = Core()
    core.send("hi", ANN, await_end=True)
    core.end(Completed("done"))
    assert ending_of(TurnId("another"), core.disk.records[-LAST_WORDS:]) is None
