"""The asyncio client against a real daemon: many requests at once, cancelled tasks, a daemon that is killed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

import greenroom
from greenroom import aio
from greenroom.events import AgentMessage, AgentMessageDelta, TaskComplete, TurnAborted
from greenroom.wire import line
from tests.support.control_peer import WAIT_S
from tests.support.daemon_process import DaemonProcess

TERMINAL = TaskComplete | TurnAborted


def on_a_loop(test: Callable[[greenroom.AsyncClient], Coroutine[Any, Any, None]]) -> Callable[[DaemonProcess], None]:
    """Run the test on a loop, with a connected client."""

    async def connected() -> None:
        async with greenroom.AsyncClient() as client:
            await test(client)

    def run(daemon: DaemonProcess) -> None:  # noqa: ARG001  # it has to run
        asyncio.run(asyncio.wait_for(connected(), 2 * WAIT_S))

    run.__doc__ = test.__doc__
    return run


@asynccontextmanager
async def counting(client: greenroom.AsyncClient) -> AsyncIterator[str]:
    """A conversation whose turn runs, and is interrupted at the end."""
    one = (await client.create()).conversation
    await client.send(one, "count 5000")
    async for event in client.attach(one):
        if isinstance(event, AgentMessageDelta):
            break
    yield one
    await client.interrupt(one)


@on_a_loop
async def test_a_prompt_is_run_to_its_end(client: greenroom.AsyncClient) -> None:
    turn = await client.run("say hello")
    assert (turn.ending, turn.message) == ("completed", "hello")
    said = [event.message async for event in client.history(turn.conversation) if isinstance(event, AgentMessage)]
    assert said == ["hello"]


@on_a_loop
async def test_answers_reach_their_tasks_while_many_requests_are_in_flight(client: greenroom.AsyncClient) -> None:
    turns = await asyncio.gather(*(client.run(f"say {n * n}") for n in range(24)))
    assert [turn.message for turn in turns] == [str(n * n) for n in range(24)]


@on_a_loop
async def test_a_cancelled_task_leaves_the_connection_and_the_turn_alone(
    client: greenroom.AsyncClient,
) -> None:
    async with counting(client) as one:
        later = client.send_and_wait(one, "say later", if_busy="enqueue")
        waiting = [asyncio.create_task(one_of) for one_of in (client.wait(one), later)]
        instance = (await client.status()).instance
        for task in waiting:
            task.cancel()
        ends = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(end) for end in ends] == [asyncio.CancelledError] * 2
        assert (await client.get(one)).state == "running"
        assert (await client.get(one)).readers == [], "the subscription of the wait is gone"
        rows = (await client.call("clients/list"))["clients"]
        assert [row["name"] for row in rows] == ["python"], "it is the same connection"
        assert (await client.status()).instance == instance


@on_a_loop
async def test_requests_that_are_cancelled_at_any_moment_leave_nothing_behind(client: greenroom.AsyncClient) -> None:
    """Also between an answer and the task that waits for it."""
    async with counting(client) as one:
        for steps in range(30):  # less than may be in flight, if a slow daemon has answered none yet
            tasks = [asyncio.create_task(client.wait(one)), asyncio.create_task(client.get(one))]
            for _step in range(steps):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await client.get(one)  # behind it every answer that came too late is here
        assert (await client.get(one)).readers == []


@on_a_loop
async def test_a_reader_that_is_cancelled_again_and_again_misses_nothing(
    client: greenroom.AsyncClient,
) -> None:
    one = (await client.create()).conversation
    await client.send(one, "count 40")
    words = ""
    events = client.attach(one)
    while True:
        try:
            event = await asyncio.wait_for(anext(events), 0.001)
        except TimeoutError:
            continue
        if isinstance(event, AgentMessageDelta):
            words += event.delta
        elif isinstance(event, AgentMessage):
            assert words == event.message
            break


def test_a_reader_misses_nothing_and_gets_nothing_twice_over_a_kill(daemon: DaemonProcess) -> None:
    async def test() -> None:
        async with greenroom.AsyncClient() as client:
            one = (await client.create()).conversation
            await client.send(one, "count 5000")
            events, seen = client.attach(one), list[greenroom.Event]()
            async for event in events:
                seen.append(event)
                if isinstance(event, AgentMessageDelta):
                    await asyncio.to_thread(daemon.kill)
                    await asyncio.to_thread(daemon.start)
                elif isinstance(event, TERMINAL):
                    break
            stored = [event async for event in client.history(one)]
            assert [event for event in seen if event.seq is not None] == stored
            assert events.cursor == stored[-1].seq

    asyncio.run(asyncio.wait_for(test(), 4 * WAIT_S))


class FakeTransport(asyncio.Transport):
    reading = True

    def is_reading(self) -> bool:
        return self.reading

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


def test_unread_events_of_a_slow_reader_are_bounded_unless_a_caller_waits() -> None:
    async def test() -> None:
        link, transport = aio._Link(), FakeTransport()
        link.connection_made(transport)
        slice_ = line({"method": "events", "params": {"subscription": "s"}})
        link.data_received(line({"greenroom": {}}) + slice_ * (aio.MOST_HELD + 1))
        assert not transport.is_reading()
        waiting = link.expect()
        link.data_received(slice_)
        assert transport.is_reading(), "the answer may be behind the slices"
        waiting.cancel()
        await asyncio.sleep(0)
        link.data_received(slice_)
        assert not transport.is_reading()

    asyncio.run(test())


def test_without_a_daemon_it_is_said_what_to_do(tmp_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_HOME", str(tmp_path))

    async def connect() -> None:
        with pytest.raises(greenroom.DaemonDown, match="run `greenroom up`"):
            await greenroom.AsyncClient().connect()

    asyncio.run(connect())
