"""The journal next to itself with more conversations: `python -m bench.growth.journal [COUNT …]`.

All sizes are measured in turns, so that other load of the machine meets all of them. Each look-up is for another
conversation, chosen at random: with many of them its pages are in the system's cache, and not in SQLite's.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from actors.vocabulary.ids import TurnId
from actors.vocabulary.records import Append, Head, ListQuery, Record
from bench.growth.journal_of import NAMED, directory_of, id_of, name_of, write
from supervisor.journal import SqliteJournal

COUNTS = (1_000, 1_000_000)
ROUNDS, TIMES = 20, 25
ACTIVE = 100  # conversations that are written to
STATES = ("running", "idle")
BODY = b'{"type":"agent_message","message":"' + b"w" * 260 + b'"}'


class Speakers:
    """Conversations that are written to, each with its head as it was stored last."""

    def __init__(self, journal: SqliteJournal, count: int) -> None:
        self._journal = journal
        heads = (journal.head(id_of(number)) for number in random.Random(1).sample(range(count), ACTIVE))
        self._heads: list[Head] = [head for head in heads if head is not None]

    def say(self, *, with_head: bool) -> None:
        number = random.randrange(ACTIVE)
        head = self._heads[number]
        now, seq = time.time(), head.last_seq + 1
        state = STATES[STATES.index(head.state) - 1] if head.state in STATES else head.state
        self._heads[number] = replace(head, state=state, updated=now, last_seq=seq)
        record = Record(seq, now, TurnId("a turn"), "agent_message", BODY)
        append = Append(head.conversation, (record,), self._heads[number] if with_head else None, durable=True)
        assert self._journal.commit([append]) == [None]


def uses(journal: SqliteJournal, count: int) -> dict[str, Callable[[], object]]:
    speakers = Speakers(journal, count)

    def some() -> int:
        return random.randrange(count)

    return {
        "commit of an event": lambda: speakers.say(with_head=False),
        "commit of an event and a head": lambda: speakers.say(with_head=True),
        "row": lambda: journal.row(id_of(some())),
        "named": lambda: journal.find_name(str(name_of(some() // NAMED * NAMED))),
        "starting_with": lambda: journal.starting_with(id_of(some())[:13], 2),
        "listed, 20": lambda: journal.list_page(ListQuery(limit=20)),
        "listed, 20, with the archived": lambda: journal.list_page(ListQuery(limit=20, archived=True)),
        "listed, 1 of a directory": lambda: journal.list_page(
            ListQuery(cwd=directory_of(some()), limit=1, archived=True)
        ),
        "unsettled": journal.unsettled_heads,
        "surplus, 100": lambda: journal.surplus(0, None, 100),
    }


def opened_s(path: Path) -> float:
    began = time.perf_counter()
    with closing(SqliteJournal(path)):
        return time.perf_counter() - began


def measure(paths: dict[int, Path]) -> dict[str, dict[int, float]]:
    """The median of each use in seconds, by the number of conversations."""
    found: dict[str, dict[int, float]] = {"opened": {}}
    for count, path in paths.items():
        found["opened"][count] = statistics.median(opened_s(path) for _ in range(ROUNDS))
    journals = {count: SqliteJournal(path) for count, path in paths.items()}
    steps = {count: uses(journal, count) for count, journal in journals.items()}
    for what in steps[min(paths)]:
        took: dict[int, list[float]] = {count: [] for count in paths}
        for _ in range(ROUNDS):
            for count, use in steps.items():
                took[count] += [time_s(use[what]) for _ in range(TIMES)]
        found[what] = {count: statistics.median(times) for count, times in took.items()}
    for journal in journals.values():
        journal.close()
    return found


def time_s(step: Callable[[], object]) -> float:
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def main() -> None:
    counts = sorted(map(int, sys.argv[1:])) or list(COUNTS)
    with tempfile.TemporaryDirectory(prefix="bench-growth-", dir=os.environ.get("BENCH_DIR")) as name:
        paths = {count: Path(name) / f"{count}.sqlite3" for count in counts}
        for count, path in paths.items():
            write(path, count)
        found = measure(paths)
    print(f"| ms, p50 | {' | '.join(f'{count:,}' for count in counts)} | times |")
    print(f"|---|{'---:|' * (len(counts) + 1)}")
    for what, by_count in found.items():
        times = " | ".join(f"{by_count[count] * 1e3:.3f}" for count in counts)
        print(f"| {what} | {times} | {by_count[counts[-1]] / by_count[counts[0]]:.2f} |")


if __name__ == "__main__":
    main()
