"""The same work beside ever more conversations that sleep: a daemon for each number of them, all three alive.

The measurements go round the daemons in turns, so that other load of the machine meets all of them. The journals
are written by `journal_of`; the search has read them.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench.growth.curves import Curve, Growth, size_names, usual_p99
from bench.growth.journal_of import NAMED, id_of, name_of, write
from bench.growth.search import indexed_s
from bench.whole import floors
from bench.whole.interrupting import interrupts_ms
from bench.whole.rows import p50, p99
from bench.whole.stage import DaemonAndModel
from bench.whole.turning import turn_ms
from tests.faults.daemon_harness import DaemonHarness, served_by

SIZES = (1_000, 100_000, 1_000_000)
BYTES_EACH = 3 << 10  # of a conversation on disk, at most
PREFIX = 13  # characters of an id, with its first dash
STARTS, ROUNDS = 11, 30
ASKED, TURNS, INTERRUPTS = 8, 6, 20  # of each round
MOST = "≤ 1.3 times"
NOTE = """Of the conversations that sleep, a tenth are archived and a tenth have names. The daemons run beside each
other and are asked in turns. `greenroom ls` is the whole command, as typed at a shell."""

Samples = dict[str, list[float]]


@dataclass(eq=False, slots=True)
class DaemonAtSize:
    """A daemon with so many conversations, and its measurements."""

    size: int
    harness: DaemonHarness
    found: Samples = field(default_factory=dict)

    def add(self, what: str, *values: float) -> None:
        self.found.setdefault(what, []).extend(values)

    def start(self) -> None:
        with self.harness as harness:
            harness.caller().call("conversation/list", limit=1)
            self.add("memory", harness.rss() / 2**20)
        self.add("start", harness.ready_s[-1] * 1e3)


class Round:
    """The uses of a daemon, each of another conversation, chosen at random."""

    def __init__(self, beside: DaemonAtSize, base_url: str, model_pid: int) -> None:
        self._beside = beside
        self._random = Random(beside.size)
        self._caller = beside.harness.caller("bench")
        self._stage = DaemonAndModel(beside.harness, base_url, model_pid, self._caller)
        self._spoken_to = self._caller.create()
        self._ls = [str(Path(sys.executable).with_name("greenroom")), "ls"]

    def go(self) -> None:
        add = self._beside.add
        add("ls", *self._times(1, self._list_by_command))
        add("list", *self._times(ASKED, lambda: self._caller.call("conversation/list", limit=20)))
        add("prefix", *self._times(ASKED, lambda: self._resolve(id_of(self._some())[:PREFIX])))
        add("name", *self._times(ASKED, lambda: self._resolve(str(name_of(self._some() // NAMED * NAMED)))))
        add("look", *self._times(1, lambda: self._caller.call("conversation/get", conversation=id_of(self._some()))))
        add("turn", *(turn_ms(self._stage, self._spoken_to) for _ in range(TURNS)))
        add("interrupt", *interrupts_ms(self._stage, INTERRUPTS))

    def _some(self) -> int:
        return self._random.randrange(self._beside.size)

    def _resolve(self, reference: str) -> None:
        self._caller.call("conversation/resolve", reference=reference)

    def _list_by_command(self) -> None:
        subprocess.run(self._ls, env=self._beside.harness.environ, check=True, capture_output=True)

    @staticmethod
    def _times(count: int, work: Callable[[], object]) -> Iterator[float]:
        return (floors.timed_ms(work) for _ in range(count))


def growth(directory: Path, base_url: str, model_pid: int, sizes: Sequence[int] = SIZES) -> Growth:
    needed = sum(sizes) * BYTES_EACH
    if shutil.disk_usage(directory).free < needed:
        raise SystemExit(f"{directory} has not the {needed >> 20:,} MiB that journals of {max(sizes):,} may take")
    besides = [make_beside(directory, base_url, size) for size in sizes]
    for _ in range(STARTS):
        for beside in besides:
            beside.start()
    with ExitStack() as alive:
        rounds = [Round(alive_with(alive, beside), base_url, model_pid) for beside in besides]
        for _ in range(ROUNDS):
            for round_ in rounds:
                round_.go()
        for beside in besides:
            beside.add("memory after", beside.harness.rss() / 2**20)
    title, of = "Parked conversations", "parked conversations"
    return Growth("conversations", title, of, size_names(sizes), curves(besides, base_url), NOTE)


def make_beside(directory: Path, base_url: str, size: int) -> DaemonAtSize:
    harness = DaemonHarness(directory / str(size), served_by(base_url))
    Path(harness.paths.journal_file).parent.mkdir(parents=True)
    write(Path(harness.paths.journal_file), size)
    indexed_s(harness)  # otherwise the search would read for minutes beside the measurements
    return DaemonAtSize(size, harness)


def alive_with(alive: ExitStack, beside: DaemonAtSize) -> DaemonAtSize:
    alive.enter_context(beside.harness)
    return beside


def curves(besides: Sequence[DaemonAtSize], base_url: str) -> list[Curve]:
    echo = p50(floors.echo_ms())

    def curve(
        what: str,
        key: str,
        floor: float,
        floor_is: str,
        unit: str = "ms",
        taken: Callable[[Sequence[float]], float] = p50,
    ) -> Curve:
        by_size = {beside.size: taken(beside.found[key]) for beside in besides}
        return Curve(what, unit, by_size, floor, floor_is, MOST)

    bare_interpreter, bare_mib = "bare interpreter", floors.interpreter_mib()
    killed, bare_process = p99(floors.kill_ms()), "TERM to a bare process"
    return [
        curve(f"start to `ready`, best of {STARTS}", "start", floors.interpreter_ms(), bare_interpreter, taken=min),
        curve("`greenroom ls`, p50", "ls", floors.interpreter_ms("import socket, json"), "interpreter, socket, json"),
        curve("list of 20, p50", "list", echo, "socket echo"),
        curve("resolve by prefix, p50", "prefix", echo, "socket echo"),
        curve("resolve by name, p50", "name", echo, "socket echo"),
        curve("look at one that sleeps, p50", "look", echo, "socket echo"),
        curve("one-word turn, p50", "turn", p50(floors.http_ms(base_url, "say x", 100)), "bare HTTP read"),
        curve("interrupt of a running command, p99", "interrupt", killed, bare_process, taken=usual_p99),
        curve("memory when started", "memory", bare_mib, bare_interpreter, "MiB"),
        curve("memory after all of this", "memory after", bare_mib, bare_interpreter, "MiB"),
    ]
