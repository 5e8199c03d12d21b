"""The runner: every order is heard, every turn ends once, and only when nothing of it runs."""

import asyncio
from pathlib import Path

import pytest

from actors.messages.orders import (
    AbandonAgent,
    AgentAbandoned,
    AgentStopped,
    AnswerAgent,
    Completed,
    Crashed,
    GiveInput,
    ModelFailed,
    OutOfBudget,
    StopAgent,
    SuspendAgent,
    Suspended,
    TakeMore,
    TurnEnded,
)
from actors.vocabulary import events as ev
from actors.vocabulary.errors import ConfigError
from actors.vocabulary.ids import ApprovalId, ConversationId, TurnId
from actors.vocabulary.settings import Decision
from supervisor.agents.backend import Backend
from supervisor.agents.errors import StreamBroken
from supervisor.agents.spending.over_budget import OverBudget
from supervisor.agents.turn import ApprovalAnswer, Turn
from supervisor.work.processes.output import Output
from supervisor.work.processes.processes import Processes
from tests.fakes.session import FakeSession
from tests.supervisor.agents.backends import CONVERSATION, TURN, Doing, a_runner, an_input, an_order, for_ever
from tests.supervisor.work.commands import alive, command, limited, new_token, open_files
from tests.support.work import command_asked

QUESTION = command_asked("x", approval="a")


async def says_done(turn: Turn) -> str | None:
    turn.emit(ev.AgentMessage(message="done", item_id=turn.new_item()))
    return "done"


async def asks(turn: Turn) -> str | None:
    answer = await turn.ask(QUESTION)
    return f"{answer.decision.value} {answer.reason}".strip()


def test_a_turn_says_what_it_has_and_ends_once(tmp_path: Path) -> None:
    async def scene() -> None:
        session = FakeSession()
        async with a_runner(tmp_path, Doing(says_done)) as (runner, _):
            runner.order(an_order(), session)
            (message,) = await session.batch()
            assert isinstance(message, ev.AgentMessage)
            assert await session.end() == Completed("done")
            runner.order(TakeMore(TURN), session)
            runner.order(StopAgent(TURN), session)
            await asyncio.sleep(0)
            assert session.unread == 0
            assert runner.statistics() == {"turns": 0}

    limited(scene())


def test_the_end_does_not_wait_until_the_last_batch_was_taken(tmp_path: Path) -> None:
    async def says_twice(turn: Turn) -> str | None:
        await says_done(turn)
        return await says_done(turn)

    async def scene() -> None:
        session = FakeSession()
        async with a_runner(tmp_path, Doing(says_twice)) as (runner, _):
            runner.order(an_order(), session)
            assert len(await session.batch()) == 1
            last = await session.next()
            assert isinstance(last, TurnEnded)
            assert (len(last.batch), last.outcome) == (1, Completed("done"))

    limited(scene())


def test_a_stop_before_the_first_step_ends_the_turn_without_one(tmp_path: Path) -> None:
    async def scene() -> None:
        session, backend = FakeSession(), Doing(says_done)
        async with a_runner(tmp_path, backend) as (runner, _):
            runner.order(an_order(), session)
            runner.order(StopAgent(TURN), session)
            assert await session.end() == AgentStopped()
            assert not backend.begun.is_set()
            assert len(session.messages) == 1

    limited(scene())


def test_a_stopped_turn_ends_when_its_processes_are_gone(tmp_path: Path) -> None:
    token = new_token()
    holder: list[Processes] = []

    async def runs(turn: Turn) -> str | None:
        async def take(_: object, piece: bytes) -> None:
            turn.emit(ev.BackgroundEvent(message=piece.decode()))

        script = "trap '' TERM; echo ready; sleep 300 & wait; sleep 300"
        await holder[0].run(command("sh", "-c", script, env={"TOKEN": token}), Output(take))
        return None

    async def scene() -> None:
        session = FakeSession()
        async with a_runner(tmp_path, Doing(runs)) as (runner, processes):
            holder.append(processes)
            runner.order(an_order(TurnId("turn-1")), session)
            await session.batch()
            assert alive(token)
            runner.order(StopAgent(TurnId("turn-1")), session)
            assert await session.end() == AgentStopped()
            assert not alive(token)

    limited(scene())


def test_a_bug_in_a_backend_is_a_crash_that_names_it_and_nothing_is_remembered(tmp_path: Path) -> None:
    async def breaks(_: Turn) -> str | None:
        raise KeyError("oh")

    async def scene() -> None:
        session, backend = FakeSession(), Doing(breaks)
        async with a_runner(tmp_path, backend) as (runner, _):
            runner.order(an_order(), session)
            assert await session.end() == Crashed("KeyError: 'oh'")
            assert backend.forgotten == [CONVERSATION]

    limited(scene())


def test_a_model_that_fails_is_no_crash(tmp_path: Path) -> None:
    async def fails(_: Turn) -> str | None:
        raise StreamBroken("cut")

    async def scene() -> None:
        session = FakeSession()
        async with a_runner(tmp_path, Doing(fails)) as (runner, _):
            runner.order(an_order(), session)
            assert await session.end() == ModelFailed("stream disconnected before completion: cut")

    limited(scene())


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ConfigError("no such provider"), ModelFailed("no such provider")),
        (OverBudget("no requests are left"), OutOfBudget("no requests are left")),
        (KeyError("x"), Crashed("KeyError: 'x'")),
    ],
)
def test_a_backend_that_cannot_be_had_ends_the_turn(tmp_path: Path, error: Exception, outcome: object) -> None:
    def choose(_: object) -> Backend:
        raise error

    async def scene() -> None:
        session = FakeSession()
        async with a_runner(tmp_path, choose) as (runner, _):
            runner.order(an_order(), session)
            assert await session.end() == outcome

    limited(scene())


def test_an_answer_reaches_the_question_that_waits_for_it(tmp_path: Path) -> None:
    async def scene() -> None:
        session = FakeSession()
        async with a_runner(tmp_path, Doing(asks)) as (runner, _):
            runner.order(an_order(), session)
            assert await session.batch() == (QUESTION,)
            runner.order(AnswerAgent(TURN, ApprovalId("another"), Decision.DENIED), session)
            runner.order(AnswerAgent(TURN, QUESTION.approval_id, Decision.APPROVED, "go"), session)
            runner.order(AnswerAgent(TURN, QUESTION.approval_id, Decision.DENIED), session)
            assert await session.end() == Completed("approved go")

    limited(scene())


def test_an_answer_as_fast_as_the_question_is_not_lost(tmp_path: Path) -> None:
    """The session answers inside the very call that asks."""

    class Eager(FakeSession):
        turn: Turn

        def tell(self, message: object) -> None:
            super().tell(message)
            if not isinstance(message, TurnEnded):
                self.turn.take(AnswerAgent(TURN, QUESTION.approval_id, answer.decision, answer.reason))

    async def scene() -> None:
        session = Eager()

        async def works(turn: Turn) -> str | None:
            session.turn = turn
            return await asks(turn)

        async with a_runner(tmp_path, Doing(works)) as (runner, _):
            runner.order(an_order(), session)
            await session.batch()
            assert await session.end() == Completed("approved")

    answer = ApprovalAnswer(Decision.APPROVED)
    limited(scene())


def test_a_turn_that_only_waits_can_be_suspended(tmp_path: Path) -> None:
    async def scene() -> None:
        session, backend = FakeSession(), Doing(asks)
        async with a_runner(tmp_path, backend) as (runner, _):
            runner.order(an_order(), session)
            await session.batch()
            runner.order(SuspendAgent(TURN), session)
            assert await session.end() == Suspended()
            assert backend.forgotten == [CONVERSATION]

    limited(scene())


@pytest.mark.parametrize(
    ("work", "resumable"), [(for_ever, True), (asks, False)], ids=["it works", "it can't be resumed"]
)
def test_a_turn_that_does_not_only_wait_is_not_suspended(tmp_path: Path, work: object, resumable: bool) -> None:
    async def scene() -> None:
        session = FakeSession()
        backend = Doing(work, resumable=resumable)  # type: ignore[arg-type]  # parametrize loses the type
        async with a_runner(tmp_path, backend) as (runner, _):
            runner.order(an_order(), session)
            await backend.begun.wait()
            runner.order(SuspendAgent(TURN), session)
            await asyncio.sleep(0)
            assert runner.statistics() == {"turns": 1}
            runner.order(StopAgent(TURN), session)
            assert await last(session) == AgentStopped()

    limited(scene())


async def last(session: FakeSession) -> object:
    while True:
        message = await session.next()
        if isinstance(message, TurnEnded):
            return message.outcome


def test_a_stop_wins_over_a_suspension_on_its_way(tmp_path: Path) -> None:
    async def scene() -> None:
        session = FakeSession()
        async with a_runner(tmp_path, Doing(asks)) as (runner, _):
            runner.order(an_order(), session)
            await session.batch()
            runner.order(SuspendAgent(TURN), session)
            runner.order(StopAgent(TURN), session)
            assert await session.end() == AgentStopped()

    limited(scene())


def test_input_is_given_to_the_turn_that_wants_it(tmp_path: Path) -> None:
    async def wants(turn: Turn) -> str | None:
        return ",".join(one.id for one in await turn.more_input())

    async def scene() -> None:
        session = FakeSession()
        async with a_runner(tmp_path, Doing(wants)) as (runner, _):
            runner.order(an_order(), session)
            await session.batch()
            runner.order(GiveInput(TURN, (an_input("a", "1"), an_input("b", "2"))), session)
            assert await session.end() == Completed("1,2")

    limited(scene())


def test_abandoning_ends_the_turns_of_one_conversation_and_says_when_they_are_gone(tmp_path: Path) -> None:
    async def scene() -> None:
        registry, mine, other = FakeSession(), FakeSession(), FakeSession()
        async with a_runner(tmp_path, Doing(for_ever)) as (runner, _):
            runner.order(an_order(), mine)
            runner.order(an_order(TurnId("t-2"), ConversationId("c-2")), other)
            mine.gone = True
            runner.abandon(AbandonAgent(CONVERSATION), registry)
            assert await registry.abandoned() == AgentAbandoned(CONVERSATION)
            assert runner.statistics() == {"turns": 1}
            assert not other.messages

    limited(scene())


def test_abandoning_a_conversation_without_a_turn_is_answered_at_once(tmp_path: Path) -> None:
    async def scene() -> None:
        registry = FakeSession()
        async with a_runner(tmp_path, Doing(for_ever)) as (runner, _):
            runner.abandon(AbandonAgent(CONVERSATION), registry)
            assert await registry.abandoned() == AgentAbandoned(CONVERSATION)

    limited(scene())


def test_a_registry_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        registry, session = FakeSession(), FakeSession()
        registry.gone = True
        async with a_runner(tmp_path, Doing(says_done)) as (runner, _):
            runner.abandon(AbandonAgent(CONVERSATION), registry)
            await asyncio.sleep(0)
            runner.order(an_order(), session)
            await session.batch()
            assert await session.end() == Completed("done")

    limited(scene())


def test_closing_ends_every_turn_and_leaves_no_task(tmp_path: Path) -> None:
    async def scene() -> None:
        sessions = [FakeSession() for _ in range(3)]
        async with a_runner(tmp_path, Doing(for_ever)) as (runner, _):
            for number, session in enumerate(sessions):
                runner.order(an_order(TurnId(f"t-{number}"), ConversationId(f"c-{number}")), session)
            await asyncio.sleep(0)
            await runner.close()
            assert [await session.end() for session in sessions] == [AgentStopped()] * 3
        assert asyncio.all_tasks() == {asyncio.current_task()}

    before = open_files()
    limited(scene())
    assert open_files() <= before


def test_a_failure_to_end_processes_still_ends_the_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(_: TurnId) -> tuple[int, ...]:
        raise OSError("no table of processes")

    async def scene() -> None:
        session = FakeSession()
        async with a_runner(tmp_path, Doing(says_done)) as (runner, processes):
            monkeypatch.setattr(processes, "end_turn", fails)
            runner.order(an_order(), session)
            await session.batch()
            assert await session.end() == Crashed("OSError: no table of processes")

    limited(scene())


def test_an_order_after_the_runner_was_closed_runs_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        session, backend = FakeSession(), Doing(for_ever)
        async with a_runner(tmp_path, backend) as (runner, _):
            await runner.close()
            runner.order(an_order(), session)
            assert await session.end() == AgentStopped()
            assert not backend.begun.is_set()

    limited(scene())
