"""A daemon and a scripted model, each in a process of its own, and a client here."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.faults.caller import Caller
from tests.faults.daemon_harness import ROOT, DaemonHarness, served_by


@dataclass(frozen=True, slots=True)
class DaemonAndModel:
    harness: DaemonHarness
    base_url: str
    model_pid: int
    caller: Caller


@contextmanager
def scripted_model() -> Iterator[tuple[str, int]]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.model_server"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip(), server.pid
        finally:
            server.send_signal(signal.SIGTERM)


@contextmanager
def stage(home: Path, more: str = "") -> Iterator[DaemonAndModel]:
    with scripted_model() as (base_url, pid), DaemonHarness(home, served_by(base_url, more)) as harness:
        yield DaemonAndModel(harness, base_url, pid, harness.caller("bench"))


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def end_all(stage_: DaemonAndModel, conversations: list[str]) -> None:
    """End all turns and delete all rows, so that the next measurement begins in the same state."""
    interrupts = [
        stage_.caller.start("conversation/interrupt", conversation=conversation, kill=True)
        for conversation in conversations
    ]
    for interrupt in interrupts:
        interrupt.result(60)
    for conversation in conversations:
        stage_.caller.delete(conversation)
