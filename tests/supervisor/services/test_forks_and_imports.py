"""Forks and imports against a real journal: the stored head is that of the stored events."""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from actors.conversation import head_of, restore
from actors.vocabulary import events as ev
from actors.vocabulary.errors import InvalidInput, UnknownConversation, WrongState
from actors.vocabulary.ids import ApprovalId, ConversationId, InputId, TurnId
from actors.vocabulary.items import TextItem
from actors.vocabulary.records import Append, ListQuery, Record
from actors.vocabulary.settings import BusyPolicy, Decision, Pin, Settings, WorkspaceWrite
from supervisor.disk.pins import pins_of
from supervisor.journal import SqliteJournal
from supervisor.journal.export import export, store_import
from supervisor.services.forks_and_imports import ForkedConversation, make_fork, replay_import
from tests.support.work import command_asked

ONE = ConversationId("11111111-1111-4111-8111-111111111111")
TWO = ConversationId("22222222-2222-4222-8222-222222222222")
SETTINGS = Settings(model="m", cwd=Path("/src"))
TURN = TurnId("t")
ITEMS = (TextItem(text="said"),)
BORN = (ev.SessionConfigured(session_id=ONE, model="m", settings=SETTINGS, name="source"), None)
SPOKEN = (
    (ev.TaskStarted(), TURN),
    (ev.UserMessage(message="said", items=ITEMS, input_id=InputId("i")), TURN),
    (ev.TaskComplete(last_agent_message="ok"), TURN),
)

Said = tuple[ev.DurableEvent, TurnId | None]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    with closing(SqliteJournal(tmp_path / "journal.sqlite3")) as journal:
        yield journal


def keep(journal: SqliteJournal, *said: Said) -> None:
    records = tuple(
        Record(seq, float(seq), turn, event.type, event.model_dump_json().encode())
        for seq, (event, turn) in enumerate(said, 1)
    )
    assert journal.commit([Append(ONE, records, head_of(restore(ONE, None, records)))]) == [None]


def types(fork: ForkedConversation) -> list[str]:
    return [record.type for record in fork.records]


def taken_in(journal: SqliteJournal, lines: tuple[str, ...], new_id: ConversationId | None = None) -> ConversationId:
    return store_import(journal, replay_import(lines, new_id, [], SETTINGS).history)


def agree(journal: SqliteJournal, conversation: ConversationId) -> None:
    """Assert that the stored head is that of the stored events."""
    head, page = journal.head(conversation), journal.read(conversation, 0, 1000)
    assert head is not None
    assert page is not None
    state = restore(conversation, None, page.records)
    assert head == head_of(state)
    assert state.facts.conversation == conversation


# --- forks


def test_a_fork_says_where_it_comes_from_and_shares_every_event_after_the_first(journal: SqliteJournal) -> None:
    keep(journal, BORN, *SPOKEN)
    fork = make_fork(journal, ONE, TWO, None, "branch")
    first = json.loads(fork.records[0].body)
    assert (first["session_id"], first["name"], first["forked_from"]) == (TWO, "branch", f"{ONE}@4")
    page = journal.read(ONE, 1, 100)
    assert page is not None
    assert fork.records[1:] == page.records
    journal.adopt(fork.head, 1, fork.records)
    agree(journal, TWO)


@pytest.mark.parametrize("at", [2, 3])
def test_a_point_inside_a_turn_is_refused(journal: SqliteJournal, at: int) -> None:
    keep(journal, BORN, *SPOKEN)
    with pytest.raises(WrongState, match=f"event {at}"):
        make_fork(journal, ONE, TWO, at, None)
    assert len(make_fork(journal, ONE, TWO, 1, None).records) >= 1


def test_a_fork_while_a_turn_runs_is_refused_with_what_to_do(journal: SqliteJournal) -> None:
    keep(journal, BORN, *SPOKEN[:-1])
    with pytest.raises(WrongState, match=r"a turn runs in .*: wait for its end, or interrupt it, and fork then"):
        make_fork(journal, ONE, TWO, None, None)


def test_a_point_beyond_the_end_and_a_source_that_is_not_there_are_refused(journal: SqliteJournal) -> None:
    keep(journal, BORN)
    with pytest.raises(InvalidInput, match="is 1, before 2"):
        make_fork(journal, ONE, TWO, 2, None)
    with pytest.raises(UnknownConversation):
        make_fork(journal, TWO, ONE, None, None)


def test_nothing_that_waits_in_the_source_waits_in_its_fork(journal: SqliteJournal) -> None:
    queued = ev.InputQueued(input_id=InputId("q"), policy=BusyPolicy.ENQUEUE, items=ITEMS)
    keep(journal, BORN, *SPOKEN, (queued, None), (ev.QueuePaused(queued=1), None))
    fork = make_fork(journal, ONE, TWO, None, "branch")
    assert types(fork)[-2:] == ["input_withdrawn", "queue_resumed"]
    state = restore(TWO, None, fork.records)
    assert (state.facts.pending, state.facts.paused) == ((), False)


def test_a_fork_has_neither_its_sources_later_name_nor_its_place_in_the_archive(journal: SqliteJournal) -> None:
    keep(journal, BORN, (ev.ConversationRenamed(name="later"), None), (ev.ConversationArchived(), None))
    fork = make_fork(journal, ONE, TWO, None, None)
    facts = restore(TWO, None, fork.records).facts
    assert (facts.name, facts.archived) == (None, False)
    journal.adopt(fork.head, 1, fork.records)
    agree(journal, TWO)


def test_an_id_that_nobody_can_read_comes_in_under_another(journal: SqliteJournal) -> None:
    keep(journal, BORN, *SPOKEN)
    lines = tuple(line.replace(ONE, "evil\\u009bid") for line in export(journal, ONE))
    with pytest.raises(InvalidInput, match="none that Greenroom gives; import it under a new id"):
        replay_import(lines, None, [], SETTINGS)
    assert replay_import(lines, TWO, [], SETTINGS).history.head.conversation == TWO


# --- imports


def test_an_exported_conversation_comes_back_unchanged(journal: SqliteJournal) -> None:
    keep(journal, BORN, *SPOKEN)
    before, lines = journal.read(ONE, 0, 100), tuple(export(journal, ONE))
    journal.delete(ONE)
    assert taken_in(journal, lines) == ONE
    after = journal.read(ONE, 0, 100)
    assert before is not None
    assert after is not None
    bodies = [[json.loads(record.body) for record in page.records] for page in (before, after)]
    assert bodies[1][0].pop("forked_from") == f"{ONE}@4"
    assert bodies[0][0].pop("forked_from") is None
    assert bodies[0] == bodies[1]
    agree(journal, ONE)


def test_a_copy_under_a_new_id_names_itself_and_gives_the_name_back(journal: SqliteJournal) -> None:
    keep(journal, BORN, *SPOKEN)
    assert taken_in(journal, tuple(export(journal, ONE)), TWO) == TWO
    agree(journal, TWO)
    head = journal.head(TWO)
    assert head is not None
    assert head.name is None
    page = journal.read(TWO, 0, 1)
    assert page is not None
    assert json.loads(page.records[0].body)["session_id"] == TWO


def test_an_open_turn_moves_with_its_id_and_not_to_another(journal: SqliteJournal) -> None:
    keep(journal, BORN, *SPOKEN[:2])
    lines = tuple(export(journal, ONE))
    with pytest.raises(WrongState, match="a turn is open"):
        replay_import(lines, TWO, [], SETTINGS)
    journal.delete(ONE)
    assert taken_in(journal, lines) == ONE


def test_a_history_whose_beginning_was_pruned_keeps_what_its_checkpoint_says(journal: SqliteJournal) -> None:
    keep(journal, BORN, *SPOKEN)
    head, *events = export(journal, ONE)
    tree = json.loads(head)
    tree["first_seq"] = 3
    assert taken_in(journal, (json.dumps(tree), *events[2:]), TWO) == TWO
    found = journal.head(TWO)
    assert found is not None
    state = restore(TWO, found, ())
    assert (state.facts.conversation, state.facts.preview, state.facts.name) == (TWO, "said", None)


@pytest.mark.parametrize("line", range(5))
def test_a_line_that_is_damaged_is_refused_whatever_is_wrong_with_it(journal: SqliteJournal, line: int) -> None:
    keep(journal, BORN, *SPOKEN)
    lines = list(export(journal, ONE))
    journal.delete(ONE)
    for damage in ("", "{}", "[]", lines[line][:-2], lines[line].replace('"type":"', '"type":"un')):
        if damage == lines[line]:
            continue
        with pytest.raises(InvalidInput):
            taken_in(journal, (*lines[:line], damage, *lines[line + 1 :]))
        assert journal.list_page(ListQuery(archived=True)).heads == ()


def test_a_fork_means_the_directories_that_are_there_now(journal: SqliteJournal, tmp_path: Path) -> None:
    policy = WorkspaceWrite(exclude_slash_tmp=True)
    pinned = SETTINGS.model_copy(
        update={"cwd": tmp_path, "sandbox": policy, "roots": (Pin(name=tmp_path, path=tmp_path, inode=1),)}
    )
    keep(journal, (ev.SessionConfigured(session_id=ONE, model="m", settings=pinned), None), *SPOKEN)
    fork = make_fork(journal, ONE, TWO, None, None)
    assert types(fork)[-1] == "settings_changed"
    assert restore(TWO, None, fork.records).facts.settings.roots == pins_of(policy, tmp_path, None)
    journal.adopt(fork.head, 1, fork.records)
    agree(journal, TWO)


def test_an_import_brings_no_directories_of_another_machine(journal: SqliteJournal) -> None:
    pinned = SETTINGS.model_copy(update={"roots": (Pin(name=Path("/src"), path=Path("/etc"), inode=1),)})
    keep(journal, (ev.SessionConfigured(session_id=ONE, model="m", settings=pinned), None), *SPOKEN)
    taken_in(journal, tuple(export(journal, ONE)), TWO)
    page = journal.read(TWO, 0, 100)
    assert page is not None
    assert restore(TWO, None, page.records).facts.settings == SETTINGS
    agree(journal, TWO)


# --- agents' own sessions: one has no two owners


def sessions(records: Iterable[Record]) -> list[str]:
    return [one.session for one in restore(TWO, None, tuple(records)).facts.agents]


def with_a_session(journal: SqliteJournal) -> tuple[Said, ...]:
    session = ev.AgentSession(agent="claude", session="s1", how="new")
    said = (
        BORN,
        *SPOKEN,
        (ev.TaskStarted(), TurnId("t9")),
        (session, TurnId("t9")),
        (ev.TaskComplete(), TurnId("t9")),
    )
    keep(journal, *said)
    return said


def test_the_session_of_an_agent_stays_with_the_original_and_a_fork_begins_its_own(journal: SqliteJournal) -> None:
    said = with_a_session(journal)
    fork = make_fork(journal, ONE, TWO, None, None)
    assert sessions(fork.records) == []
    own = ev.AgentSession(agent="claude", session="s2", how="seeded")
    begun = Record(len(said) + 1, 9.0, TurnId("t10"), own.type, own.model_dump_json().encode())
    assert sessions((*fork.records, begun)) == ["s2"]


@pytest.mark.parametrize("new_id", [TWO, None])
def test_an_import_has_no_sessions_of_agents_under_any_id(
    journal: SqliteJournal, tmp_path: Path, new_id: ConversationId | None
) -> None:
    with_a_session(journal)
    lines = tuple(export(journal, ONE))
    with closing(SqliteJournal(tmp_path / "other.sqlite3")) as other:
        conversation = taken_in(other, lines, new_id)
        agree(other, conversation)
        page = other.read(conversation, 0, 1000)
        assert page is not None
        assert sessions(page.records) == []


@pytest.mark.parametrize("new_id", [None, TWO])
def test_an_import_keeps_no_yes_of_whoever_wrote_it(journal: SqliteJournal, new_id: ConversationId | None) -> None:
    """A stranger's file would otherwise have the person's yes for a command of the stranger's."""
    asks = command_asked("rm", "x", approval="q", cwd="/src")
    yes = ev.ApprovalResolved(approval_id=ApprovalId("q"), decision=Decision.APPROVED_FOR_SESSION, by="stranger")
    keep(journal, BORN, SPOKEN[0], (asks, TURN), (yes, TURN), SPOKEN[2])
    head = journal.head(ONE)
    assert head is not None
    assert restore(ONE, head, ()).facts.kept_yes(asks) is not None
    lines = tuple(export(journal, ONE))
    journal.delete(ONE)
    imported = taken_in(journal, lines, new_id)
    head = journal.head(imported)
    assert head is not None
    assert restore(imported, head, ()).facts.kept_yes(asks) is None
