"""Our own server keeps every promise of the judge."""

import sys
from functools import partial

import pytest

from tests.docs.pages import DOCS
from tests.faults.daemon_harness import everything
from tests.judges.promises.cases import ALL
from tests.judges.promises.trial import Trial, asleep
from tests.judges.report import Verdict, judge, judged, told

pytestmark = pytest.mark.long(takes_s=25)

PAGE = DOCS / "mcp-promises.md"
COMMAND = (sys.executable, "-P", "-m", "supervisor.cli.app", "mcp")
SIDE_BY_SIDE = 3  # most of a trial is a server's start; the rest is waiting


@pytest.mark.timeout(180)  # seventy servers start, on a machine that may be busy
def test_greenroom_keeps_every_promise(capsys: pytest.CaptureFixture[str]) -> None:
    heard = told(judge(partial(Trial, COMMAND), ALL, SIDE_BY_SIDE), print, whole=True)
    broken = [one.line(whole=True) for one in heard if one.verdict is not Verdict.KEPT]
    assert not broken, "\n".join(broken)
    assert f"{len(ALL)} of {len(ALL)} promises kept" in capsys.readouterr().out


def test_a_server_that_leaves_at_once_keeps_nothing() -> None:
    assert {judged(partial(Trial, ["true"]), one).verdict for one in ALL[:3]} == {Verdict.BROKEN}


def test_nothing_that_a_trial_has_started_is_left() -> None:
    with Trial(COMMAND) as trial:
        client = trial.server()
        client.codex(trial.settings(), asleep())
        trial.wait_for("sleep 4711")
    assert not dict(everything([str(trial.home).encode()]))
    assert not trial.home.exists()


def test_the_record_has_every_promise_once_as_kept() -> None:
    rows = [line.split(" | ")[:2] for line in PAGE.read_text(encoding="utf-8").splitlines() if " | kept | " in line]
    assert rows == [[f"| {one.words}", "kept"] for one in ALL]
