"""The ladder by itself, with a finder that the test controls."""

import asyncio
import signal
import subprocess
from collections.abc import Iterator

import pytest

from supervisor.work.processes import ending, exits
from supervisor.work.processes.ending import Find
from supervisor.work.processes.platform import table_of_this_system
from supervisor.work.processes.table import Process, Sight, do_nothing
from tests.supervisor.work.commands import ON_LINUX, limited, until

TABLE = table_of_this_system()
pytestmark = ON_LINUX


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process
        process.kill()


def finding(*processes: subprocess.Popen[bytes]) -> Find:
    def find(at_sight: Sight = do_nothing) -> list[Process]:
        looks = (TABLE.look(process.pid) for process in processes)
        found = [look for look in looks if look is not None and not look.dead]
        for one in found:
            at_sight(one)
        return found

    return find


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[signal.Signals]:
    """Record signals instead of sending them: a process that nobody can end."""
    signals: list[signal.Signals] = []
    monkeypatch.setattr(ending, "_signal", lambda _, sig: signals.append(sig))
    monkeypatch.setattr(ending, "GIVE_UP_S", 0.1)
    return signals


def test_processes_that_cannot_be_ended_are_named_after_a_while_so_that_the_turn_ends(
    sleeper: subprocess.Popen[bytes], sent: list[signal.Signals]
) -> None:
    async def work() -> list[Process]:
        return await ending.end(finding(sleeper), list, 0.05, asyncio.get_running_loop().create_future())

    assert [process.pid for process in limited(work())] == [sleeper.pid]
    assert sent[:2] == [signal.SIGTERM, signal.SIGCONT]
    assert set(sent[2:]) == {signal.SIGKILL}


def test_term_comes_once_and_a_hurry_brings_kill_at_once(
    sleeper: subprocess.Popen[bytes], sent: list[signal.Signals]
) -> None:
    async def work() -> None:
        hurry: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(ending.end(finding(sleeper), list, 60, hurry))
        await asyncio.sleep(0)  # its first step
        assert sent == [signal.SIGTERM, signal.SIGCONT]
        hurry.set_result(None)
        await task

    limited(work())
    assert sent.count(signal.SIGTERM) == 1
    assert signal.SIGKILL in sent


def test_a_process_that_was_asked_to_end_is_not_asked_again_when_another_ends(
    sleeper: subprocess.Popen[bytes], sent: list[signal.Signals], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exits, "WATCHED", 1)  # so that the end of the first alone leads to the next look

    async def work(first: subprocess.Popen[bytes]) -> None:
        hurry: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        looks: list[int] = []

        def find(at_sight: Sight = do_nothing) -> list[Process]:
            looks.append(1)
            return finding(first, sleeper)(at_sight)

        task = asyncio.create_task(ending.end(find, list, 60, hurry))
        await until(lambda: sent)
        first.kill()
        await until(lambda: len(looks) > 1)
        hurry.set_result(None)
        await task

    with subprocess.Popen(["sleep", "300"]) as first:
        limited(work(first))
    assert sent.count(signal.SIGTERM) == 2


def test_a_loop_that_is_closed_meanwhile_kills_on_its_way_out(
    sleeper: subprocess.Popen[bytes], sent: list[signal.Signals]
) -> None:
    async def work() -> None:
        hurry: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(ending.end(finding(sleeper), list, 60, hurry))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    limited(work())
    assert sent[-1] == signal.SIGKILL
