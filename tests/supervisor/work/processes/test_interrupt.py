"""The interrupt matrix: whatever a command does, when its interrupt comes back nothing of it is alive."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from actors.vocabulary.settings import WorkspaceWrite
from supervisor.work.processes.command import Command
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.commands import (
    INSTANCE,
    ON_LINUX,
    TURN,
    Watched,
    alive,
    command,
    confined,
    limited,
    new_token,
    zombies,
)
from tests.support.confinement import confinable
from tests.support.stubborn import Kind, kinds

GRACE_S = 0.15  # short, for these do their best to use it up
LONG_GRACE_S = 10.0  # for commands that end at TERM: it must never come to KILL
PROMPT_S = 0.05  # p99 of the cooperative ones; fifty processes take the kernel longer when the machine is busy
pytestmark = ON_LINUX
MATRIX = [pytest.param(kind, id=kind.name) for kind in kinds()]
MEASURED = [pytest.param(kind, id=kind.name, marks=pytest.mark.quiet if kind.cooperative else ()) for kind in kinds()]
SANDBOX = Sandbox()


@contextlib.contextmanager
def in_sandbox(plain: Command, cwd: Path) -> Iterator[Command]:
    with SANDBOX.confine(WorkspaceWrite(), cwd, plain.argv, plain.env) as inside:
        yield confined(plain, inside)


async def interrupt(processes: Processes, kind: Kind, stubborn: Command) -> float:
    """Return the seconds from the interrupt to its coming back."""
    watched = Watched()
    run = asyncio.create_task(processes.run(stubborn, watched.output))
    await (watched.spoke.wait() if kind.says_ready else asyncio.sleep(0))  # one step of the loop spawns it
    began = time.monotonic()
    run.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await run
    await processes.end_turn(TURN)
    return time.monotonic() - began


async def interrupted_runs(tmp_path: Path, kind: Kind, *, times: int, sandbox: bool) -> list[float]:
    took = []
    grace_s = LONG_GRACE_S if kind.cooperative else GRACE_S
    async with Processes(tmp_path / "ledger", INSTANCE, grace_s) as processes:
        for _ in range(times):
            token = new_token()
            plain = command(*(part.format(token=token) for part in kind.argv), cwd=tmp_path, env={"TOKEN": token})
            with in_sandbox(plain, tmp_path) if sandbox else contextlib.nullcontext(plain) as stubborn:
                took.append(await interrupt(processes, kind, stubborn))
            assert not alive(token)
            assert not zombies()
    return took


@pytest.mark.parametrize("kind", MATRIX)
def test_after_an_interrupt_nothing_of_the_command_is_alive(tmp_path: Path, kind: Kind) -> None:
    (took,) = limited(interrupted_runs(tmp_path, kind, times=1, sandbox=False))
    assert took < GRACE_S + 1


@confinable
@pytest.mark.parametrize("kind", MATRIX)
def test_after_an_interrupt_nothing_of_the_sandbox_is_alive(tmp_path: Path, kind: Kind) -> None:
    (took,) = limited(interrupted_runs(tmp_path, kind, times=1, sandbox=True))
    assert took < GRACE_S + 1


def test_a_loop_on_a_thread_of_its_own_finds_orphans_too(tmp_path: Path) -> None:
    """Children belong to the thread that spawned them, orphans come to the main thread, as in the daemon."""
    kind = next(kind for kind in kinds() if kind.name == "double_fork_session_deaf")
    with ThreadPoolExecutor(1) as thread:
        (took,) = thread.submit(limited, interrupted_runs(tmp_path, kind, times=1, sandbox=False)).result()
    assert took < GRACE_S + 1


@pytest.mark.soak
@pytest.mark.parametrize("kind", MEASURED)
@pytest.mark.parametrize("sandbox", [False, pytest.param(True, marks=confinable)], ids=["bare", "sandboxed"])
def test_many_interrupts_in_a_row_leave_nothing(tmp_path: Path, kind: Kind, *, sandbox: bool) -> None:
    times = (
        100 if kind.cooperative else 10
    )  # a p99 needs some to leave out; the deaf commands have their 50 in whole turns
    took = sorted(asyncio.run(interrupted_runs(tmp_path, kind, times=times, sandbox=sandbox)))
    p50, p99 = took[times // 2], took[times * 99 // 100 - 1]
    worst, where = took[-1], "sandboxed" if sandbox else "bare"
    print(f"{kind.name} {where}: p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, worst {worst * 1000:.1f} ms")
    assert worst <= GRACE_S + 1
    assert p99 <= PROMPT_S or not kind.cooperative or kind.name == "many"
