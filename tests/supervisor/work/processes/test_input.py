"""The input of a command: written while it runs, bounded by its pipe, and of no use after its end."""

import asyncio
from pathlib import Path

from actors.vocabulary.ids import TurnId
from supervisor.work.processes.command import Finished
from supervisor.work.processes.input import PIECE, Input
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
    until,
)

pytestmark = ON_LINUX
MEGABYTE = 1 << 20


def processes_at(tmp_path: Path) -> Processes:
    return Processes(tmp_path / "ledger", INSTANCE, 0.2)


def test_a_command_reads_what_is_written_and_then_the_end(tmp_path: Path) -> None:
    async def work() -> None:
        watched, given = Watched(), Input()
        async with processes_at(tmp_path) as processes:
            running = asyncio.create_task(processes.run(command("cat"), watched.output, given))
            await until(lambda: given.is_open)
            assert await given.write(b"first\n") == 6
            await until(lambda: watched.output.stdout.text() == "first\n")
            given.close()
            assert isinstance(done := await running, Finished)
            assert done.exit_code == 0

    limited(work())


def test_a_large_text_waits_for_its_reader_and_arrives_whole(tmp_path: Path) -> None:
    async def work() -> None:
        watched, given = Watched(), Input()
        async with processes_at(tmp_path) as processes:
            running = asyncio.create_task(processes.run(command("wc", "-c"), watched.output, given))
            await until(lambda: given.is_open)
            assert await given.write(b"x" * (3 * MEGABYTE)) == 3 * MEGABYTE
            given.close()
            await running
        assert watched.output.stdout.text().strip() == str(3 * MEGABYTE)

    limited(work())


def test_writing_to_a_command_that_reads_nothing_ends_with_the_command(tmp_path: Path) -> None:
    async def work() -> None:
        given = Input()
        async with processes_at(tmp_path) as processes:
            running = asyncio.create_task(processes.run(command("sleep", "60"), Watched().output, given))
            await until(lambda: given.is_open)
            writing = asyncio.create_task(given.write(b"x" * (4 * PIECE)))
            await asyncio.sleep(0)
            await processes.end_turn(TURN)
            await running
            assert await writing < 4 * PIECE
            assert await given.write(b"more") == 0

    limited(work())


def test_the_end_of_a_turn_is_the_end_of_a_tied_job_and_of_no_other(tmp_path: Path) -> None:
    async def work() -> None:
        tied, free = new_token(), new_token()
        async with processes_at(tmp_path) as processes:
            processes.tie(TurnId("job-tied"), TURN)
            runs = [
                asyncio.create_task(
                    processes.run(command("sleep", "60", turn=turn, env={"T": token}), Watched().output)
                )
                for turn, token in ((TurnId("job-tied"), tied), (TurnId("job-free"), free))
            ]
            await until(lambda: bool(alive(tied)) and bool(alive(free)))
            await processes.end_turn(TURN)
            assert (alive(tied), len(alive(free))) == ([], 1)
        assert alive(free) == []
        await asyncio.gather(*runs)

    limited(work())
