"""The cost of running a command and of interrupting it, beside a bare spawn and kill. Takes ten seconds."""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import WorkspaceWrite
from supervisor.work.processes.command import Command
from supervisor.work.processes.output import Output
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.sandbox import Sandbox

TIMES = 200
MEGABYTES = 500
TURN = TurnId("turn")
FIFTY = "for i in $(seq 50); do sleep 300 & done; echo ready; wait"


def command(*argv: str) -> Command:
    return Command(argv, Path("/"), {"PATH": os.environ["PATH"]}, ConversationId("conversation"), TURN)


def row(what: str, took: list[float]) -> None:
    took.sort()
    p50, p99 = took[len(took) // 2], took[len(took) * 99 // 100]
    print(f"{what:48} p50 {p50 * 1000:7.2f} ms   p99 {p99 * 1000:7.2f} ms")


def floor_run() -> float:
    began = time.perf_counter()
    subprocess.run(["true"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.perf_counter() - began


def floor_kill() -> float:
    process = subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL, start_new_session=True)
    time.sleep(0.005)
    began = time.perf_counter()
    process.terminate()
    process.wait()
    return time.perf_counter() - began


def output() -> tuple[Output, asyncio.Event]:
    spoke = asyncio.Event()

    async def take(_stream: str, _piece: bytes) -> None:
        spoke.set()

    return Output(take), spoke


async def run(processes: Processes, what: Command) -> float:
    began = time.perf_counter()
    await processes.run(what, output()[0])
    return time.perf_counter() - began


async def interrupt(processes: Processes, what: Command) -> float:
    taken, spoke = output()
    task = asyncio.create_task(processes.run(what, taken))
    await spoke.wait()
    began = time.perf_counter()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    await processes.end_turn(TURN)
    return time.perf_counter() - began


async def end_of_turn(processes: Processes) -> float:
    await processes.run(command("true"), output()[0])
    began = time.perf_counter()
    await processes.end_turn(TURN)
    return time.perf_counter() - began


async def repeat(times: int, work: Callable[[], Awaitable[float]]) -> list[float]:
    return [await work() for _ in range(times)]


async def main() -> None:
    row("floor: spawn `true`, read it, wait", [floor_run() for _ in range(TIMES)])
    row("floor: terminate `sleep` and wait", [floor_kill() for _ in range(TIMES)])
    sandbox, sleep = Sandbox(), ("sh", "-c", "echo ready; exec sleep 300")
    with tempfile.TemporaryDirectory() as place:
        async with Processes(Path(place) / "ledger", "bench") as processes:
            row("run `true`", await repeat(TIMES, lambda: run(processes, command("true"))))
            row("end of a turn that left nothing", await repeat(TIMES, lambda: end_of_turn(processes)))
            row("interrupt `sleep`", await repeat(TIMES, lambda: interrupt(processes, command(*sleep))))
            row("interrupt 50 `sleep`", await repeat(20, lambda: interrupt(processes, command("sh", "-c", FIFTY))))
            if sandbox.availability.ok:

                async def run_sandboxed(work: Callable[[Processes, Command], Awaitable[float]], *argv: str) -> float:
                    with sandbox.confine(WorkspaceWrite(), Path(place), argv, {"PATH": os.environ["PATH"]}) as inside:
                        inner = replace(
                            command(*inside.argv), env=inside.env, pass_fds=inside.pass_fds, keeper=inside.keeper
                        )
                        return await work(processes, inner)

                row("run `true` in the sandbox", await repeat(TIMES, lambda: run_sandboxed(run, "true")))
                row("interrupt `sleep` in the sandbox", await repeat(TIMES, lambda: run_sandboxed(interrupt, *sleep)))
            took = await run(processes, command("head", "-c", str(MEGABYTES * 1_000_000), "/dev/zero"))
            print(f"{'output that nobody can keep':48} {MEGABYTES / took:.0f} MB/s")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
