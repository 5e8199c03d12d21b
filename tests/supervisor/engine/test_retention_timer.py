"""Retention as the daemon drives it: a real journal and a real journalist, and a clock moved by hand."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.journal.journalist import Journalist
from actors.messages.conversation import Address
from actors.messages.journal import Chore, ChoreDone
from actors.messages.routing import Trim
from actors.runtime.base import Ref, start
from actors.vocabulary.errors import StorageFull
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Record
from supervisor.config.greenroom_table import RetentionTable
from supervisor.engine.retention_timer import DAY_S, EVERY_S, STEP_S, RetentionTimer, retention
from supervisor.journal import SqliteJournal
from supervisor.journal.retention import Retention
from tests.support.bridge import wait_until
from tests.support.heads import idle_head

NOW = 100 * DAY_S


class HandClock:
    def __init__(self) -> None:
        self.alarms: list[tuple[float, Address[Any], object]] = []

    def now(self) -> float:
        return NOW

    def tell_later(self, delay_s: float, address: Address[Any], message: object) -> None:
        self.alarms.append((delay_s, address, message))

    def ring(self) -> float:
        wait_until(lambda: bool(self.alarms), "no alarm was set")
        delay_s, address, message = self.alarms.pop(0)
        address.tell(message)
        return delay_s


class Nobody:
    def tell(self, message: object) -> None:
        raise AssertionError(f"nobody should be told {message}")


@pytest.fixture
def journal(tmp_path: Path) -> SqliteJournal:
    return SqliteJournal(tmp_path / "journal.sqlite3")


@pytest.fixture
def journalist(journal: SqliteJournal) -> Iterator[Ref[Any]]:
    ref = start(Journalist(journal, Nobody()))
    yield ref
    assert ref.stop(5)


def fill(journal: SqliteJournal, name: str, count: int, *, age_days: float, archived: bool = False) -> ConversationId:
    one, at = ConversationId(name), NOW - age_days * DAY_S
    records = tuple(
        Record(seq, at, None, "agent_message", b'{"type":"agent_message"}') for seq in range(1, count + 1)
    )
    head = idle_head(one, count, checkpoint_seq=count, created=at, updated=at, archived=archived)
    assert journal.commit([Append(one, records, head)]) == [None]
    return one


def test_a_pass_takes_what_the_config_says_in_steps_and_comes_again(
    journal: SqliteJournal, journalist: Ref[Any]
) -> None:
    long = fill(journal, "long", 2_000, age_days=1)
    short = fill(journal, "short", 5, age_days=1)
    clock = HandClock()
    RetentionTimer(journal.prune, journalist, Nobody(), clock, lambda: RetentionTable(max_events=100)).begin(1.0)
    delays = [clock.ring()]
    while delays[-1] != EVERY_S:
        delays.append(clock.ring())
    assert delays[0] == 1.0
    assert len(delays) > 4  # 2000 events are more than one step
    assert set(delays[1:-1]) == {STEP_S}
    page = journal.read(long, 0, 5_000)
    assert page is not None
    assert page.first_seq == 1_901
    assert len(page.records) == 100
    kept = journal.read(short, 0, 100)
    assert kept is not None
    assert len(kept.records) == 5


def test_leftovers_of_a_cut_off_deletion_are_removed_although_everything_is_kept(
    journal: SqliteJournal, journalist: Ref[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(_db: sqlite3.Connection, _key: int) -> bool:
        raise KeyboardInterrupt

    gone, kept = fill(journal, "gone", 700, age_days=1), fill(journal, "kept", 5, age_days=1)
    monkeypatch.setattr("supervisor.journal.retention.erase", cut_off)
    with pytest.raises(KeyboardInterrupt):
        journal.delete(gone)
    monkeypatch.undo()
    clock = HandClock()
    RetentionTimer(journal.prune, journalist, Nobody(), clock, RetentionTable).begin(1.0)
    while clock.ring() != EVERY_S:
        pass
    assert journal._writer._db.execute("SELECT count(*) FROM events").fetchone() == (5,)
    assert journal.head(kept) is not None


def test_the_registry_is_told_once_in_a_pass_which_conversations_are_too_many_or_too_old(
    journal: SqliteJournal, journalist: Ref[Any]
) -> None:
    fill(journal, "long", 2_000, age_days=1)
    heard: list[object] = []

    class Registry:
        def tell(self, message: object) -> None:
            heard.append(message)

    clock = HandClock()
    wanted = RetentionTable(max_age_days=30, max_events=100, max_conversations=7)
    RetentionTimer(journal.prune, journalist, Registry(), clock, lambda: wanted).begin(1.0)
    while clock.ring() != EVERY_S:
        pass
    assert heard == [Trim(most=7, untouched_since=NOW - 30 * DAY_S)] * 2, "the second pass has just begun"


def never(_: float, __: Retention) -> bool:
    raise AssertionError("nothing was to be forgotten")


def test_a_journal_that_fails_is_tried_again_after_the_usual_time() -> None:
    class Full:
        def tell(self, message: object) -> None:
            assert isinstance(message, Chore)
            message.reply_to.tell(ChoreDone(StorageFull("no space left")))

    clock = HandClock()
    RetentionTimer(never, Full(), Nobody(), clock, lambda: RetentionTable(max_events=10)).begin(1.0)
    assert [clock.ring(), clock.ring()] == [1.0, EVERY_S]


@pytest.mark.parametrize(
    ("wanted", "policy"),
    [
        (RetentionTable(), Retention()),
        (RetentionTable(max_age_days=2), Retention(max_age_s=2 * DAY_S)),
        (RetentionTable(max_events=7), Retention(max_events=7)),
    ],
)
def test_zero_in_the_config_keeps_for_ever(wanted: RetentionTable, policy: Retention) -> None:
    assert retention(wanted) == policy
