"""A client is closed while it is used: calls say so, events end, and nothing is raised where nobody asked."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import greenroom
from greenroom import following
from tests.greenroom.test_async import on_a_loop
from tests.support.daemon_process import DaemonProcess

WAIT_S = 20.0
ENDLESS: dict[str, Callable[[greenroom.Client], Iterator[object]]] = {
    "attach": lambda client: client.attach("one"),
    "follow": lambda client: client.follow(),
    "questions": lambda client: client.questions(),
}
CALLS: dict[str, Callable[[greenroom.Client], object]] = {
    "run": lambda client: client.run("count 5000"),
    "wait": lambda client: client.wait("busy"),
    "next of a history": lambda client: list(client.history("one")),
}


@pytest.fixture(autouse=True)
def raised(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BaseException | None]]:
    """Record the errors that a thread or a finaliser raises; there may be none."""
    found: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: found.append(told.exc_value))
    monkeypatch.setattr(sys, "unraisablehook", lambda told: found.append(told.exc_value))
    yield found
    assert not found


def turns(client: greenroom.Client) -> int:
    return sum(row.state == "running" for row in client.conversations())


def busy(client: greenroom.Client) -> None:
    client.create("one")
    client.create("busy")
    client.send("busy", "count 5000")


@pytest.mark.parametrize("which", ENDLESS)
def test_events_end_when_their_client_is_closed_in_another_thread(client: greenroom.Client, which: str) -> None:
    busy(client)
    began = threading.Event()

    def read() -> int:
        began.set()
        return sum(1 for _ in ENDLESS[which](client))

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        assert began.wait(WAIT_S)
        client.status()  # it is answered after what the reader has asked
        client.close()
        assert reading.result(WAIT_S) >= 0
    with pytest.raises(greenroom.errors.ClientClosed):  # but nobody takes an end for what was closed before
        next(ENDLESS[which](client))


@pytest.mark.parametrize("which", ["run", "wait"])
def test_a_call_that_waits_says_that_its_client_was_closed(client: greenroom.Client, which: str) -> None:
    busy(client)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(CALLS[which], client)
        running = 2 if which == "run" else 1
        while turns(client) < running:
            pass
        client.close()
        with pytest.raises(greenroom.errors.ClientClosed):
            waiting.result(WAIT_S)
    for call in CALLS.values():
        with pytest.raises(greenroom.errors.ClientClosed):
            call(client)


def test_a_history_that_was_cut_off_is_no_end(client: greenroom.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.run("say hello", name="one")
    monkeypatch.setattr(following, "PAGE", 2)
    events = client.history("one")
    next(events)
    client.close()
    with pytest.raises(greenroom.errors.ClientClosed):
        list(events)


def test_events_may_be_closed_while_another_thread_waits_for_the_next(client: greenroom.Client) -> None:
    client.create("one")
    events = client.attach("one")
    next(events)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(list, events)
        client.status()
        events.close()
        waiting.result(WAIT_S)
    events.close()
    assert list(events) == []
    assert client.status().version


def test_closing_again_or_by_many_at_once_is_nothing(client: greenroom.Client) -> None:
    gate = threading.Barrier(8)

    def close() -> None:
        gate.wait(WAIT_S)
        client.close()

    with ThreadPoolExecutor(8) as pool:
        for one in [pool.submit(close) for _ in range(8)]:
            one.result(WAIT_S)
    client.close()


def test_a_reader_closes_its_own_client(client: greenroom.Client) -> None:
    client.run("say hello", name="one")
    seen = []
    for event in client.attach("one"):
        seen.append(event)
        client.close()
    assert len(seen) >= 1


# --- asyncio -------------------------------------------------------------------------------------------------


@on_a_loop
async def test_tasks_that_wait_are_told_or_end(client: greenroom.AsyncClient) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
    await client.create("one")

    async def read() -> int:
        return len([event async for event in client.follow()])

    reading, running = asyncio.create_task(read()), asyncio.create_task(client.run("count 5000"))
    while not any(row.state == "running" for row in await client.conversations()):
        pass
    await client.close()
    await client.close()
    assert await reading >= 0
    with pytest.raises(greenroom.errors.ClientClosed):
        await running
    with pytest.raises(greenroom.errors.ClientClosed):
        await anext(client.follow())
    assert not complaints


@on_a_loop
async def test_a_task_that_is_cancelled_is_cancelled_and_its_events_go_on(client: greenroom.AsyncClient) -> None:
    one = (await client.create()).conversation
    events = client.attach(one, after=None)

    async def following() -> object:
        return await anext(events)

    waiting = asyncio.create_task(following())
    await client.get(one)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await client.send(one, "say hello")
    await anext(events)
    again = asyncio.create_task(following())
    while not again.done() or not isinstance(again.exception(), StopAsyncIteration):
        if again.done():
            again = asyncio.create_task(following())
        await client.get(one)
        if (await client.get(one)).turn is None:
            await events.close()


# --- the end of the program ---------------------------------------------------------------------------------------

PROGRAMS = {
    "a thread reads": """
import threading, greenroom
client = greenroom.Client()
threading.Thread(target=list, args=(client.questions(),), daemon=True).start()
client.status()
""",
    "a thread calls": """
import threading, greenroom
client = greenroom.Client()
def call():
    try:
        client.run("count 5000")
    except greenroom.errors.ClientClosed:
        pass
threading.Thread(target=call, daemon=True).start()
while not any(row.state == "running" for row in client.conversations()): pass
""",
    "a watch is open": """
import greenroom
client = greenroom.Client()
watch = client.on_question(print)
client.status()
""",
    "closed while threads read": """
import threading, greenroom
client = greenroom.Client()
threads = [threading.Thread(target=list, args=(client.follow(),)) for _ in range(4)]
for one in threads: one.start()
client.status()
client.close()
for one in threads: one.join()
""",
    "tasks are pending": """
import asyncio, greenroom
async def main():
    client = await greenroom.AsyncClient().connect()
    async def read():
        async for _ in client.follow(): pass
    tasks = [asyncio.create_task(read()), asyncio.create_task(client.run("count 5000"))]
    watch = client.on_question(print)
    while not any(row.state == "running" for row in await client.conversations()): pass
    if CLOSE:
        await client.close()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert ends[0] is None and isinstance(ends[1], greenroom.errors.ClientClosed), ends
asyncio.run(main())
""",
    "forgotten": """
import greenroom
events = greenroom.Client().questions()
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_ends_says_nothing_of_the_client(daemon: DaemonProcess, program: str) -> None:
    text = PROGRAMS[program]
    for one in {text.replace("CLOSE", "True"), text.replace("CLOSE", "False")}:
        done = subprocess.run(
            [sys.executable, "-c", one],
            env=daemon.environ,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
