"""The page of bounds has every key of `[greenroom.limits]`, with the default that it has in the code."""

import re

from supervisor.config.limits import LimitsTable
from tests.docs.pages import DOCS

ROW = re.compile(r"^\|[^|]+\| ([\d.]+)( [KM]iB)? \| `(\w+)` \|[^|]+\|$", re.MULTILINE)
UNITS = {"": 1, " KiB": 1 << 10, " MiB": 1 << 20}


def test_the_page_of_bounds_has_every_key_with_its_default_and_no_other() -> None:
    page = (DOCS / "limits.md").read_text(encoding="utf-8")
    told = {key: float(number) * UNITS[unit or ""] for number, unit, key in ROW.findall(page)}
    assert told == {name: float(getattr(LimitsTable(), name)) for name in LimitsTable.model_fields}


def test_each_bound_stands_there_once() -> None:
    keys = [key for *_, key in ROW.findall((DOCS / "limits.md").read_text(encoding="utf-8"))]
    assert len(keys) == len(set(keys))
