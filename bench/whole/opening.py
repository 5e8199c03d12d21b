"""Conversations opened a second, their memory, and the time of a start when there are many."""

import time
from collections.abc import Callable
from pathlib import Path

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, ListQuery
from bench.whole import floors
from bench.whole.rows import Figure, p50
from bench.whole.stage import DaemonAndModel, end_all
from supervisor.journal import SqliteJournal
from supervisor.services.forks_and_imports import make_fork
from tests.faults.daemon_harness import DaemonHarness

ROUNDS, OPENED = 5, 50
WEIGHED, KEPT = 300, 10_000


def empty(stage: DaemonAndModel) -> list[Figure]:
    floor = floors.interpreter_mib()
    return [
        Figure("memory of the empty daemon", stage.harness.rss() / 2**20, "MiB", floor, "bare interpreter", "≤ 40")
    ]


def opening(stage: DaemonAndModel, directory: Path) -> list[Figure]:
    commit_s = floors.commits_per_s(directory)
    caller = stage.caller

    def spoken_to() -> str:
        conversation = caller.create()
        caller.send(conversation, "say x", wait=True)
        return conversation

    bare, spoken = per_second(stage, caller.create), per_second(stage, spoken_to)
    floor = "commits of SQLite alone"
    return [
        Figure("conversations opened, one after another", bare, "/s", commit_s, floor, "≥ 300", more_is_better=True),
        Figure("the same, each with a one-word turn", spoken, "/s", commit_s, floor, "≥ 200", more_is_better=True),
    ]


def per_second(stage: DaemonAndModel, open_one: Callable[[], str]) -> float:
    """The rate in the median of several rounds: the first one pays for late imports."""
    rates, made = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        made += [open_one() for _ in range(OPENED)]
        rates.append(OPENED / (time.perf_counter() - began))
    end_all(stage, made)
    return p50(rates)


def weight(stage: DaemonAndModel) -> list[Figure]:
    """Memory of live conversations, then of the same parked, in a daemon that has only their rows."""
    caller = stage.caller
    made = [caller.create() for _ in range(WEIGHED)]
    before = stage.harness.rss()
    made += [caller.create() for _ in range(WEIGHED)]
    live = (stage.harness.rss() - before) / WEIGHED / 1024
    end_all(stage, made)
    return [Figure("memory per live conversation", live, "KiB", target="≤ 60")]


def restart(home: Path, config: str) -> list[Figure]:
    """A start with many rows next to one with none, and the memory of each parked row."""
    harness = DaemonHarness(home, config)
    with harness:
        harness.caller().create(name="pattern")
        none, empty_rss = harness.ready_s[0], harness.rss()
    fill(Path(harness.paths.journal_file), KEPT)
    times, rss = [], 0
    for _ in range(3):
        with harness:
            rss = harness.rss()
        times.append(harness.ready_s[-1])
    return [
        Figure(f"start with {KEPT:,} conversations", p50(times) * 1e3, "ms", none * 1e3, "with none", "≤ 250"),
        Figure("memory per parked conversation", (rss - empty_rss) / KEPT / 1024, "KiB", target="≤ 2"),
    ]


def fill(journal_file: Path, count: int) -> None:
    """Copy the one conversation many times, by the journal itself."""
    journal = SqliteJournal(journal_file)
    (pattern,) = journal.list_page(ListQuery()).heads
    for start in range(0, count, 500):
        ids = (ConversationId(f"{number:08x}-0000-4000-8000-000000000000") for number in range(start, start + 500))
        forks = [make_fork(journal, pattern.conversation, conversation, None, None) for conversation in ids]
        answers = journal.commit([Append(fork.head.conversation, fork.records, fork.head) for fork in forks])
        assert answers == [None] * 500, answers
    journal.close()
