"""`greenroom skills`: list the skills of a directory as its conversations are offered them. Needs no daemon."""

import os
from argparse import Namespace

from supervisor.agents.skills.finding import find_skills, read_for_a_person
from supervisor.cli.kit.formatting import clean, one_line
from supervisor.cli.kit.listing import ListLayout, present
from supervisor.cli.kit.table import Column, Row
from supervisor.paths import locate

SKILLS = ListLayout(
    {
        "name": "Its name.",
        "from": "One of greenroom (beside the config), user, project.",
        "description": "When to use it, as it says itself.",
        "path": "Its file.",
        "offered": "Whether models are offered it.",
        "wrong": "Why it is not offered; empty: it is.",
    },
    (
        Column("NAME", lambda row: clean(row["name"])),
        Column("FROM", lambda row: row["from"]),
        Column(
            "DESCRIPTION",
            lambda row: f"not offered: {one_line(row['wrong'])}" if row["wrong"] else one_line(row["description"]),
            shrinks=True,
        ),
        Column("WHERE", lambda row: clean(row["path"]), shrinks=True),
    ),
    "no skills here; `greenroom help skills` says where they are looked for",
    key="name",
)


def run(chosen: Namespace) -> int:
    cwd = os.path.abspath(chosen.cwd or os.curdir)  # noqa: PTH100  # pathlib is slow to import
    return present(SKILLS, lambda: _rows(cwd), chosen)


def _rows(cwd: str) -> list[Row]:
    found = find_skills(cwd, os.environ.get("HOME", ""), locate().config, read_for_a_person)
    return [
        {
            "name": skill.name,
            "from": skill.origin,
            "description": skill.description,
            "path": skill.path,
            "offered": not skill.wrong,
            "wrong": skill.wrong,
        }
        for skill in found
    ]
