"""The ledger: sums by day, model, directory and conversation, kept with the events that tell of them."""

import time
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from actors.vocabulary.budget_raises import Raise
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append
from actors.vocabulary.spent_amounts import LedgerEntry, Spent
from supervisor.journal.ledger import Grouping, day_of
from supervisor.journal.rows import head_row
from supervisor.journal.schema import MIGRATIONS, connect, migrate
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import begin, conversation, follow, stored
from tests.supervisor.journal.test_damage import ruin, suspect
from tests.supervisor.journal.test_migration import FIRST_HEAD, heads

NOON = time.mktime((2026, 3, 1, 12, 0, 0, 0, 0, -1))
DAY_S = 86_400
ONE, TWO = conversation(1), conversation(2)


def spending(append: Append, tokens: int, *, model: str = "m", cwd: str = "/a", day: int = 0) -> Append:
    entry = LedgerEntry(model, cwd, NOON + day * DAY_S, Spent(requests=1, tokens=tokens, usd=tokens / 10))
    return replace(append, spent=(entry,))


def filled(opened: Open) -> None:
    stored(
        opened(),
        [
            spending(begin(ONE), 1),
            spending(begin(TWO), 2, model="n", cwd="/b"),
            spending(follow(ONE, 2, 2), 4, day=1),
            spending(follow(ONE, 3, 3), 8, day=1),
        ],
    )


def sums(opened: Open, by: Grouping, since: str = "") -> dict[str, int]:
    return {row.group: row.amounts.tokens for row in opened().spent_by(by, since)}


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("day", {"2026-03-02": 12, "2026-03-01": 3}),
        ("model", {"m": 13, "n": 2}),
        ("directory", {"/a": 13, "/b": 2}),
        ("conversation", {ONE: 13, TWO: 2}),
    ],
)
def test_each_way_of_grouping_adds_up_to_all_that_was_spent(
    opened: Open, by: Grouping, expected: dict[str, int]
) -> None:
    filled(opened)
    assert sums(opened, by) == expected
    assert sum(expected.values()) == opened().total_spent().tokens


def test_sums_since_a_day_leave_out_what_was_before(opened: Open) -> None:
    filled(opened)
    since = opened().total_spent("2026-03-02")
    assert (since.requests, since.tokens, round(since.usd, 6)) == (2, 12, 1.2)
    assert sums(opened, "conversation", "2026-03-02") == {ONE: 12}


def test_a_deleted_conversation_leaves_its_amounts_and_not_its_name(opened: Open) -> None:
    filled(opened)
    opened().delete(ONE)
    assert sums(opened, "conversation") == {TWO: 2}
    assert sums(opened, "model") == {"m": 13, "n": 2}


def test_a_refused_entry_is_not_in_the_ledger(opened: Open) -> None:
    filled(opened)
    assert opened().commit([spending(follow(TWO, 7, 7), 100)]) != [None]
    assert opened().total_spent().tokens == 15


def test_tokens_from_before_the_ledger_are_on_the_day_of_the_last_use_at_an_unknown_price(
    opened: Open, path: Path
) -> None:
    with closing(connect(path, read_only=False)) as db:
        migrate(db, MIGRATIONS[:1])
        for number, one in enumerate(heads(), 1):
            db.execute(FIRST_HEAD, head_row(number, one)[:12])
            db.execute(
                "INSERT INTO tails (key, first_seq, last_seq, updated) VALUES (?, 1, 0, ?)", (number, one.updated)
            )
    spent = opened().total_spent()
    many = sum(1 for _ in heads())
    assert (spent.tokens, spent.unpriced, spent.usd) == (17 * many, many, 0.0)
    assert sums(opened, "day") == {day_of(1000.0): 17 * many}
    assert set(sums(opened, "conversation").values()) == {17}


def test_a_repaired_journal_keeps_its_ledger_and_the_raises_of_budgets(opened: Open, path: Path) -> None:
    filled(opened)
    raised = (Raise("day", "usd", "2026-03-01", 12.5, NOON, "ada"), Raise("home", "tokens", "", 7.0, NOON, "ada"))
    opened().put_raises(raised)
    opened().close()
    suspect(path)
    ruin(path, 3)
    assert opened().repair_report
    assert opened().total_spent().tokens == 15
    assert opened().raises() == raised


def test_a_conversation_that_is_not_there_has_spent_nothing(opened: Open) -> None:
    assert opened().total_spent() == Spent()
    assert ConversationId("c") not in sums(opened, "conversation")
