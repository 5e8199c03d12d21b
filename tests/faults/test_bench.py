"""The bench's own instruments: the client that measures any codex-shaped server, and the table."""

import sys
from pathlib import Path

import pytest

from bench.whole.peer import Unanswered, Workload
from bench.whole.rows import Figure, markdown, terminal
from tests.faults.daemon_harness import ROOT

FAKE = f"{sys.executable} -SE {ROOT / 'tests' / 'faults' / 'fake_peer.py'}"


def test_the_peers_client_measures_a_server_of_the_codex_shape(tmp_path: Path) -> None:
    rows = Workload(FAKE, "http://127.0.0.1:1/v1", tmp_path).rows("fake")
    assert [row.what for row in rows] == [
        "fake: start to the answer of initialize",
        "fake: `codex` with a one-word turn, p50",
        "fake: `codex` with a one-word turn, p99",
        "fake: deltas in one stream",
        "fake: CPU per delta, all of its processes",
        "fake: cancelled while a command runs: until that is said, p50",
        "fake: cancelled while a command runs: until its processes are gone, p50",
    ]
    assert all(row.value > 0 for row in rows if "CPU" not in row.what)  # which is counted in hundredths of a second


def test_a_server_that_goes_without_an_answer_is_said_to_have_gone(tmp_path: Path) -> None:
    with pytest.raises(Unanswered):
        Workload(f"{FAKE} --deaf", "http://127.0.0.1:1/v1", tmp_path).rows("deaf")


def test_a_ratio_says_how_far_a_figure_is_from_its_floor_whichever_way_is_better() -> None:
    slower = Figure("a", 10.0, "ms", 5.0, "bare")
    fewer = Figure("b", 50.0, "/s", 100.0, "bare", more_is_better=True)
    assert slower.ratio == fewer.ratio == "2.00 times"
    assert Figure("c", 1.0, "ms").ratio == ""
    assert "2.00 times" in terminal([slower])
    assert markdown([slower, fewer]).count("\n") == 3
