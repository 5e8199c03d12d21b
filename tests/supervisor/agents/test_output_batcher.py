"""Output on its way to the session: in order, one batch under way, growing while it is, bounded, and ended once."""

import asyncio
from pathlib import Path

import pytest

from actors.messages.orders import AgentNews, AgentOutput, AgentStopped, Completed, TurnEnded
from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ItemId
from supervisor.agents.output_batcher import ROOM, OutputBatcher
from supervisor.work.processes.output import Stream
from tests.fakes.session import FakeSession
from tests.supervisor.agents.backends import TURN
from tests.supervisor.work.commands import limited

CALL, ITEM, OTHER = CallId("c"), ItemId("i"), ItemId("j")


def words(text: str, item: ItemId = ITEM) -> ev.AgentMessageDelta:
    return ev.AgentMessageDelta(delta=text, item_id=item)


def output(chunk: bytes, stream: Stream = "stdout", item: ItemId = ITEM) -> ev.WorkOutput:
    return ev.WorkOutput(call_id=CALL, stream=stream, chunk=chunk, item_id=item)


def sent(session: FakeSession) -> list[tuple[AgentNews, ...]]:
    return [message.batch for message in session.messages if isinstance(message, AgentOutput | TurnEnded)]


def test_the_first_news_goes_at_once_and_the_next_waits_until_it_was_taken() -> None:
    async def scene() -> None:
        session = FakeSession()
        batcher = OutputBatcher(TURN, session)
        batcher.emit(words("a"))
        batcher.emit(words("b"))
        batcher.emit(words("c"))
        assert sent(session) == [(words("a"),)]
        batcher.send_next()
        assert sent(session) == [(words("a"),), (words("bc"),)]
        batcher.send_next()
        assert len(session.messages) == 2
        batcher.emit(words("d"))
        assert sent(session)[2:] == [(words("d"),)]

    limited(scene())


def test_a_held_event_goes_with_its_successor_or_with_the_end() -> None:
    async def scene() -> None:
        session = FakeSession()
        batcher = OutputBatcher(TURN, session)
        count = ev.TokenCount(input_tokens=1, output_tokens=1, total_tokens=2)
        batcher.hold(count)
        assert not session.messages
        batcher.emit(words("a"))
        assert sent(session) == [(count, words("a"))]
        batcher.emit(words("b"))
        batcher.hold(count)
        batcher.send_next()
        assert sent(session)[1:] == [(words("b"),)]
        batcher.send_next()
        assert len(session.messages) == 2
        batcher.finish(Completed(None))
        assert sent(session)[2:] == [(count,)]

    limited(scene())


@pytest.mark.parametrize(
    ("news", "batch"),
    [
        ([words("a"), words("b")], [words("ab")]),
        ([words("a"), words("b", OTHER)], [words("a"), words("b", OTHER)]),
        ([output(b"a"), output(b"b")], [output(b"ab")]),
        ([output(b"a"), output(b"b", "stderr")], [output(b"a"), output(b"b", "stderr")]),
        (
            [words("a"), ev.AgentReasoningDelta(delta="b", item_id=ITEM)],
            [words("a"), ev.AgentReasoningDelta(delta="b", item_id=ITEM)],
        ),
        (
            [words("a"), ev.BackgroundEvent(message="x"), words("b")],
            [words("a"), ev.BackgroundEvent(message="x"), words("b")],
        ),
    ],
)
def test_deltas_of_one_item_in_a_row_become_one(news: list[AgentNews], batch: list[AgentNews]) -> None:
    async def scene() -> None:
        session = FakeSession()
        batcher = OutputBatcher(TURN, session)
        batcher.emit(ev.BackgroundEvent(message="first"))
        for one in news:
            batcher.emit(one)
        batcher.send_next()
        assert sent(session)[1] == tuple(batch)

    limited(scene())


def test_many_deltas_become_one_without_copying_them_each_time() -> None:
    """A hundred thousand deltas while the session is busy: quadratic joining would take minutes."""

    async def scene() -> None:
        session = FakeSession()
        batcher = OutputBatcher(TURN, session)
        batcher.emit(words("-"))
        for _ in range(100_000):
            batcher.emit(words("word "))
        batcher.send_next()
        (last,) = sent(session)[1]
        assert last == words("word " * 100_000)

    limited(scene())


def test_an_agent_that_says_too_much_waits_for_the_session() -> None:
    async def scene() -> None:
        session = FakeSession()
        batcher = OutputBatcher(TURN, session)
        batcher.emit(words("a"))
        batcher.emit(words("x" * (ROOM + 1)))
        waiting = asyncio.create_task(batcher.wait_for_room())
        await asyncio.sleep(0)
        assert not waiting.done()
        batcher.send_next()
        await waiting
        await batcher.wait_for_room()

    limited(scene())


def test_waiting_output_goes_with_the_end() -> None:
    async def scene() -> None:
        session = FakeSession()
        batcher = OutputBatcher(TURN, session)
        batcher.emit(words("a"))
        batcher.emit(words("b"))
        batcher.finish(Completed("ab"))
        assert session.messages == [
            AgentOutput(TURN, (words("a"),)),
            TurnEnded(TURN, Completed("ab"), (words("b"),)),
        ]

    limited(scene())


def test_of_a_turn_that_is_stopped_output_streams_on_and_the_rest_goes_with_the_end() -> None:
    async def scene() -> None:
        session = FakeSession()
        batcher = OutputBatcher(TURN, session)
        batcher.end_soon()
        batcher.emit(words("still writing"))
        batcher.send_next()
        batcher.emit(ev.BackgroundEvent(message="killed"))
        batcher.send_next()
        assert session.messages == [AgentOutput(TURN, (words("still writing"),))]
        batcher.finish(AgentStopped())
        assert session.messages[1:] == [TurnEnded(TURN, AgentStopped(), (ev.BackgroundEvent(message="killed"),))]

    limited(scene())


def test_a_session_that_is_gone_holds_nobody_up() -> None:
    async def scene() -> None:
        session = FakeSession()
        session.gone = True
        batcher = OutputBatcher(TURN, session)
        for _ in range(10):
            batcher.emit(words("x" * ROOM))
            await batcher.wait_for_room()
        batcher.finish(Completed())
        assert batcher.session_gone

    limited(scene())


def test_a_session_that_goes_while_somebody_waits_lets_them_on() -> None:
    async def scene() -> None:
        session = FakeSession()
        batcher = OutputBatcher(TURN, session)
        batcher.emit(words("a"))
        batcher.emit(words("x" * (ROOM + 1)))
        session.gone = True
        batcher.send_next()
        await batcher.wait_for_room()
        batcher.emit(words("b"))
        await batcher.wait_for_room()

    limited(scene())


def test_the_order_of_news_is_kept_whatever_the_session_does(tmp_path: Path) -> None:
    """Every pattern of eight steps of emitting and taking gives the same events, joined together."""
    del tmp_path

    async def scene() -> None:
        for pattern in range(256):
            session = FakeSession()
            batcher = OutputBatcher(TURN, session)
            for step in range(8):
                batcher.emit(words(str(step), ITEM if step % 3 else OTHER))
                if pattern >> step & 1:
                    batcher.send_next()
            batcher.finish(Completed())
            said = [one for batch in sent(session) for one in batch]
            assert "".join(one.delta for one in said if isinstance(one, ev.AgentMessageDelta)) == "01234567"
            assert isinstance(session.messages[-1], TurnEnded)

    limited(scene())
