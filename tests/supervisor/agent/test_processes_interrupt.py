"""The interrupt matrix: whatever a command does, when its interrupt comes back nothing of it is alive."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.settings import WorkspaceWrite
from supervisor.agent.processes import Command, Processes
from supervisor.agent.sandbox import Sandbox
from tests.supervisor.agent.commands import (
    INSTANCE,
    TURN,
    Watched,
    alive,
    command,
    confined,
    limited,
    new_token,
    zombies,
)
from tests.support.stubborn import Kind, kinds

GRACE_S = 0.15  # short, for these do their best to use it up
MATRIX = [pytest.param(kind, id=kind.name) for kind in kinds()]
SANDBOX = Sandbox()
confinable = pytest.mark.skipif(not SANDBOX.availability.ok, reason=SANDBOX.availability.reason or "available")


@contextlib.contextmanager
def in_sandbox(plain: Command, cwd: Path) -> Iterator[Command]:
    with SANDBOX.confine(WorkspaceWrite(), cwd, plain.argv, plain.env) as inside:
        yield confined(plain, inside)


async def interrupt(processes: Processes, kind: Kind, stubborn: Command) -> float:
    """Seconds from the interrupt to its coming back."""
    watched = Watched()
    run = asyncio.create_task(processes.run(stubborn, watched.output))
    await (watched.spoke.wait() if kind.says_ready else asyncio.sleep(0))  # one step of the loop and it is spawned
    began = time.monotonic()
    run.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await run
    await processes.end_turn(TURN)
    return time.monotonic() - began


async def interrupted_runs(tmp_path: Path, kind: Kind, *, times: int, sandbox: bool) -> list[float]:
    took = []
    async with Processes(tmp_path / "ledger", INSTANCE, GRACE_S) as processes:
        for _ in range(times):
            token = new_token()
            plain = command(*(part.format(token=token) for part in kind.argv), cwd=tmp_path, env={"TOKEN": token})
            with in_sandbox(plain, tmp_path) if sandbox else contextlib.nullcontext(plain) as stubborn:
                took.append(await interrupt(processes, kind, stubborn))
            assert not alive(token)
            assert not zombies()
    return took


def at_most(kind: Kind) -> float:
    return GRACE_S if kind.cooperative else GRACE_S + 1


@pytest.mark.parametrize("kind", MATRIX)
def test_after_an_interrupt_nothing_of_the_command_is_alive(tmp_path: Path, kind: Kind) -> None:
    (took,) = limited(interrupted_runs(tmp_path, kind, times=1, sandbox=False))
    assert took < at_most(kind)


@confinable
@pytest.mark.parametrize("kind", MATRIX)
def test_after_an_interrupt_nothing_of_the_sandbox_is_alive(tmp_path: Path, kind: Kind) -> None:
    (took,) = limited(interrupted_runs(tmp_path, kind, times=1, sandbox=True))
    assert took < at_most(kind)


@pytest.mark.soak
@pytest.mark.parametrize("kind", MATRIX)
@pytest.mark.parametrize("sandbox", [False, pytest.param(True, marks=confinable)], ids=["bare", "sandboxed"])
def test_many_interrupts_in_a_row_leave_nothing(tmp_path: Path, kind: Kind, *, sandbox: bool) -> None:
    times = 200 if kind.cooperative else 50  # a p99 needs some to leave out
    took = sorted(asyncio.run(interrupted_runs(tmp_path, kind, times=times, sandbox=sandbox)))
    p50, p99 = took[times // 2], took[times * 99 // 100 - 1]
    worst, where = took[-1], "sandboxed" if sandbox else "bare"
    print(f"{kind.name} {where}: p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, worst {worst * 1000:.1f} ms")
    assert worst <= GRACE_S + 1
    assert p99 <= 0.05 or not kind.cooperative
