"""Conversations that come and go in one life of a daemon: the memory that each leaves, the collector's longest stop.

They live for some seconds, long enough to be old for the collector, and sleep then.
"""

import gc
import multiprocessing
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from bench.actors import plain_entry
from bench.whole.rows import Figure
from tests.faults.daemon_harness import ROOT, until
from tests.support.control_peer import ControlPeer
from tests.support.daemon_process import DaemonProcess
from tests.support.timed_daemon import STOPS

COUNT, WARM, AT_ONCE = 10_000, 2_000, 8
PARK_S = 3
SLEEP_S = 60.0  # for the last of them; they need little more than PARK_S
TIMERS_S = 11.0  # for timers that hold lookups of the disk
YOUNG = 20_000  # objects that the daemon lets gather between two looks at more than the newest
CONFIG = """
model_provider = "quick"
model = "quick"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[greenroom]
idle_park_seconds = {park_s}
[model_providers.quick]
base_url = "{base_url}"
"""


def parking(directory: Path) -> list[Figure]:
    stops = directory / "stops"
    with (
        quick_model() as base_url,
        DaemonProcess(
            directory / "home",
            CONFIG.format(park_s=PARK_S, base_url=base_url),
            {STOPS: str(stops)},
            program="tests.support.timed_daemon",
        ) as daemon,
    ):
        client = daemon.connect("bench")
        come_and_go(client, WARM)  # as many as live at the same time, and everything that is loaded once
        before = daemon.resident_bytes()
        longest_stop_s(daemon, stops)
        come_and_go(client, COUNT)
        left = (daemon.resident_bytes() - before) / COUNT / 1024
        longest_s = longest_stop_s(daemon, stops)
    what = f"of {COUNT:,} that were open for {PARK_S} s and sleep"
    return [
        Figure(f"memory kept by each {what}", left, "KiB", entry_kib(), "entry of a plain dict", "≤ 1"),
        Figure(
            f"collector's longest stop in the life {what}, processor time",
            longest_s * 1e3,
            "ms",
            look_ms(),
            f"a look at {YOUNG:,} young lists",
            "≤ 20",
        ),
    ]


def come_and_go(client: ControlPeer, count: int) -> None:
    """Open so many conversations, each with a turn, and wait until all of them sleep."""
    for _ in range(0, count, AT_ONCE):
        opening = [client.start("conversation/create") for _ in range(AT_ONCE)]
        opened = [client.answer(request)["conversation"] for request in opening]
        sending = [
            client.start("conversation/send", conversation=conversation, prompt="x", wait=True)
            for conversation in opened
        ]
        for request in sending:
            client.answer(request)
    until(lambda: not client.call("daemon/status")["registry"]["live"], "they never slept", SLEEP_S)
    time.sleep(TIMERS_S)


def longest_stop_s(daemon: DaemonProcess, stops: Path) -> float:
    """Return the longest stop since the last call."""
    stops.unlink(missing_ok=True)
    daemon.signal(signal.SIGUSR2)
    until(stops.exists, "the daemon never told of its stops")
    return float(stops.read_text(encoding="ascii"))


def entry_kib() -> float:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        return fresh.submit(plain_entry).result()


def look_ms() -> float:
    gc.collect()
    gc.disable()
    young: list[list[None]] = [[] for _ in range(YOUNG)]
    began = time.thread_time()
    gc.collect(1)
    took_ms = (time.thread_time() - began) * 1e3
    gc.enable()
    assert len(young) == YOUNG
    return took_ms


@contextmanager
def quick_model() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "bench.growth.quick_model"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as model:
        assert model.stdout is not None
        try:
            yield model.stdout.readline().strip()
        finally:
            model.terminate()
