"""The journal: many conversations appending at once, next to one commit per event and to bare SQLite.

One thread commits, as in the daemon: a group has all events that came during the commit before it.
"""

import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from actors.vocabulary.conditions import Condition
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.records import Append, Head, ListQuery, Record
from supervisor.journal import SqliteJournal

CONVERSATIONS = 100
ROUNDS = 5
GROUPS = 40  # commits in a round
SINGLES = 400  # commits of one event each in a round
BODY = b'{"type":"agent_message","message":"' + b"w" * 260 + b'"}'
TURN = TurnId("0198e1a5-turn")
LISTED = 10_000
EVENTS_PER_S, RATIO = 5_000, 20  # our claim
INSTANT_SYNC_S = 0.0005  # faster than a disk that waits for its medium; a cache that survives power cuts is as fast


@dataclass(frozen=True, slots=True)
class Figures:
    rate: float
    commit_s: float


class Speakers:
    """Conversations that always have something to say."""

    def __init__(self, count: int) -> None:
        self.lasts = {ConversationId(f"00000000-0000-4000-8000-{n:012d}"): 0 for n in range(count)}

    def open(self, journal: SqliteJournal) -> None:
        assert not any(journal.commit([Append(of, (), head(of)) for of in self.lasts]))

    def say(self, of: ConversationId, count: int) -> Append:
        last = self.lasts[of]
        self.lasts[of] = last + count
        new = tuple(Record(last + i, 1e9, TURN, "agent_message", BODY) for i in range(1, count + 1))
        return Append(of, new, durable=True)


def head(of: ConversationId) -> Head:
    return Head(
        conversation=of,
        name=None,
        cwd="/home/u/project",
        model="m",
        state=Condition.IDLE,
        preview="what was said first",
        settings=b"{}",
        checkpoint=b"",
        checkpoint_seq=0,
        created=1e9,
        updated=1e9,
        last_seq=0,
        generation=1,
    )


def time_steps(times: int, step: Callable[[int], None], events: int) -> Figures:
    took = []
    for number in range(times):
        started = time.perf_counter()
        step(number)
        took.append(time.perf_counter() - started)
    return Figures(events * times / sum(took), statistics.median(took))


def measure_groups(journal: SqliteJournal, speakers: Speakers, each: int) -> Figures:
    def step(_: int) -> None:
        assert not any(journal.commit([speakers.say(of, each) for of in speakers.lasts]))

    return time_steps(GROUPS, step, CONVERSATIONS * each)


def measure_singles(journal: SqliteJournal, speakers: Speakers, *, durable: bool = True) -> Figures:
    ids = list(speakers.lasts)

    def step(number: int) -> None:
        append = replace(speakers.say(ids[number % CONVERSATIONS], 1), durable=durable)
        assert journal.commit([append]) == [None]

    return time_steps(SINGLES, step, 1)


def floor(path: Path, each: int) -> Figures:
    """Bare SQLite: the same bytes by executemany into one table with its key, and a commit."""
    columns = "c INTEGER, seq INTEGER, ts REAL, turn TEXT, type TEXT, body BLOB, PRIMARY KEY (c, seq)"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL").fetchall()
        db.execute(f"CREATE TABLE events ({columns})")

        def step(number: int) -> None:
            seqs = range(number * each, number * each + each)
            rows = [(c, seq, 1e9, TURN, "agent_message", BODY) for c in range(CONVERSATIONS) for seq in seqs]
            db.execute("BEGIN")
            db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
            db.execute("COMMIT")

        return time_steps(GROUPS, step, CONVERSATIONS * each)


def sync_s(path: Path) -> float:
    """Seconds that this disk takes to keep 4 KiB, by its own word."""
    sync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync
    with path.open("wb", buffering=0) as file:

        def step(_: int) -> None:
            file.write(b"x" * 4096)
            sync(file.fileno())

        return time_steps(200, step, 1).commit_s


def cpu_s(journal: SqliteJournal, speakers: Speakers) -> float:
    of = next(iter(speakers.lasts))
    took = []
    for _ in range(SINGLES):
        append = speakers.say(of, 1)
        started = time.thread_time()
        journal.commit([append])
        took.append(time.thread_time() - started)
    return statistics.median(took)


def listing(path: Path) -> tuple[float, float]:
    with closing(SqliteJournal(path)) as journal:
        speakers = Speakers(LISTED)
        speakers.open(journal)
        journal.commit([speakers.say(of, 3) for of in speakers.lasts])
    started = time.perf_counter()
    with closing(SqliteJournal(path)) as journal:
        opened = time.perf_counter() - started

        def step(_: int) -> None:
            assert journal.list_page(ListQuery(limit=20)).total == LISTED

        return opened, time_steps(SINGLES, step, 1).commit_s


def row(name: str, rounds: list[Figures]) -> float:
    rate = statistics.median(round_.rate for round_ in rounds)
    commit = statistics.median(round_.commit_s for round_ in rounds)
    print(f"  {name:<46}{rate:>10,.0f} events/s   commit p50 {commit * 1e3:>7.2f} ms")
    return rate


def measure(folder: Path) -> bool:
    found: dict[str, list[Figures]] = {
        name: [] for name in ("single", "relaxed", "few", "many", "floor 1", "floor 10")
    }
    for number in range(ROUNDS):  # all kinds in each round, so that other load of the machine meets all of them
        with closing(SqliteJournal(folder / f"round-{number}.db")) as journal:
            speakers = Speakers(CONVERSATIONS)
            speakers.open(journal)
            found["single"].append(measure_singles(journal, speakers))
            found["relaxed"].append(measure_singles(journal, speakers, durable=False))
            found["few"].append(measure_groups(journal, speakers, 1))
            found["many"].append(measure_groups(journal, speakers, 10))
            cpu = cpu_s(journal, speakers)
        found["floor 1"].append(floor(folder / f"floor-{number}-1.db", 1))
        found["floor 10"].append(floor(folder / f"floor-{number}-10.db", 10))
    single_rate = row("one durable commit per event", found["single"])
    row("one commit per event, not durable", found["relaxed"])
    few = row(f"{CONVERSATIONS} conversations at once, 1 event each", found["few"])
    many = row(f"{CONVERSATIONS} conversations at once, 10 events each", found["many"])
    row(f"floor: bare SQLite, {CONVERSATIONS} x 1 events", found["floor 1"])
    row(f"floor: bare SQLite, {CONVERSATIONS} x 10 events", found["floor 10"])
    print(f"  grouped / single: {few / single_rate:.1f}x with 1 event each, {many / single_rate:.1f}x with 10 each")
    print(f"  one small durable commit takes {cpu * 1e3:.2f} ms of CPU (p50)")
    return min(few, many) >= EVENTS_PER_S and many >= RATIO * single_rate


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="bench-journal-", dir=os.environ.get("BENCH_DIR")) as name:
        folder = Path(name)
        sync = sync_s(folder / "sync")
        print(
            f"  {platform.system()}, SQLite {sqlite3.sqlite_version}, medians of {ROUNDS} rounds, all groups durable"
        )
        print(f"  write + fdatasync of 4 KiB: p50 {sync * 1e3:.2f} ms")
        if sync < INSTANT_SYNC_S:
            print("  this disk acknowledges fsync early: single commits look cheap here, so the ratios are small")
        held = measure(folder)
        opened, listed = listing(folder / "many.db")
        print(f"  {LISTED:,} conversations: opened in {opened * 1e3:.1f} ms, 20 listed in {listed * 1e3:.2f} ms")
        print(f"  claim (>= {EVENTS_PER_S:,}/s, >= {RATIO}x with 10 each): {'held' if held else 'NOT HELD'}")
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
