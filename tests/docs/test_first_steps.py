"""The README's block and the tutorial, one after the other in the same home, as people do it, in either order."""

import re
from pathlib import Path

import pytest

from tests.docs.console import Step, TerminalUser, steps
from tests.docs.pages import ROOT
from tests.support.confinement import confinable

README, TUTORIAL = ROOT / "README.md", ROOT / "docs" / "tutorial.md"
ALREADY = "greenroom: the daemon already runs and keeps its settings"


@confinable
@pytest.mark.parametrize("order", [(README, TUTORIAL), (TUTORIAL, README)], ids=["readme-first", "tutorial-first"])
def test_the_readme_and_the_tutorial_can_be_followed_one_after_the_other(order: tuple[Path, Path]) -> None:
    with TerminalUser() as person:
        for page in order:
            for step in steps(page.read_text(encoding="utf-8")):
                written = person.types(step.command)
                assert _complaints(written) <= _expected(step), f"{page.name}: $ {step.command}\n{written}"


def _complaints(written: str) -> set[str]:
    """Errors of the log, without what differs between two runs, and the ends of turns."""
    lines = [line for line in written.splitlines() if not line.startswith(ALREADY)]
    errors = {re.sub(r"[0-9a-f]{8}|\d+", "N", line) for line in lines if line.startswith("greenroom: ")}
    endings = {line.split(",")[0].partition(" by ")[0] for line in lines if line.startswith("-- ")}
    return errors | endings


def _expected(step: Step) -> set[str]:
    return _complaints("\n".join(step.expected))
