"""Crash points are inert unless the variable names one, and only the daemon's own entry reads it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.crashing import VARIABLE, arm
from supervisor.journal.crashpoints import HOOKS, CrashPoint, reached

ROOT = Path(__file__).resolve().parents[2]
VISIT_TWICE = """
import os
from supervisor.crashing import arm
from supervisor.journal.crashpoints import CrashPoint, reached
arm(os.environ)
for number in (1, 2):
    reached(CrashPoint.SUSPENDING)
    print(number, sorted(name for name in os.environ if "CRASH" in name), flush=True)
"""


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    HOOKS.clear()


def test_nothing_is_armed_without_the_variable() -> None:
    arm({})
    assert not HOOKS
    for point in CrashPoint:
        reached(point)


def test_a_point_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError):
        arm({VARIABLE: "nowhere"})


def test_an_armed_process_ends_at_the_visit_that_was_named_and_hides_the_variable() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", VISIT_TWICE],
        env={**os.environ, VARIABLE: "suspending:2"},
        cwd=ROOT,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    assert ended.stdout == b"1 []\n"


def test_only_the_daemons_entry_arms_anything() -> None:
    users = {
        str(path.relative_to(ROOT))
        for package in ("actors", "transports", "supervisor")
        for path in (ROOT / package).rglob("*.py")
        if "crashing import" in path.read_text(encoding="utf-8") or "HOOKS[" in path.read_text(encoding="utf-8")
    }
    assert users == {"supervisor/__main__.py", "supervisor/crashing.py"}
