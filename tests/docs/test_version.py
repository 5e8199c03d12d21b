"""One version: what the program says, what is packaged, what the pages speak of, and what the changelog is at."""

import json
import re
import tomllib

from supervisor.version import VERSION
from tests.docs.pages import ROOT
from tests.supervisor.cli.place import Place, a_place

CHANGE = re.compile(r"^## \[(\d+\.\d+\.\d+)\]", re.MULTILINE)
SAID = re.compile(r"greenroom==(\d+\.\d+\.\d+)|[Nn]ew in (\d+\.\d+)")


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_program_says_the_version_that_the_changelog_is_at() -> None:
    assert CHANGE.findall(text_of("CHANGELOG.md"))[0] == VERSION
    with a_place() as place:
        assert said_by(place) == [f"greenroom {VERSION}"]


def said_by(place: Place) -> list[str]:
    return place.said("version").splitlines()


def test_the_packages_are_of_that_version() -> None:
    assert tomllib.loads(text_of("pyproject.toml"))["project"]["version"] == VERSION
    entry = json.loads(text_of("packaging/acp-registry/greenroom/agent.json"))
    assert entry["version"] == VERSION


def test_no_page_speaks_of_a_version_to_come() -> None:
    """Each thing that is new is so in this version or in one before."""
    now = tuple(map(int, VERSION.split(".")))
    said = SAID.findall(text_of("README.md") + text_of("packaging/acp-registry/greenroom/agent.json"))
    assert said
    for whole, short in said:
        assert tuple(map(int, (whole or short).split("."))) <= now[: (whole or short).count(".") + 1]
