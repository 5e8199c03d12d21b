"""The cost of a look, in operations of SQLite: as much where there are ten times as many conversations."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.vocabulary.records import Append, Head, ListQuery
from supervisor.journal import SqliteJournal
from supervisor.journal.connections import ReadConnections
from supervisor.journal.schema import reader
from tests.supervisor.journal.sample import conversation, head, stored

FEW, MANY = 200, 2_000
GROWTH = 1.3

Look = Callable[[SqliteJournal], object]
LOOKS: dict[str, Look] = {
    "row": lambda journal: journal.row(conversation(77)),
    "name": lambda journal: journal.find_name("name-77"),
    "prefix": lambda journal: journal.starting_with(str(conversation(77)), 5),
    "list": lambda journal: journal.list_page(ListQuery(limit=20)),
    "with the archived": lambda journal: journal.list_page(ListQuery(limit=20, archived=True)),
    "by creation": lambda journal: journal.list_page(ListQuery(limit=20, order="created")),
    "next page": lambda journal: journal.list_page(
        ListQuery(limit=20, after=journal.list_page(ListQuery(limit=20)).next, archived=True)
    ),
    "of a state": lambda journal: journal.list_page(ListQuery(limit=5, state="failed")),
    "of a directory": lambda journal: journal.list_page(ListQuery(limit=5, cwd="/everywhere", state="idle")),
    "of a name": lambda journal: journal.list_page(ListQuery(limit=20, name="name-77", archived=True)),
    "of a name and a directory": lambda journal: journal.list_page(ListQuery(name="name-77", cwd="/everywhere")),
    "unsettled": lambda journal: journal.unsettled_heads(),
    "surplus": lambda journal: journal.surplus(10, 1500.0, 20),
}


def made(number: int) -> Head:
    archived, failed = number % 10 == 1, number % 10 == 2
    return head(
        conversation(number),
        0,
        updated=1000.0 + number // 5,  # several at the same time
        archived=archived,
        state="running" if number == 5 else "archived" if archived else "failed" if failed else "idle",
        name=f"name-{number}",
        cwd="/everywhere",
    )


class Counted:
    """A journal whose readers count the operations of SQLite."""

    def __init__(self, path: Path, count: int) -> None:
        self.operations = 0
        self.journal = SqliteJournal(path)
        self.journal._connections = ReadConnections(path, self._reader)
        rows = map(made, range(1, count + 1))
        stored(self.journal, [Append(row.conversation, (), row) for row in rows])

    def _reader(self, path: Path) -> sqlite3.Connection:
        db = reader(path)
        db.set_progress_handler(self._count, 1)
        return db

    def _count(self) -> None:
        self.operations += 1

    def cost(self, look: Look) -> int:
        look(self.journal)
        before = self.operations
        look(self.journal)
        return self.operations - before


@pytest.mark.parametrize("what", LOOKS)
def test_a_look_costs_as_much_where_there_are_ten_times_as_many(tmp_path: Path, what: str) -> None:
    few, many = (Counted(tmp_path / f"{count}.db", count) for count in (FEW, MANY))
    costs = few.cost(LOOKS[what]), many.cost(LOOKS[what])
    for one in (few, many):
        one.journal.close()
    assert 0 < costs[1] <= GROWTH * costs[0], costs
