"""A conversation as JSON lines: exported, imported again, and refused if it is not a conversation."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from actors.messages.ports import Journal
from actors.vocabulary.errors import InvalidInput, SequenceConflict, UnknownConversation
from actors.vocabulary.records import Append
from supervisor.journal import Retention, SqliteJournal
from supervisor.journal.export import PAGE, PART, export, read_import, store_import
from tests.fakes.journal import FakeJournal
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import A, B, C, begin, contents, follow, head, stored


@pytest.fixture
def other(tmp_path: Path) -> Iterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path / "other.db")
    yield journal
    journal.close()


def lines_of(texts: Iterable[str]) -> list[str]:
    *lines, end = "".join(texts).split("\n")
    assert end == ""
    return lines


def test_an_exported_conversation_is_imported_unchanged(opened: Open, other: SqliteJournal) -> None:
    journal = opened()
    stored(journal, [begin(A, 2 * PAGE + 1, 'ü\u2028 🦀 \\ "\n', checkpoint_seq=5), begin(B)])
    lines = lines_of(export(journal, A))
    assert len(lines) == 2 * PAGE + 2
    assert all("\n" not in line for line in lines)
    assert store_import(other, read_import(lines)) == A
    assert contents(other)[A] == contents(journal)[A]


def test_a_long_event_is_exported_in_parts_and_never_whole(opened: Open, other: SqliteJournal) -> None:
    journal = opened()
    stored(journal, [begin(A, 3, "ü😀" * (1 << 20))])
    texts = list(export(journal, A))
    assert max(map(len, texts)) <= PART
    store_import(other, read_import(lines_of(texts)))
    assert contents(other)[A] == contents(journal)[A]


def test_the_fake_exports_the_same_lines(opened: Open) -> None:
    real, fake = opened(), FakeJournal()
    journals: list[Journal] = [real, fake]
    for journal in journals:
        stored(journal, [begin(A, 3)])
    assert list(export(real, A)) == list(export(fake, A))


def test_a_pruned_conversation_is_imported_with_the_same_numbers(opened: Open, other: SqliteJournal) -> None:
    journal = opened()
    stored(journal, [begin(A, 10, checkpoint_seq=10)])
    while journal.prune(0.0, Retention(max_events=3)):
        pass
    store_import(other, read_import(lines_of(export(journal, A))))
    assert contents(other)[A] == contents(journal)[A]
    stored(other, [follow(A, 11, 11)])


def test_an_empty_conversation_is_imported_too(opened: Open, other: SqliteJournal) -> None:
    journal = opened()
    stored(journal, [Append(A, (), head(A, 0))])
    store_import(other, read_import(lines_of(export(journal, A))))
    assert contents(other)[A][0] == head(A, 0)


def test_an_id_that_is_here_is_refused_unless_it_gets_a_new_one(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    lines = lines_of(export(journal, A))
    with pytest.raises(InvalidInput, match="exists already"):
        store_import(journal, read_import(lines))
    assert store_import(journal, read_import(lines, new_id=C)) == C
    found = contents(opened())
    assert found[C][1] == found[A][1]
    assert found[C][0] == replace(found[A][0], conversation=C)


def test_an_unknown_conversation_is_not_exported(opened: Open) -> None:
    with pytest.raises(UnknownConversation):
        list(export(opened(), A))


def test_an_event_appended_during_an_export_is_not_in_it(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, PAGE + 5)])
    lines = export(journal, A)
    started = [next(lines), next(lines)]
    stored(journal, [follow(A, PAGE + 6, PAGE + 9)])
    assert len(lines_of([*started, *lines])) == PAGE + 6


def test_a_conversation_that_goes_during_its_export_is_told(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, PAGE + 5)])
    lines = export(journal, A)
    next(lines)
    journal.delete(A)
    with pytest.raises(UnknownConversation):
        list(lines)


Change = Callable[[list[dict[str, Any]]], object]
WRONG: list[tuple[Change, str]] = [
    (lambda lines: lines.pop(2), "expected seq 2, found 3"),
    (lambda lines: lines.pop(), "the head ends at seq 3, the last event is 2"),
    (lambda lines: lines.append(lines[-1]), "expected seq 4, found 3"),
    (lambda lines: lines[0].update(first_seq=2), "expected seq 2, found 1"),
    (lambda lines: lines[0].update(greenroom_export=2), "line 1: greenroom_export: "),
    (lambda lines: lines[0]["head"].pop("cwd"), r"line 1: head\.cwd"),
    (lambda lines: lines[0]["head"].update(settings="ü"), r"line 1: head\.settings"),
    (lambda lines: lines[0]["head"].update(tokens=-1), r"line 1: head\.tokens"),
    (lambda lines: lines[0]["head"].update(updated=1e300), r"line 1: head\.updated"),
    (lambda lines: lines[2].update(seq="2"), "line 3: seq"),
    (lambda lines: lines[2].update(ts=1e300), "line 3: ts"),
    (lambda lines: lines[2].update(ts=-1.0), "line 3: ts"),
    (lambda lines: lines[2].update(body="text"), "line 3: body"),
    (lambda lines: lines[2].update(type="another"), "line 3: type is another"),
    (lambda lines: lines[2].update(extra=1), "line 3: extra"),
    (lambda lines: lines[2]["body"].update(x=float("nan")), "line 3: body"),
    (lambda lines: lines.clear(), "line 1"),
]


@pytest.mark.parametrize(("change", "told"), WRONG)
def test_a_line_that_is_wrong_imports_nothing(opened: Open, other: SqliteJournal, change: Change, told: str) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    lines = [json.loads(line) for line in lines_of(export(journal, A))]
    change(lines)
    with pytest.raises((InvalidInput, SequenceConflict), match=told):
        store_import(other, read_import([json.dumps(line) for line in lines]))
    assert contents(other) == {}
    store_import(other, read_import(lines_of(export(journal, A))))


def test_a_line_that_is_not_json_is_named(opened: Open, other: SqliteJournal) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    lines = lines_of(export(journal, A))
    lines[3] = lines[3][:-5]
    with pytest.raises(InvalidInput, match="line 4: Invalid JSON"):
        store_import(other, read_import(lines))
    assert contents(other) == {}
