"""All kinds of load at once, for long: the daemon's memory at the end is that after five minutes.

Thirty minutes with thirty conversations; MIXED_LOAD_S says another time in seconds, to try the tool itself. Alone:
`python -m pytest -m soak --timeout 3600 tests/faults/test_mixed_load.py`.
"""

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Measure
from tests.faults.daemon_harness import until
from tests.support.control_peer import ControlPeer, Refused
from tests.support.daemon_process import ROOT, DaemonProcess
from tests.support.history_files import file_of

FULL_S = float(os.environ.get("MIXED_LOAD_S", "1800"))
SETTLED = 1 / 6  # of the time: five minutes of thirty
GROWTH = 20 << 20
CONVERSATIONS, WORKERS = 30, 8
EXPECTED = {"busy", "wrong_state", "unknown_conversation", "queue_full", "cancelled", "overloaded", "turn_failed"}
EXPECTED |= {"unknown_approval", "already_answered"}
PATIENCE_S = 120.0  # eight workers, and whatever else the machine does meanwhile
CONFIG = """
model_provider = "demo"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[greenroom]
idle_park_seconds = 5
interrupt_grace_ms = 100
drain_seconds = 0
"""


class Load:
    """A worker with a connection of its own and a seeded random generator."""

    def __init__(self, daemon: DaemonProcess, names: list[str], seed: int, counts: "Counter[str]") -> None:
        self.daemon, self.names, self.counts = daemon, names, counts
        self.chance = random.Random(seed)  # no secret
        self.peer = daemon.connect(f"worker-{seed}")
        self.failure: BaseException | None = None
        kinds: tuple[Callable[[], Any], ...] = (
            self.say, self.say, self.command, self.noise, self.interrupt, self.answer, self.attach,
            self.fork_and_delete, self.export_and_import, self.look, self.look_by_hand,
        )  # fmt: skip
        self.kinds = kinds

    def run(self, end: float) -> None:
        try:
            while time.monotonic() < end:
                self.step(self.chance.choice(self.kinds))
        except BaseException as error:  # noqa: BLE001  # told by the test, on its own thread
            self.failure = error

    def step(self, kind: Callable[[], Any]) -> None:
        try:
            kind()
        except Refused as refused:
            if refused.name not in EXPECTED:
                raise
        self.counts[kind.__name__] += 1

    def call(self, method: str, **params: Any) -> Any:
        return self.peer.answer(self.peer.start(method, **params), PATIENCE_S)

    def send(self, conversation: str, prompt: str, *, wait: bool = True) -> None:
        self.call("conversation/send", conversation=conversation, prompt=prompt, wait=wait, if_busy="reject")

    @property
    def one(self) -> str:
        return self.chance.choice(self.names)

    def say(self) -> None:
        self.send(self.one, f"say {'word ' * self.chance.randrange(200)}")

    def command(self) -> None:
        self.send(self.one, "run true")

    def noise(self) -> None:
        self.send(self.one, "run head -c 300000 /dev/urandom | base64")

    def interrupt(self) -> None:
        one = self.one
        self.send(one, "run sleep 5", wait=False)
        self.call("conversation/interrupt", conversation=one)

    def answer(self) -> None:
        made = self.peer.create(approval_policy="untrusted")
        self.send(made, "run touch /dev/null", wait=False)
        until(lambda: self.asked(made), "it was not asked")
        (question,) = self.asked(made)
        self.call("approvals/answer", approval=question["approval_id"], decision="denied")
        self.call("conversation/interrupt", conversation=made)
        self.call("conversation/delete", conversation=made)

    def asked(self, conversation: str) -> list[Any]:
        found: list[Any] = self.call("approvals/list", conversation=conversation)["approvals"]
        return found

    def attach(self) -> None:
        with ControlPeer(self.daemon.socket, "reader") as reader:
            one = self.one
            subscription = reader.attach(one)
            reader.wait_live(subscription)
            seqs = subscription.seqs
            assert seqs == list(range(1, len(seqs) + 1)), "a hole in what a reader got"

    def fork_and_delete(self) -> None:
        fork = self.call("conversation/fork", conversation=self.one)["conversation"]
        self.call("conversation/delete", conversation=fork)

    def export_and_import(self) -> None:
        with file_of(()) as file:
            self.call("conversation/export", conversation=self.one, file=file)
            copy = self.call("conversation/import", file=file, new_id=True)["conversation"]
        self.call("conversation/delete", conversation=copy)

    def look(self) -> None:
        self.call("conversation/list", archived=True)
        self.call("conversation/history", conversation=self.one)
        self.call("daemon/status")

    def look_by_hand(self) -> None:
        words = self.chance.choice((["ls"], ["status"], ["logs", self.one], ["approvals"], ["clients"]))
        program = str(Path(sys.executable).with_name("greenroom"))
        done = subprocess.run([program, *words], env=self.daemon.environ, cwd=ROOT, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


def lasts(home: Path, measure: Measure, for_s: float, growth: int) -> None:
    counts: Counter[str] = Counter()
    with (
        measure("X", f"{CONVERSATIONS} conversations, everything at once") as row,
        DaemonProcess(home, CONFIG) as daemon,
    ):
        with daemon.connect("first") as first:
            names = [first.create(name=f"mixed-{number}") for number in range(CONVERSATIONS)]
        end = time.monotonic() + for_s
        loads = [Load(daemon, names, seed, counts) for seed in range(WORKERS)]
        threads = [threading.Thread(target=load.run, args=(end,)) for load in loads]
        for thread in threads:
            thread.start()
        time.sleep(for_s * SETTLED)  # what is measured is time itself
        settled = daemon.resident_bytes()
        for thread in threads:
            thread.join(for_s + 60)
        assert [load.failure for load in loads if load.failure is not None] == []
        after = daemon.resident_bytes()
        row.times = sum(counts.values())
        row.notes.append(f"{settled >> 20} MiB after a sixth of the time, {after >> 20} MiB at the end")
        row.notes.append(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
        bad = [one for one in daemon.log() if one.get("level") in {"error", "critical"}]
        assert bad == []
        assert after - settled < growth, row.notes


@pytest.mark.soak(takes_s=FULL_S + 30)
@pytest.mark.quiet
@pytest.mark.timeout(FULL_S + 300)
def test_memory_stays_where_it_was_after_a_sixth_of_the_time(home: Path, measure: Measure) -> None:
    lasts(home, measure, FULL_S, GROWTH)
