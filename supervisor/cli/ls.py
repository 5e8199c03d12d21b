"""`greenroom ls`: list the conversations. This verb must start fast."""

from argparse import Namespace
from typing import Literal

from supervisor.cli.kit.arguments import number
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.conversation_rows import FIELDS, LISTING, row_of
from supervisor.cli.kit.listing import PartialList, present, screenful
from supervisor.cli.kit.problems import Problem
from supervisor.cli.verbs.options import STATES

FILTERS = ("state", "cwd", "name")
# Orders that the daemon knows; others need all rows.
ORDERS: dict[str, Literal["updated", "created"]] = {"-updated": "updated", "-created": "created"}


def run(chosen: Namespace) -> int:
    state = [] if chosen.state is None else [f"state={chosen.state}"]
    filters, field = _filters([*chosen.filter, *state]), _field(chosen.sort.removeprefix("-"))
    count = number(chosen.count, "number of rows") if chosen.count is not None else screenful(chosen)
    with Control("ls") as control:

        def fetch() -> PartialList:
            asked: Json = {"archived": chosen.all or filters.get("state") == "archived", **filters}
            most = None if chosen.all and chosen.count is None else count
            if chosen.sort in ORDERS:
                newest = control.conversations(**asked, order=ORDERS[chosen.sort], limit=most)
                return PartialList(map(row_of, newest), newest.total)
            rows = list(map(row_of, control.conversations(**asked)))
            found = sorted(rows, key=lambda row: _order(row[field]), reverse=chosen.sort.startswith("-"))
            return PartialList(found[:most], len(found))

        return present(LISTING, fetch, chosen)


def _filters(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in FILTERS:
            raise Problem(f"{word!r} is not a filter", "write state=…, cwd=… or name=…", "usage")
        if key == "state" and value not in STATES:
            raise Problem(f"unknown state {value!r}", f"write one of {', '.join(STATES)}", "usage")
        found[key] = _absolute(value) if key == "cwd" else value
    return found


def _absolute(path: str) -> str:
    import os.path

    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111  # pathlib is slow to import


def _field(name: str) -> str:
    if name not in FIELDS:
        raise Problem(f"unknown field {name!r}", f"write one of {', '.join(FIELDS)}", "usage")
    return name


def _order(value: object) -> tuple[bool, float, str]:
    """A sort key that puts missing values first."""
    as_number = float(value) if isinstance(value, int | float) else 0.0
    return value is not None, as_number, str(value or "").lower()
