"""`greenroom usage` and `greenroom budget`: print the spending; print and raise its limits."""

import re
from argparse import Namespace

from actors.vocabulary.visible_text import visible
from greenroom.answers import BudgetRow
from supervisor.cli.kit import ids
from supervisor.cli.kit.arguments import number
from supervisor.cli.kit.client import Control
from supervisor.cli.kit.conversation_rows import cost, tokens
from supervisor.cli.kit.formatting import clean, moment, parse_time, span
from supervisor.cli.kit.listing import AnswerFields, ListLayout, ListWithNote, present
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, Row

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # a conversation's id, which only --json has whole
PRICES = "list prices of {}; what [greenroom.prices] or a provider says goes first"
ROWS = 100  # unless a number is given
GROUPS = ("day", "model", "directory", "conversation")


def _group(row: Row) -> str:
    group = str(row["group"])
    return ids.short_id(group) if UUID.fullmatch(group) else visible(group)


def _raise_text(row: Row) -> str:
    return f"by {clean(row['raised_by'])}, {moment(row['raised_at'])}" if row["raised_by"] else ""


USAGE = ListLayout(
    AnswerFields("UsageRow"),
    (
        Column("", _group, shrinks=True, style=lambda _: ("cyan",)),
        Column("TURNS", lambda row: str(row["turns"]), right=True),
        Column("REQUESTS", lambda row: str(row["requests"]), right=True),
        Column("CALLS", lambda row: str(row["tool_calls"]), right=True),
        Column("WORK", lambda row: span(row["seconds"]), right=True),
        Column("TOKENS", lambda row: tokens(row, ","), right=True),
        Column(
            "CACHED", lambda row: "?" if row["cached_tokens"] is None else f"{row['cached_tokens']:,}", right=True
        ),
        Column("COST", cost, right=True),
    ),
    "nothing was spent yet",
    key="group",
)
BUDGET = ListLayout(
    AnswerFields("BudgetRow"),
    (
        Column("BUDGET", lambda row: f"{row['scope']}.{row['unit']}", style=lambda _: ("cyan",)),
        Column("USED", lambda row: _amount(row["used"]), right=True),
        Column("LIMIT", lambda row: "-" if row["limit"] is None else _amount(row["limit"]), right=True),
        Column("RAISED", _raise_text, has_content=lambda row: bool(row["raised_by"])),
    ),
    "no budget is set; --raise UNIT=NUMBER sets one for a conversation, [greenroom.budget] in the configuration any",
    key="scope",
)


def usage(chosen: Namespace) -> int:
    count = number(chosen.count, "number of rows") if chosen.count is not None else ROWS
    since = parse_time(chosen.since) if chosen.since is not None else None
    with Control("usage") as control:

        def fetch() -> list[Row]:
            found = control.usage(chosen.by, since=since, limit=count)
            return ListWithNote(map(dict, found.rows), PRICES.format(found.prices_of))

        return present(USAGE, fetch, chosen)


def budget(chosen: Namespace) -> int:
    limits = {**dict(map(_pair, chosen.raised or ())), **dict.fromkeys(chosen.reset or ())}
    with Control("budget") as control:

        def fetch() -> list[Row]:
            rows = [vars(row) for row in _budgets(control, chosen.conversation, limits)]
            return rows if chosen.json is not None else [row for row in rows if row["limit"] is not None]

        return present(BUDGET, fetch, chosen)


def _budgets(control: Control, conversation: str | None, limits: dict[str, str | None]) -> list[BudgetRow]:
    if not conversation:
        return control.budgets(limits=limits)
    return ids.about(control, conversation, control.budgets, limits=limits)


def _pair(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not (equals and value):
        raise Problem(f"{word!r} is not a budget", "write UNIT=NUMBER, turn.UNIT=NUMBER, or UNIT=+NUMBER", "usage")
    return key, value


def _amount(amount: float) -> str:
    return f"{amount:,.2f}".rstrip("0").rstrip(".") if amount != int(amount) else f"{int(amount):,}"
