"""Requests by their ids: taken back before, during and after, and never those of somebody else."""

import pytest

from actors.messages.conversation import CancelRequest
from actors.messages.orders import Completed, RunAgent, StopAgent
from actors.vocabulary.answers import AcceptedInput, StartedConversation, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import Cancelled
from actors.vocabulary.ids import ConversationId, RequestId
from actors.vocabulary.settings import BusyPolicy
from tests.fakes.daemon import StagedDaemon

A = ConversationId("aaaa-0001")
B = ConversationId("bbbb-0002")


@pytest.fixture
def idle(daemon: StagedDaemon) -> StagedDaemon:
    daemon.create(A)
    daemon.create(B)
    daemon.run()
    return daemon


def requests(daemon: StagedDaemon) -> object:
    return daemon.routing.statistics()["requests"]


def test_a_cancel_while_the_turn_runs_interrupts_it(idle: StagedDaemon) -> None:
    caller = idle.send(A, caller=idle.caller("editor", 1))
    idle.run()
    idle.registry.tell(CancelRequest(caller))
    idle.run()
    result = idle.answer(caller)
    assert isinstance(result, TurnResult)
    assert result.ending is Ending.INTERRUPTED
    assert requests(idle) == 0


def is_cancelled_before_the_agent_is_told(idle: StagedDaemon) -> None:
    caller = idle.send(A, caller=idle.caller("editor", 1))
    idle.registry.tell(CancelRequest(caller))
    idle.run()
    result = idle.answer(caller)
    assert isinstance(result, TurnResult)
    assert result.ending is Ending.INTERRUPTED
    assert idle.agents.ordered(RunAgent) == []


def test_a_cancel_right_behind_its_request_ends_the_turn_before_the_agent_is_told(idle: StagedDaemon) -> None:
    is_cancelled_before_the_agent_is_told(idle)


def test_a_cancel_of_what_waits_in_the_queue_withdraws_it_and_leaves_the_turn_alone(idle: StagedDaemon) -> None:
    idle.send(A)
    waiting = idle.send(A, caller=idle.caller("editor", 2), policy=BusyPolicy.ENQUEUE)
    idle.run()
    idle.registry.tell(CancelRequest(waiting))
    idle.run()
    assert isinstance(idle.answer(waiting), Cancelled)
    assert idle.agents.ordered(StopAgent) == []


def test_a_cancel_of_an_accepted_request_still_hits_its_turn(idle: StagedDaemon) -> None:
    caller = idle.send(A, caller=idle.caller("editor", 1), await_end=False)
    idle.run()
    assert isinstance(idle.answer(caller), AcceptedInput)
    idle.registry.tell(CancelRequest(caller))
    idle.run()
    assert len(idle.agents.ordered(StopAgent)) == 1
    assert isinstance(idle.answer(caller), AcceptedInput)
    assert requests(idle) == 0


@pytest.mark.parametrize("await_end", [True, False])
def test_an_id_whose_turn_has_ended_means_nothing_any_more(idle: StagedDaemon, *, await_end: bool) -> None:
    caller = idle.send(A, caller=idle.caller("editor", 1), await_end=await_end)
    idle.run()
    idle.agents.end(idle.agents.last().turn, Completed())
    idle.run()
    assert requests(idle) == 0
    idle.send(A, caller=idle.caller("editor", 2))
    idle.run()
    idle.registry.tell(CancelRequest(caller))
    idle.run()
    assert idle.agents.ordered(StopAgent) == []
    assert len(idle.outbox.replies[caller]) == 1


@pytest.mark.parametrize(("mine", "other"), [(1, "1"), ("1", 1)])
def test_a_number_and_a_string_are_different_requests(idle: StagedDaemon, mine: RequestId, other: RequestId) -> None:
    idle.send(A, caller=idle.caller("editor", mine))
    idle.run()
    idle.registry.tell(CancelRequest(idle.caller("editor", other)))
    idle.run()
    assert idle.agents.ordered(StopAgent) == []


def test_the_same_id_of_two_connections_is_two_requests(idle: StagedDaemon) -> None:
    one = idle.send(A, caller=idle.caller("one", 7))
    two = idle.send(B, caller=idle.caller("two", 7))
    idle.run()
    idle.registry.tell(CancelRequest(two))
    idle.run()
    assert one not in idle.outbox.replies
    result = idle.answer(two)
    assert isinstance(result, TurnResult)
    assert result.ending is Ending.INTERRUPTED


def test_a_cancel_follows_its_request_into_a_parked_conversation(idle: StagedDaemon) -> None:
    idle.time.advance(601)
    idle.run()
    is_cancelled_before_the_agent_is_told(idle)


def test_a_cancel_of_an_unknown_id_is_nothing(idle: StagedDaemon) -> None:
    idle.registry.tell(CancelRequest(idle.caller("editor", 99)))
    idle.run()
    assert idle.agents.orders == []


def test_a_cancel_right_behind_the_answer_meets_nobody(idle: StagedDaemon) -> None:
    """The registry has handled no message since the answer left."""
    caller = idle.send(A, caller=idle.caller("editor", 1))
    idle.run()
    idle.agents.end(idle.agents.last().turn, Completed())
    idle.stage.run(until=lambda: caller in idle.outbox.replies)
    idle.registry.tell(CancelRequest(caller))
    idle.run()
    assert idle.agents.ordered(StopAgent) == []


def test_a_refused_request_leaves_no_id_behind(idle: StagedDaemon) -> None:
    caller = idle.send(ConversationId("zzzz-0009"))
    idle.run()
    assert not isinstance(idle.answer(caller), StartedConversation)
    assert requests(idle) == 0
