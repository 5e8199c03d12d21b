"""Modules that are loaded late are loaded whole, whichever threads ask for them first."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from supervisor.daemon.late_imports import load_late
load_late()
import importlib.metadata, shutil, zoneinfo
sys.setswitchinterval(1e-6)  # so that threads meet in the middle of it
gate, failed = threading.Barrier(8), []

def ask():
    gate.wait()
    try:
        {use}
    except Exception as error:
        failed.append(repr(error))

threads = [threading.Thread(target=ask) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
sys.exit(str(failed) if failed else 0)
"""


@pytest.mark.parametrize(
    "use", ["shutil.which('sh')", "importlib.metadata.entry_points(group='none')", "zoneinfo.ZoneInfo('UTC')"]
)
def test_threads_that_use_a_module_first_at_once_all_find_it_whole(use: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(use=use)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
