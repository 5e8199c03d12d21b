"""Behind Greenroom, third-party agents and our own keep every promise of the judge that applies to them."""

import sys
from functools import partial
from pathlib import Path

import pytest

from tests.judges.acp_promises.candidate import Candidate
from tests.judges.acp_promises.cases import ALL
from tests.judges.acp_promises.known import BEHIND, KNOWN, OWN, ROOT
from tests.judges.acp_promises.processes import of_home
from tests.judges.acp_promises.table import PAGE, page, recorded, summary
from tests.judges.acp_promises.trial import Trial
from tests.judges.installed import PYTHON, needs
from tests.judges.report import Verdict, judge, judged, told

pytestmark = pytest.mark.long(takes_s=60)

ANSWERS_NOTHING = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {}}), flush=True)
"""
SIDE_BY_SIDE = 2  # a third-party agent fills a processor while it starts


def installed(name: str) -> bool:
    """Tell whether `make judges` has been here. Our own agent needs nothing of it, but a minute of any suite."""
    if name == OWN:
        return PYTHON.exists()
    return all(Path(word).exists() for word in KNOWN[name].argv if word.startswith("/"))


@pytest.mark.timeout(1500)  # forty agents start, each up to ten seconds on a machine that is busy
@pytest.mark.parametrize("name", BEHIND)
def test_behind_greenroom_every_promise_is_kept(name: str) -> None:
    if not installed(name):
        pytest.skip(f"`make judges` has not installed {name}")
    heard = told(judge(partial(Trial, BEHIND[name]), ALL, SIDE_BY_SIDE), print, whole=True)
    broken = [one.line(whole=True) for one in heard if one.verdict is Verdict.BROKEN]
    assert not broken, "\n".join(broken)


def test_an_agent_that_leaves_at_once_keeps_nothing() -> None:
    leaves = Candidate("leaves", ("true",))
    assert {judged(partial(Trial, leaves), one).verdict for one in ALL[:3]} == {Verdict.BROKEN}


@needs(PYTHON)
def test_an_agent_that_answers_everything_with_nothing_keeps_nothing() -> None:
    nothing = Candidate("nothing", (sys.executable, "-I", "-c", ANSWERS_NOTHING))
    heard = [judged(partial(Trial, nothing), one) for one in ALL]
    assert [one.promise.words for one in heard if one.verdict is Verdict.KEPT] == []


def test_nothing_that_a_trial_has_started_is_left() -> None:
    sleeps = Candidate("sleeps", ("/bin/sh", "-c", "sleep 4711 & setsid sleep 4712 & cat"))
    with Trial(sleeps) as trial:
        trial.agent(hello=False)
        trial.wait_for("sleep 4711", "sleep 4712")
    assert not of_home(trial.home)
    assert not trial.home.exists()


def test_the_page_of_promises_is_what_was_recorded() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(recorded())


def test_the_readme_has_the_totals_of_what_was_recorded() -> None:
    assert summary(recorded()) in (ROOT / "README.md").read_text(encoding="utf-8")
