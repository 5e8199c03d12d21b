"""The newcomer's path is walked, from the clone to the conversation that outlives a killed daemon."""

import shutil

import pytest

from tests.docs.newcomer import arrived, walk
from tests.docs.pages import ROOT

pytestmark = [
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout: there is nothing to clone"),
    pytest.mark.skipif(shutil.which("git") is None or shutil.which("make") is None, reason="no git, or no make"),
]


@pytest.mark.timeout(240)  # ten seconds alone, most of them the tour's; more where every core is busy
def test_from_a_clone_to_a_conversation_that_outlives_its_daemon() -> None:
    """The clone borrows the packages of the environment that runs this; its code, and all it starts, is its own."""
    with arrived() as person:
        walk(person, borrow=True)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_the_same_where_make_demo_installs_everything_itself() -> None:
    with arrived() as person:
        walk(person, borrow=False)
