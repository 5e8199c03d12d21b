"""A daemon that starts removes what the commands of a killed one have left in people's directories."""

import os
from pathlib import Path

import pytest

from supervisor.disk.folders import open_folder
from supervisor.work.sandbox.leftovers import LeftoverLedger, entry_in
from tests.support.engine_harness import EngineHarness


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
def test_the_next_daemon_removes_an_empty_git_and_ends_its_own_life_without_a_ledger(harness: EngineHarness) -> None:
    ledgers = Path(harness.engine.paths.leftovers)
    folder = open_folder(harness.workspace)
    harness.stop()
    LeftoverLedger(ledgers).note(entry_in(folder, ".git"))
    (harness.workspace / ".git").mkdir()
    assert len(list(ledgers.iterdir())) == 1
    harness._start()
    assert not (harness.workspace / ".git").exists()
    assert list(ledgers.iterdir()) == []
    os.close(folder)
