"""Running a command to its end: its result, the processes it may leave, and its cost."""

import asyncio
import os
import resource
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from actors.vocabulary.ids import TurnId
from supervisor.work.processes import pipes
from supervisor.work.processes.command import MARKS, Command, Finished, NotStarted
from supervisor.work.processes.output import Stream
from supervisor.work.processes.pipes import CHUNK, PENDING
from supervisor.work.processes.processes import Processes
from tests.supervisor.work.commands import (
    INSTANCE,
    ON_LINUX,
    TURN,
    Watched,
    alive,
    command,
    limited,
    new_token,
    open_files,
    until,
    zombies,
)

GRACE_S = 0.2
pytestmark = ON_LINUX
MEGABYTE = 1 << 20


@asynccontextmanager
async def processes_at(tmp_path: Path, grace_s: float = GRACE_S) -> AsyncIterator[Processes]:
    async with Processes(tmp_path / "ledger", INSTANCE, grace_s) as processes:
        yield processes


def ran(tmp_path: Path, *argv: str, timeout_s: float | None = None) -> tuple[Finished | NotStarted, Watched]:
    async def work() -> tuple[Finished | NotStarted, Watched]:
        watched = Watched()
        async with processes_at(tmp_path) as processes:
            return await processes.run(command(*argv, timeout_s=timeout_s), watched.output), watched

    return limited(work())


def finished(result: Finished | NotStarted) -> Finished:
    assert isinstance(result, Finished), result
    return result


# --- what comes back -----------------------------------------------------------------------------------------------


def test_exit_code_and_both_streams_come_back(tmp_path: Path) -> None:
    result, watched = ran(tmp_path, "sh", "-c", "echo out; echo err >&2; exit 3")
    assert finished(result).exit_code == 3
    assert (watched.output.stdout.text(), watched.output.stderr.text()) == ("out\n", "err\n")
    assert (watched.of("stdout"), watched.of("stderr")) == (b"out\n", b"err\n")


def test_death_by_a_signal_is_told_as_a_shell_would(tmp_path: Path) -> None:
    result, _ = ran(tmp_path, "sh", "-c", "kill -9 $$")
    assert finished(result).exit_code == 128 + signal.SIGKILL


@pytest.mark.parametrize("argv", [("no-such-program",), ("/etc/hostname",), ("",), ("nul\0byte",)])
def test_a_program_that_cannot_start_is_a_result_and_no_exception(tmp_path: Path, argv: tuple[str, ...]) -> None:
    result, _ = ran(tmp_path, *argv)
    assert isinstance(result, NotStarted)
    assert str(result).startswith("execution error: ")


def test_a_working_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    async def work() -> Finished | NotStarted:
        async with processes_at(tmp_path) as processes:
            return await processes.run(command("true", cwd=tmp_path / "gone"), Watched().output)

    assert str(tmp_path / "gone") in str(limited(work()))


def test_stdin_is_empty_and_the_environment_is_the_given_one_and_the_marks(tmp_path: Path) -> None:
    result, watched = ran(tmp_path, "sh", "-c", "cat; /usr/bin/env")
    assert finished(result).exit_code == 0
    names = {line.partition("=")[0] for line in watched.output.stdout.text().splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", *MARKS}


def test_a_command_leads_a_session_of_its_own(tmp_path: Path) -> None:
    _, watched = ran(tmp_path, "sh", "-c", "echo $$ $(cut -d' ' -f5,6 /proc/$$/stat)")
    pid, group, session = watched.output.stdout.text().split()
    assert pid == group == session


# --- output --------------------------------------------------------------------------------------------------------


def test_three_hundred_megabytes_cost_neither_memory_nor_pieces(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result, watched = ran(tmp_path, "head", "-c", "300000000", "/dev/zero")
    assert finished(result).exit_code == 0
    assert watched.output.stdout.total == 300_000_000
    assert len(watched.of("stdout")) == watched.output.live_bytes
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024  # KiB
    assert "bytes left out" in watched.output.stdout.text()


def test_a_taker_that_does_not_take_stops_the_writer(tmp_path: Path) -> None:
    """The command's own counter stands still until the first piece is taken, at the capacity of pipe and reader."""

    async def work() -> tuple[int, int]:
        gate, came = asyncio.Event(), asyncio.Event()

        async def take(_: Stream, __: bytes) -> None:
            came.set()
            await gate.wait()

        watched = Watched(live_bytes=100 * MEGABYTE)
        watched.output.take = take
        async with processes_at(tmp_path) as processes:
            run = asyncio.create_task(
                processes.run(command("head", "-c", str(3 * MEGABYTE), "/dev/zero"), watched.output)
            )
            await came.wait()
            held = -1
            while held != watched.output.stdout.total:  # until nothing more comes within a while
                held = watched.output.stdout.total
                await asyncio.sleep(0.05)
            gate.set()
            await run
            return held, watched.output.stdout.total

    held, total = limited(work())
    assert held <= PENDING + 2 * CHUNK
    assert total == 3 * MEGABYTE


def test_nothing_is_lost_when_the_taker_is_slow_and_the_command_has_long_ended(tmp_path: Path) -> None:
    async def work() -> bytes:
        got = bytearray()

        async def take(_: Stream, piece: bytes) -> None:
            await asyncio.sleep(0.02)
            got.extend(piece)

        watched = Watched()
        watched.output.take = take
        async with processes_at(tmp_path) as processes:
            await processes.run(command("head", "-c", "100000", "/dev/zero"), watched.output)
            return bytes(got)

    assert len(limited(work())) == 100_000


def test_a_character_written_in_two_halves_arrives_in_one_piece(tmp_path: Path) -> None:
    script = r"printf 'a\342'; sleep 0.5; printf '\202\254b'; printf '\377'"
    _, watched = ran(tmp_path, "sh", "-c", script)
    assert watched.of("stdout") == "a€b".encode() + b"\xff"
    assert watched.pieces[0] == ("stdout", b"a")


def test_a_taker_that_raises_ends_the_command_and_is_heard(tmp_path: Path) -> None:
    token = new_token()

    async def work() -> None:
        async def take(_: Stream, __: bytes) -> None:
            raise LookupError("nobody there")

        watched = Watched()
        watched.output.take = take
        async with processes_at(tmp_path) as processes:
            with pytest.raises(LookupError, match="nobody there"):
                await processes.run(command("yes", token), watched.output)
            assert not alive(token)

    limited(work())


# --- ends ----------------------------------------------------------------------------------------------------------


def test_a_timeout_ends_the_tree_and_keeps_what_was_written(tmp_path: Path) -> None:
    token = new_token()
    began = time.monotonic()
    result, watched = ran(tmp_path, "sh", "-c", f"echo before; sleep 300; echo {token}", timeout_s=1)
    assert (finished(result).exit_code, finished(result).timed_out) == (-1, True)
    assert watched.output.stdout.text() == "before\n"
    assert not alive(token)
    assert time.monotonic() - began < 1 + GRACE_S + 2


def test_output_before_an_interrupt_is_kept(tmp_path: Path) -> None:
    async def work() -> str:
        watched = Watched()
        async with processes_at(tmp_path) as processes:
            run = asyncio.create_task(
                processes.run(
                    command("sh", "-c", "trap 'echo bye; exit' TERM; echo hi; sleep 300 & wait"), watched.output
                )
            )
            await watched.spoke.wait()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
        return watched.output.stdout.text()

    assert limited(work()) == "hi\nbye\n"


def test_an_interrupt_keeps_what_was_waiting_in_the_pipe_for_a_slow_taker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipes, "CHUNK", 4096)
    monkeypatch.setattr(pipes, "PENDING", 1)  # so that nearly all of it stays in the pipe

    async def work() -> int:
        async def take(_: Stream, __: bytes) -> None:
            await asyncio.Event().wait()

        watched = Watched()
        watched.output.take = take
        async with processes_at(tmp_path) as processes:
            writes = command("sh", "-c", "head -c 60000 /dev/zero; echo done >&2; exec sleep 300")
            run = asyncio.create_task(processes.run(writes, watched.output))
            await until(lambda: watched.output.stderr.total)
            run.cancel()
            await asyncio.wait([run])
        return watched.output.stdout.total

    assert limited(work()) == 60_000


def test_kill_now_cuts_the_grace_short(tmp_path: Path) -> None:
    async def work() -> float:
        watched = Watched()
        async with processes_at(tmp_path, grace_s=60) as processes:
            run = asyncio.create_task(
                processes.run(command("sh", "-c", "trap '' TERM; echo hi; sleep 300"), watched.output)
            )
            await watched.spoke.wait()
            run.cancel()
            await asyncio.sleep(0.05)
            assert not run.done()
            began = time.monotonic()
            processes.kill_now(TURN)
            with pytest.raises(asyncio.CancelledError):
                await run
            return time.monotonic() - began

    assert limited(work()) < 1


def test_a_second_cancellation_kills_and_does_not_let_the_first_one_go(tmp_path: Path) -> None:
    token = new_token()

    async def work() -> None:
        watched = Watched()
        async with processes_at(tmp_path, grace_s=60) as processes:
            run = asyncio.create_task(
                processes.run(command("sh", "-c", f"trap '' TERM; echo {token}; sleep 300"), watched.output)
            )
            await watched.spoke.wait()
            run.cancel()
            await asyncio.sleep(0.05)
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            assert not alive(token)

    limited(work())


# --- what stays in the background ----------------------------------------------------------------------------------


def test_a_background_child_that_holds_the_pipe_does_not_hold_the_command(tmp_path: Path) -> None:
    began = time.monotonic()
    result, watched = ran(tmp_path, "sh", "-c", "sleep 300 & echo started")
    assert finished(result).exit_code == 0
    assert watched.output.stdout.text() == "started\n"
    assert time.monotonic() - began < 10  # and not the 300 s of the process that holds it


def test_a_server_started_in_one_command_serves_the_next_and_dies_with_the_turn(tmp_path: Path) -> None:
    token = new_token()

    async def work() -> None:
        async with processes_at(tmp_path) as processes:
            serve = f"(while :; do echo {token}; sleep 0.01; done) & echo $! > server"
            await processes.run(command("sh", "-c", serve, cwd=tmp_path), Watched().output)
            await asyncio.sleep(0.1)  # it goes on writing into the pipe of its command, which nobody reads any more
            ask = "kill -0 $(cat server) && echo serves"
            watched = Watched()
            await processes.run(command("sh", "-c", ask, cwd=tmp_path), watched.output)
            assert watched.output.stdout.text() == "serves\n"
            assert alive(token)
            await processes.end_turn(TURN)
            assert not alive(token)
            assert not zombies()

    limited(work())


def test_the_end_of_one_turn_leaves_the_background_of_another(tmp_path: Path) -> None:
    mine, theirs, other = new_token(), new_token(), TurnId("turn-2")

    async def work() -> None:
        async with processes_at(tmp_path) as processes:
            for token, turn in ((mine, TURN), (theirs, other)):
                hidden = f"setsid sh -c 'trap \"\" HUP; sleep 300; echo {token}' & true"
                await processes.run(command("sh", "-c", hidden, turn=turn), Watched().output)
            await processes.end_turn(TURN)
            assert not alive(mine)
            assert alive(theirs)
            await processes.end_turn(other)
            assert not alive(theirs)

    limited(work())


def test_a_timeout_leaves_the_background_of_earlier_commands(tmp_path: Path) -> None:
    kept, ended = new_token(), new_token()

    async def work() -> None:
        async with processes_at(tmp_path) as processes:
            await processes.run(command("sh", "-c", f"(sleep 300; echo {kept}) & true"), Watched().output)
            late = command("sh", "-c", f"(setsid sleep 300; echo {ended}) & sleep 300", timeout_s=0.1)
            await processes.run(late, Watched().output)
            assert alive(kept)
            assert not alive(ended)

    limited(work())


def leaves_an_orphan_without_marks(folder: Path, token: str) -> Command:
    bare = folder / "bare"
    hides = f"setsid env -i /bin/sh -c ': > {bare}; /bin/sleep 300; : {token}' >/dev/null 2>&1"
    return command("sh", "-c", f"{hides} & while [ ! -e {bare} ]; do sleep 0.01; done")


def test_an_orphan_without_marks_dies_with_its_turn_though_another_is_open(tmp_path: Path) -> None:
    token, other = new_token(), TurnId("turn-2")

    async def work() -> None:
        async with processes_at(tmp_path) as processes:
            await processes.run(command("true", turn=other), Watched().output)
            await processes.run(leaves_an_orphan_without_marks(tmp_path, token), Watched().output)
            await processes.end_turn(other)
            assert alive(token)
            await processes.run(command("true", turn=other), Watched().output)
            await processes.end_turn(TURN)
            assert not alive(token)

    limited(work())


@pytest.mark.parametrize(
    "marks",
    [
        "GREENROOM_TURN=x",
        "GREENROOM_INSTANCE=x",
        "GREENROOM_TURN=turn-2",
        'GREENROOM_TURN=turn-2 GREENROOM_COMMAND="$OTHERS"',
        "-i",
        "-i GREENROOM_INSTANCE=$GREENROOM_INSTANCE GREENROOM_TURN=turn-2 GREENROOM_COMMAND=$OTHERS",
    ],
)
def test_false_marks_free_no_orphan_from_its_turn_and_give_it_to_no_other(tmp_path: Path, marks: str) -> None:
    token, theirs, other, bare = new_token(), new_token(), TurnId("turn-2"), tmp_path / "bare"
    told = tmp_path / "told"
    tell = f"echo $GREENROOM_COMMAND > {told}.new; mv {told}.new {told}"
    own = f"(setsid sh -c '{tell}; sleep 300; : {theirs}' &); sleep 300"
    flees = f"/bin/sh -c ': > {bare}; /bin/sleep 300; : {token}' >/dev/null 2>&1"
    false = f"OTHERS=$(cat {told}); (setsid env {marks} {flees} &); while [ ! -e {bare} ]; do sleep 0.01; done"

    async def work() -> None:
        async with processes_at(tmp_path) as processes:
            running = asyncio.create_task(processes.run(command("sh", "-c", own, turn=other), Watched().output))
            await until(told.exists)
            await processes.run(command("sh", "-c", false), Watched().output)
            assert alive(token)
            await processes.end_turn(TURN)
            assert not alive(token)
            assert alive(theirs)
            await processes.end_turn(other)
            await running
            assert not alive(theirs)

    limited(work())


def test_an_orphan_without_marks_is_not_left_by_turns_that_end_at_once(tmp_path: Path) -> None:
    """Each turn may look while the other is still open: then the orphan is both's to end, and is left by neither."""
    token, other = new_token(), TurnId("turn-2")

    async def work() -> None:
        async with processes_at(tmp_path) as processes:
            await processes.run(command("true", turn=other), Watched().output)
            await processes.run(leaves_an_orphan_without_marks(tmp_path, token), Watched().output)
            await asyncio.gather(processes.end_turn(TURN), processes.end_turn(other))
            assert not alive(token)

    limited(work())


# --- what it costs -------------------------------------------------------------------------------------------------


def test_no_descriptor_no_zombie_and_no_claim_is_left(tmp_path: Path) -> None:
    async def work() -> tuple[int, int]:
        async with processes_at(tmp_path) as processes:
            await processes.run(command("true"), Watched().output)
            before = open_files()
            for number in range(20):
                turn = TurnId(f"turn-{number}")
                await processes.run(command("sh", "-c", "sleep 300 & echo x", turn=turn), Watched().output)
                await processes.run(command("no-such-program", turn=turn), Watched().output)
                await processes.run(command("sleep", "300", turn=turn, timeout_s=0.001), Watched().output)
                await processes.end_turn(turn)
            return before, open_files()

    before, after = limited(work())
    assert after == before
    assert not zombies()
    assert not list((tmp_path / "ledger").iterdir())


def test_without_a_descriptor_left_a_command_is_refused_and_the_next_one_runs(tmp_path: Path) -> None:
    async def work() -> tuple[Finished | NotStarted, Finished | NotStarted]:
        async with processes_at(tmp_path) as processes:
            await processes.run(command("true"), Watched().output)
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (open_files() + 2, hard))
            try:
                refused = await processes.run(command("true"), Watched().output)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            return refused, await processes.run(command("true"), Watched().output)

    refused, next_one = limited(work())
    assert isinstance(refused, NotStarted)
    assert finished(next_one).exit_code == 0


def dead_child() -> subprocess.Popen[bytes]:
    """Return a child whose status has not been read yet."""
    child = subprocess.Popen(["sh", "-c", "exit 7"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    return child


def test_the_status_of_a_child_that_others_spawned_is_left_to_them(tmp_path: Path) -> None:
    async def work() -> int:
        async with processes_at(tmp_path) as processes:
            other = dead_child()
            await processes.run(command("true"), Watched().output)
            await processes.end_turn(TURN)
            return other.wait()

    assert limited(work()) == 7


def test_sixteen_commands_at_once_keep_their_outputs_apart(tmp_path: Path) -> None:
    async def one(processes: Processes, number: int) -> str:
        watched = Watched()
        await processes.run(command("sh", "-c", f"echo {number}; sleep 0.05; echo {number}"), watched.output)
        return watched.output.stdout.text()

    async def work() -> list[str]:
        async with processes_at(tmp_path) as processes:
            return await asyncio.gather(*(one(processes, number) for number in range(16)))

    assert limited(work()) == [f"{number}\n{number}\n" for number in range(16)]
