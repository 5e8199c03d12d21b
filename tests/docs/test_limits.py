"""The page of limits has each key of `[greenroom.limits]` once, with its visible effect. Defaults are generated."""

import re

from supervisor.config.limits import LimitsTable
from tests.docs.pages import DOCS

ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \|[^|]+\|$", re.MULTILINE)


def test_the_page_of_limits_has_every_key_once_and_no_other() -> None:
    rows = ROW.findall((DOCS / "limits.md").read_text(encoding="utf-8"))
    keys = [key.strip("`") for row in rows for key in row.split(", ")]
    assert sorted(keys) == sorted(LimitsTable.model_fields)
