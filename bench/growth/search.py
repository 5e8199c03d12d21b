"""The search with ever more to find: a daemon for each size, asked in turns over its socket.

Words come as often as those of a language: a few of them everywhere, most of them seldom. The file is filled here,
piece by piece and without the pauses that the daemon makes between them.
"""

import itertools
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.growth.curves import Curve, Growth, size_names
from bench.growth.histories import Json, import_history
from bench.whole import floors
from bench.whole.rows import p50
from supervisor.search.index import SearchIndex
from tests.faults.caller import Caller
from tests.faults.daemon_harness import DEMO, DaemonHarness

SIZES = (1_000, 10_000, 100_000)
EACH = 1_000  # events of a conversation
VOCABULARY, WORDS = 20_000, 60  # of a language, of a message
RARE = "needle"  # in the first message of each conversation, beside its number
ROUNDS, ASKED = 15, 4
OFF = "[greenroom]\nsearch = false\n"
QUERIES = {
    "a word that is there once": {"query": f'"{RARE} 0"'},
    "a word of each message, newest": {"query": "w0"},
    "two words of every third message, newest": {"query": "w5 w6"},
    "words with one of many beginnings, newest": {"query": "w19*"},
    "a word of each message, best": {"query": "w0", "order": "best"},
}
NOTE = """Half of the events are messages of 60 words. The file is what the index takes on disk."""


@dataclass(eq=False, slots=True)
class FilledDaemon:
    """A daemon with so many events. `words_mib` is the size of all messages."""

    size: int
    harness: DaemonHarness
    words_mib: float
    index_s: float
    took_ms: dict[str, list[float]] = field(default_factory=dict)

    @property
    def file_mib(self) -> float:
        return Path(self.harness.paths.search_file).stat().st_size / 2**20

    def ask(self, caller: Caller) -> None:
        for what, query in QUERIES.items():
            search = partial(caller.call, "conversation/search", limit=20, **query)
            self.took_ms.setdefault(what, []).extend(floors.timed_ms(search) for _ in range(ASKED))


def growth(directory: Path) -> Growth:
    each = [fill_daemon(directory / str(size), size) for size in SIZES]
    with ExitStack() as alive:
        callers = [alive.enter_context(daemon.harness).caller() for daemon in each]
        for caller in callers:
            for query in QUERIES.values():
                answer = caller.call("conversation/search", **query)
                assert answer["hits"], query
                assert answer["read"] == 1
        for _ in range(ROUNDS):
            for daemon, caller in zip(each, callers, strict=True):
                daemon.ask(caller)
    echo = p50(floors.echo_ms())
    queries = [
        Curve(what, "ms", {daemon.size: p50(daemon.took_ms[what]) for daemon in each}, echo, "socket echo")
        for what in QUERIES
    ]
    curves = [
        *queries,
        Curve(
            "indexing, for 1,000 events", "ms", {daemon.size: daemon.index_s / daemon.size * 1e6 for daemon in each}
        ),
        Curve("file", "MiB", {daemon.size: daemon.file_mib for daemon in each}),
        Curve("words", "MiB", {daemon.size: daemon.words_mib for daemon in each}),
    ]
    return Growth("search", "Search", "events", size_names(SIZES), curves, NOTE)


def fill_daemon(home: Path, size: int) -> FilledDaemon:
    language = Language()
    with DaemonHarness(home, DEMO + OFF) as harness:
        for number in range(size // EACH):
            import_history(harness.caller(), language.talk(number, EACH))
    harness.config = DEMO
    return FilledDaemon(size, harness, language.said / 2**20, indexed_s(harness))


def indexed_s(harness: DaemonHarness) -> float:
    """Fill the search file of a daemon that does not run, and return how long that took."""
    began = time.perf_counter()
    with closing(SearchIndex(Path(harness.paths.search_file), Path(harness.paths.journal_file))) as index:
        while index.step():
            pass
        return time.perf_counter() - began


class Language:
    """Messages of words `w0`, `w1`, …, each about as often as its number says. `said` counts their bytes."""

    def __init__(self) -> None:
        self.said = 0
        self._random = random.Random(1)
        self._words = [f"w{number}" for number in range(VOCABULARY)]
        self._often = list(itertools.accumulate(1 / (number + 1) for number in range(VOCABULARY)))

    def talk(self, number: int, events: int) -> Iterator[tuple[str, Json, str]]:
        for turn in range(events // 4):
            asked = self._message(f"{RARE} {number}" if turn == 0 else "")
            yield "task_started", {}, f"t{turn}"
            yield (
                "user_message",
                {"message": asked, "items": [{"type": "text", "text": asked}], "input_id": f"i{turn}"},
                f"t{turn}",
            )
            yield "agent_message", {"message": self._message("")}, f"t{turn}"
            yield "task_complete", {}, f"t{turn}"

    def _message(self, first: str) -> str:
        words = self._random.choices(self._words, cum_weights=self._often, k=WORDS)
        text = " ".join([first, *words])
        self.said += len(text)
        return text
