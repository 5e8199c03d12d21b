"""A backend's turn: ids that are its alone, questions and input that end with it."""

import asyncio

import pytest
from msgspec.structs import replace

from actors.messages.orders import AgentOutput, AllStored, AnswerAgent, GiveInput, InputWanted, StorageAwaited
from actors.vocabulary.settings import Decision
from supervisor.agents.turn import ApprovalAnswer, Turn
from tests.fakes.session import FakeSession
from tests.supervisor.agents.backends import TURN, an_input, an_order
from tests.supervisor.work.commands import limited
from tests.support.work import command_asked

QUESTION = command_asked("x", approval="a")


def test_items_of_a_turn_and_of_its_resumption_have_different_names() -> None:
    async def scene() -> None:
        order = an_order()
        first, again = (Turn(one, FakeSession()) for one in (order, replace(order, seq=order.seq + 4, resume=True)))
        names = [turn.new_item() for turn in (first, again) for _ in range(3)]
        assert len(set(names)) == 6

    limited(scene())


@pytest.mark.parametrize(
    ("decision", "approved"),
    [
        (Decision.APPROVED, True),
        (Decision.APPROVED_FOR_SESSION, True),
        (Decision.DENIED, False),
        (Decision.ABORT, False),
        (Decision.WITHDRAWN, False),
    ],
)
def test_only_an_approval_approves(decision: Decision, approved: bool) -> None:
    assert ApprovalAnswer(decision).is_approved == approved


def test_a_turn_only_waits_while_a_question_is_open() -> None:
    async def scene() -> None:
        turn = Turn(an_order(), FakeSession())
        asking = asyncio.create_task(turn.ask(QUESTION))
        waits = [turn.only_waits]
        await asyncio.sleep(0)
        waits.append(turn.only_waits)
        turn.take(AnswerAgent(TURN, QUESTION.approval_id, Decision.DENIED, "no"))
        assert await asking == ApprovalAnswer(Decision.DENIED, "no")
        assert [*waits, turn.only_waits] == [False, True, False]

    limited(scene())


def test_a_turn_does_not_only_wait_while_something_goes_on_behind_its_question() -> None:
    async def scene() -> None:
        turn = Turn(an_order(), FakeSession())
        waits = []
        for resumable in (False, True):
            asking = asyncio.create_task(turn.ask(QUESTION, resumable=resumable))
            await asyncio.sleep(0)
            waits.append(turn.only_waits)
            turn.take(AnswerAgent(TURN, QUESTION.approval_id, Decision.DENIED, "no"))
            await asking
        assert waits == [False, True]

    limited(scene())


def test_a_question_that_was_cancelled_is_closed_and_its_answer_harms_nobody() -> None:
    async def scene() -> None:
        turn = Turn(an_order(), FakeSession())
        asking = asyncio.create_task(turn.ask(QUESTION))
        await asyncio.sleep(0)
        asking.cancel()
        turn.take(AnswerAgent(TURN, QUESTION.approval_id, Decision.APPROVED))
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert not turn.only_waits
        turn.take(AnswerAgent(TURN, QUESTION.approval_id, Decision.APPROVED))

    limited(scene())


def test_input_that_nobody_wants_any_more_harms_nobody() -> None:
    async def scene() -> None:
        session = FakeSession()
        turn = Turn(an_order(), session)
        turn.take(GiveInput(TURN, (an_input("too early"),)))
        wanting = asyncio.create_task(turn.more_input())
        assert await session.batch() == (InputWanted(),)
        wanting.cancel()
        turn.take(GiveInput(TURN, (an_input("too late"),)))
        with pytest.raises(asyncio.CancelledError):
            await wanting
        again = asyncio.create_task(turn.more_input())
        await asyncio.sleep(0)
        turn.take(GiveInput(TURN, (an_input("now"),)))
        turn.take(GiveInput(TURN, (an_input("twice"),)))
        assert await again == (an_input("now"),)
        assert all(isinstance(message, AgentOutput) for message in session.messages)

    limited(scene())


def test_an_action_that_must_be_recorded_waits_until_all_events_before_it_are_stored() -> None:
    async def scene() -> None:
        session = FakeSession()
        turn = Turn(an_order(), session)
        waiting = asyncio.create_task(turn.wait_until_stored())
        await asyncio.sleep(0)
        assert [news for one in session.messages if isinstance(one, AgentOutput) for news in one.batch] == [
            StorageAwaited()
        ]
        assert not waiting.done()
        turn.take(AllStored(TURN, 7))
        await waiting

    limited(scene())


def test_several_that_wait_for_the_disk_at_the_same_time_are_all_told() -> None:
    async def run() -> list[int]:
        turn = Turn(an_order(), FakeSession())
        waits = [asyncio.create_task(turn.wait_until_stored()) for _ in range(3)]
        await asyncio.sleep(0)
        waits[1].cancel()
        for seq in (7, 8, 9):
            turn.take(AllStored(TURN, seq))
        return [await waits[0], await waits[2]]

    assert limited(run()) == [7, 9]
