"""The entry for the ACP registry: what its published format asks for, and what its own checks look at.

The format as of its schema and guide with `cmd` for packages. The registry also starts the agent and looks at what it
says to `initialize`, and asks the package index for the version, which is the business of a release.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from supervisor.version import VERSION
from tests.docs.pages import ROOT
from transports.dialects.acp.introduction import introduction

ENTRY = ROOT / "packaging" / "acp-registry" / "greenroom"
MEMBERS = {"id", "name", "version", "description", "repository", "website", "authors", "license", "distribution"}
REQUIRED = {"id", "name", "version", "description", "distribution"}
OF_A_PACKAGE = {"package", "cmd", "args", "env"}
MONOCHROME = {"currentcolor", "none", "inherit"}  # all that `fill` and `stroke` may be
SIDE = "16"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def entry() -> dict[str, Any]:
    told: dict[str, Any] = json.loads((ENTRY / "agent.json").read_text(encoding="utf-8"))
    return told


def painted(element: ET.Element) -> Iterator[str]:
    """Everything that gives this element a colour, the declarations of `style` included."""
    for name in ("fill", "stroke", "color", "stop-color", "flood-color"):
        if name in element.attrib:
            yield element.attrib[name]
    for declaration in element.get("style", "").split(";"):
        name, _, value = declaration.partition(":")
        if name.strip() in {"fill", "stroke", "color"}:
            yield value.strip()


def test_the_entry_has_what_the_registry_asks_for_and_nothing_else(entry: dict[str, Any]) -> None:
    assert set(entry) >= REQUIRED
    assert set(entry) <= MEMBERS
    assert re.fullmatch(r"[a-z][a-z0-9-]*", entry["id"])
    assert entry["id"] == ENTRY.name, "the folder has the name of the entry"
    assert re.fullmatch(r"\d+\.\d+\.\d+", entry["version"]), "three numbers: an installer compares them"
    assert all(isinstance(entry[name], str) and entry[name] for name in REQUIRED - {"distribution"})


def test_the_entry_is_of_this_version_and_licence(entry: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert entry["version"] == project["version"] == VERSION
    assert entry["license"] == project["license"]


def test_the_entry_starts_the_verb_of_this_package(entry: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(entry["distribution"]) == {"uvx"}
    uvx = entry["distribution"]["uvx"]
    assert set(uvx) <= OF_A_PACKAGE
    assert uvx["package"] == f"{project['name']}=={entry['version']}"
    assert uvx["cmd"] in project["scripts"]
    assert uvx["args"] == ["acp"]


def test_the_icon_is_sixteen_pixels_square_and_takes_the_colour_of_the_text() -> None:
    drawing = ET.parse(ENTRY / "icon.svg").getroot()
    assert drawing.tag == f"{SVG}svg"
    assert (drawing.get("width"), drawing.get("height"), drawing.get("viewBox")) == (SIDE, SIDE, f"0 0 {SIDE} {SIDE}")
    parts = list(drawing.iter())
    assert {part.tag.removeprefix(SVG) for part in parts} <= {"svg", "g", "path", "circle", "rect"}, "nothing linked"
    colours = [colour.lower() for part in parts for colour in painted(part)]
    assert set(colours) <= MONOCHROME
    assert "currentcolor" in colours
    assert drawing.get("fill"), "what has no fill is black, whatever the theme"


@pytest.mark.parametrize("capabilities", [{}, {"auth": {"terminal": True}}])
def test_the_agent_offers_a_way_to_log_in_that_the_registry_knows(capabilities: dict[str, Any]) -> None:
    said = introduction({"protocolVersion": 1, "clientCapabilities": capabilities}, VERSION)
    assert said is not None
    kinds = [method["type"] for method in said["authMethods"]]
    assert kinds
    assert set(kinds) <= {"agent", "terminal"}
