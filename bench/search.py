"""The search: its reading speed, the time of a commit meanwhile, and the time of a search.

python -m bench.search [EVENTS]      200,000 unless a number is given
"""

import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Record
from bench.journal import TURN, head
from supervisor.engine.indexing import LEAST_PAUSE_S, PAUSE
from supervisor.journal import SqliteJournal
from supervisor.search.index import PIECE_EVENTS, SearchIndex
from transports.supervisor_requests import Search

EVENTS = 200_000
CONVERSATIONS = 200
ROUNDS = 8  # one without the search and one with it, as the machine has better and worse moments
COMMITS = 100
COMMIT_PAUSE_S = 0.002  # as a turn has them between its events
SEARCHES = 20
VOCABULARY = 20_000  # words, the first of them common and the last rare, as in a language
SAID = 40  # words of an event


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    with tempfile.TemporaryDirectory(dir=Path.home()) as place:
        directory = Path(place)
        journal = SqliteJournal(directory / "journal.sqlite3")
        index = SearchIndex(directory / "search.sqlite3", directory / "journal.sqlite3")
        fill(journal, count)
        alone, meanwhile = list[float](), list[float]()
        for number in range(ROUNDS):
            alone += commits(journal, 2 * number)
            stop = threading.Event()
            reading = threading.Thread(target=read, args=(index, stop, as_the_daemon_does))
            reading.start()
            meanwhile += commits(journal, 2 * number + 1)
            stop.set()
            reading.join()
        began, steps = time.perf_counter(), list[float]()
        read(index, threading.Event(), lambda _: 0.0, steps)
        took = time.perf_counter() - began
        ours = index.bytes_on_disk() / 2**20
        print(f"{count:,} events, {ours:.0f} MiB beside {size(directory):.0f} MiB of journal")
        rate = len(steps) * PIECE_EVENTS / took
        print(f"read: {rate:,.0f} events/s without pauses, a piece {describe_times(steps)}")
        print(f"commit: {describe_times(alone)} alone, {describe_times(meanwhile)} while the search reads")
        for what, words in QUERIES.items():
            print(f"search for {what}: {describe_times(searches(index, words))}")
        began = time.perf_counter()
        journal.delete(conversation(0))
        index.check()
        read(index, threading.Event(), lambda _: 0.0)
        print(f"forget a conversation of {count // CONVERSATIONS} events: {time.perf_counter() - began:.2f} s")
        index.close()
        journal.close()


QUERIES = {
    "a rare word": f"w{VOCABULARY - 1}",
    "a common word": "w1",
    "two common words": "w1 w2",
    "a phrase": '"w1 w2"',
    "a beginning": "w19*",
    "nothing": "nothing",
}


def as_the_daemon_does(took: float) -> float:
    return max(LEAST_PAUSE_S, PAUSE * took)


def read(
    index: SearchIndex, stop: threading.Event, pause: Callable[[float], float], steps: list[float] | None = None
) -> None:
    more = True
    while more and not stop.is_set():
        began = time.perf_counter()
        more = index.step()
        took = time.perf_counter() - began
        if steps is not None:
            steps.append(took)
        time.sleep(pause(took))


def fill(journal: SqliteJournal, count: int) -> None:
    chance = random.Random(1)
    words = [f"w{number}" for number in range(VOCABULARY)]
    weights = list(accumulate(1 / (number + 1) for number in range(VOCABULARY)))
    each = count // CONVERSATIONS
    for number in range(CONVERSATIONS):
        said = (" ".join(chance.choices(words, cum_weights=weights, k=SAID)) for _ in range(each))
        records = tuple(record(seq, text) for seq, text in enumerate(said, 1))
        target = conversation(number)
        assert journal.commit([Append(target, (), head(target))]) == [None]
        assert journal.commit([Append(target, records)]) == [None]


def conversation(number: int) -> ConversationId:
    return ConversationId(f"00000000-0000-4000-8000-{number:012d}")


def record(seq: int, text: str) -> Record:
    return Record(seq, 1e9, TURN, "agent_message", f'{{"type":"agent_message","message":"{text}"}}'.encode())


def commits(journal: SqliteJournal, seed: int) -> list[float]:
    target = ConversationId(f"00000000-0000-4000-8000-{10**9 + seed:012d}")
    assert journal.commit([Append(target, (), head(target))]) == [None]
    took = []
    for seq in range(1, COMMITS + 1):
        began = time.perf_counter()
        assert journal.commit([Append(target, (record(seq, "one more"),), durable=True)]) == [None]
        took.append(time.perf_counter() - began)
        time.sleep(COMMIT_PAUSE_S)
    return took


def searches(index: SearchIndex, words: str) -> list[float]:
    took = []
    for _ in range(SEARCHES):
        began = time.perf_counter()
        index.search(Search(words))
        took.append(time.perf_counter() - began)
    return took


def describe_times(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p99 = ordered[int(len(ordered) * 0.99)]
    return f"p50 {statistics.median(ordered) * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms"


def size(directory: Path) -> float:
    return sum(file.stat().st_size for file in directory.glob("journal.sqlite3*")) / 2**20


if __name__ == "__main__":
    main()
