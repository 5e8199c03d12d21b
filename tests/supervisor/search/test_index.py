"""The search file: what it finds, and that it follows whatever becomes of the journal."""

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from actors.vocabulary.errors import InvalidInput, StorageFailed, StorageFull
from supervisor.journal import Retention, SqliteJournal
from supervisor.search import index as searching
from supervisor.search import tables
from supervisor.search.index import SearchIndex, split_marks
from tests.supervisor.journal.sample import A, B, C
from tests.supervisor.search.histories import Histories, agent, command, output, renamed, user


@pytest.fixture
def histories(tmp_path: Path) -> Iterator[Histories]:
    histories = Histories(tmp_path)
    yield histories
    histories.close()


# --- what is found --------------------------------------------------------------------------------------------------


def test_words_of_people_models_and_commands_are_found_newest_first(histories: Histories) -> None:
    histories.say(A, user("where is the walrus?"), agent("The walrus is in the sea."))
    histories.say(B, command("grep", "walrus", "zoo.txt"), output("a walrus\n", "warning"), renamed("walrus"))
    histories.say(A, agent("no animal here"))
    histories.read_all()
    found = histories.find("walrus")
    assert [(hit.conversation, hit.seq, hit.kind) for hit in found.hits] == [
        *((B, 3, "name"), (B, 2, "output"), (B, 1, "command")),
        *((A, 2, "agent"), (A, 1, "user")),
    ]
    assert (found.next_cursor, found.read, found.complete) == (None, 1.0, True)
    assert found.hits[0].cwd == "/tmp/ünder way"


def test_words_of_a_hit_are_marked_in_their_context(histories: Histories) -> None:
    histories.say(A, user("before " * 40 + "the Grün walrus" + " after" * 40))
    histories.read_all()
    (hit,) = histories.find("GRUN walr*").hits
    assert [hit.text[begin:end] for begin, end in hit.marks] == ["Grün", "walrus"]
    assert hit.text.startswith("…before")
    assert len(hit.text) < 200


def test_marks_of_ours_in_a_text_do_no_harm() -> None:
    assert split_marks("\x03a\x02b\x03c\x02\x03\x02d") == ("abcd", ((1, 2), (3, 4)))


def test_a_phrase_and_the_beginning_of_a_word_are_found(histories: Histories) -> None:
    histories.say(A, user("red fox"), user("fox red"), user("a red-fox_trot"), user("redder foxes"))
    histories.read_all()
    assert histories.hits("red fox") == [(A, 3), (A, 2), (A, 1)]
    assert histories.hits('"red fox"') == [(A, 3), (A, 1)]
    assert histories.hits("red-fox") == [(A, 3), (A, 1)]
    assert histories.hits("red* fox*") == [(A, 4), (A, 3), (A, 2), (A, 1)]


def test_filters_choose_and_pages_go_on_where_the_last_ended(histories: Histories) -> None:
    for number in range(1, 8):
        histories.say(A if number % 2 else B, user(f"walrus {number}"), ts=float(number))
    histories.read_all()
    assert histories.hits("walrus", conversation=B) == [(B, 3), (B, 2), (B, 1)]
    assert histories.hits("walrus", since=6.0) == [(A, 4), (B, 3)]
    assert histories.hits("walrus", cwd="/elsewhere") == []
    found = histories.find("walrus", limit=3)
    pages = [[hit.ts for hit in found.hits]]
    while found.next_cursor is not None:
        found = histories.find("walrus", limit=3, cursor=found.next_cursor)
        pages.append([hit.ts for hit in found.hits])
    assert pages == [[7, 6, 5], [4, 3, 2], [1]]


def test_the_best_hits_come_first_when_that_is_asked(histories: Histories) -> None:
    histories.say(A, user("walrus walrus walrus"), user("a walrus " + "and much more " * 50))
    histories.read_all()
    assert histories.hits("walrus") == [(A, 2), (A, 1)]
    assert histories.hits("walrus", best=True) == [(A, 1), (A, 2)]


def test_of_a_long_output_beginning_and_end_are_searched(histories: Histories) -> None:
    histories.say(A, output("alpha " + "x " * tables.PASSAGE + "omega", "stderr"))
    histories.read_all()
    assert histories.hits("alpha omega stderr") == [(A, 1)]
    with closing(sqlite3.connect(histories.search_file)) as db:
        assert db.execute("SELECT max(length(text)) FROM passages").fetchone()[0] <= tables.PASSAGE + 3


def test_our_own_texts_and_invalid_events_are_left_out(histories: Histories) -> None:
    histories.say(A, {"type": "user_message", "message": "walrus", "kind": "environment_context"}, renamed("other"))
    histories.say(A, {"type": "conversation_renamed", "name": None}, {"type": "token_count", "message": "walrus"})
    histories.say(A, {"type": "agent_message", "message": 17}, {"type": "work_began", "subject": 17})
    histories.say(A, user("lone \ud800 half".encode("unicode_escape").decode()))
    with closing(sqlite3.connect(histories.journal_file)) as db, db:
        db.execute("UPDATE events SET body = x'ff7b' WHERE seq = 2")
    histories.read_all()
    assert histories.hits("walrus") == []
    assert histories.hits("lone half") == [(A, 7)]


def test_a_search_before_all_is_read_says_how_much_is(histories: Histories) -> None:
    assert histories.find("walrus").read == 0.0
    histories.say(A, *[user(f"walrus {number}") for number in range(searching.PIECE_EVENTS * 2)])
    histories.index.step()  # the comparison with the journal
    histories.index.step()
    assert histories.find("walrus").read == 0.5
    histories.read_all()
    assert histories.find("walrus").read == 1.0


def test_a_search_that_takes_too_long_ends_with_what_it_has(
    histories: Histories, monkeypatch: pytest.MonkeyPatch
) -> None:
    histories.say(A, *[user(f"walrus {number}") for number in range(500)])
    histories.read_all()
    monkeypatch.setattr(searching, "SEARCH_S", -1.0)
    monkeypatch.setattr(searching, "OPERATIONS", 2_000)
    found = histories.find("walrus", since=1000.0, limit=100)
    assert not found.complete
    if found.hits:
        monkeypatch.undo()
        assert histories.find("walrus", cursor=found.next_cursor, limit=1).hits[0].seq == found.hits[-1].seq - 1


def test_a_search_without_words_is_refused(histories: Histories) -> None:
    with pytest.raises(InvalidInput):
        histories.find("?!")


# --- what goes from the journal goes from here ----------------------------------------------------------------------

SECRET = "quixotichippopotamus"  # one word, so that the index has it in one piece


def traces(histories: Histories, word: str = SECRET) -> list[str]:
    """Files of the search that have this word in them."""
    files = histories.search_file.parent.glob("search.sqlite3*")
    return [file.name for file in files if word.encode() in file.read_bytes()]


def test_a_deleted_conversation_leaves_no_word_in_the_file(histories: Histories) -> None:
    for number in range(20):  # several segments of the index, with the word beside others
        histories.say(A, user(f"the {SECRET} of number {number}"))
        histories.say(B, user(f"what stays of number {number}"))
        histories.read_all()
    histories.index.rest()
    assert traces(histories) == ["search.sqlite3"]
    histories.journal.delete(A)
    assert histories.find(SECRET).hits == ()  # at once
    histories.read_all()
    histories.index.rest()
    assert traces(histories) == []
    assert len(histories.find("stays", limit=50).hits) == 20


def test_pruned_events_leave_no_word_in_the_file(histories: Histories) -> None:
    histories.say(A, *[user(f"{SECRET} {number}") for number in range(300)], *[user("stays")] * 10)
    histories.read_all()
    while histories.journal.prune(0.0, Retention(max_events=10)):
        pass
    assert histories.find(SECRET).hits == ()  # at once
    histories.index.check()
    histories.read_all()
    histories.index.rest()
    assert traces(histories) == []
    assert len(histories.find("stays").hits) == 10


def test_a_deletion_that_nobody_told_is_found_by_the_next_life(histories: Histories) -> None:
    histories.say(A, user(SECRET))
    histories.say(B, user("stays"))
    histories.read_all()
    histories.index.close()
    histories.journal.delete(A)
    histories.index = SearchIndex(histories.search_file, histories.journal_file)
    histories.read_all()
    histories.index.rest()
    assert traces(histories) == []
    assert histories.hits("stays") == [(B, 1)]


def test_events_under_row_numbers_of_deleted_ones_are_read(histories: Histories) -> None:
    histories.say(A, user("walrus one"))
    histories.read_all()
    histories.say(B, *[user(f"seal {number}") for number in range(20)])
    histories.read_all()
    histories.journal.delete(B)  # the newest events: their numbers are given again
    histories.say(C, *[user(f"walrus {number}") for number in range(30)])
    histories.read_all()
    assert histories.hits("walrus", limit=50) == [*((C, seq) for seq in range(30, 0, -1)), (A, 1)]
    assert histories.hits("seal*") == []


def test_a_journal_that_was_put_back_is_read_anew(histories: Histories, tmp_path: Path) -> None:
    histories.say(A, user("walrus one"))
    histories.read_all()
    histories.index.rest()
    histories.journal.close()
    shutil.copy(histories.journal_file, tmp_path / "copy")
    histories.journal = SqliteJournal(histories.journal_file)
    histories.say(A, user("walrus two"))
    histories.read_all()
    histories.close()
    shutil.copy(tmp_path / "copy", histories.journal_file)
    again = Histories(tmp_path)
    again.read_all()
    assert again.hits("walrus") == [(A, 1)]
    again.close()


# --- the file -------------------------------------------------------------------------------------------------------


def test_the_file_is_for_its_owner_only(histories: Histories) -> None:
    histories.say(A, user("walrus"))
    histories.read_all()
    for file in histories.search_file.parent.glob("search.sqlite3*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("harm", ["missing", "garbage", "torn", "version", "empty"])
def test_a_file_that_is_missing_or_damaged_or_of_another_version_is_made_again(
    histories: Histories, harm: str
) -> None:
    histories.say(A, *[user(f"walrus {number}") for number in range(100)])
    histories.read_all()
    histories.index.rest()
    file = histories.search_file
    if harm == "missing":
        file.unlink()
    elif harm == "version":
        with closing(sqlite3.connect(file)) as db:
            db.execute("PRAGMA user_version = 99")
    else:
        data = file.read_bytes()
        file.write_bytes({"garbage": os.urandom(len(data)), "torn": data[: len(data) // 2], "empty": b""}[harm])
    histories.say(A, user("walrus"))
    for _ in range(2):  # damage may show in the first search alone
        histories.read_all()
        try:
            found = histories.find("walrus", limit=200)
        except StorageFailed:
            continue
        break
    assert len(found.hits) == 101


def test_damage_that_a_search_finds_is_repaired_by_the_next_piece(histories: Histories) -> None:
    histories.say(A, *[user(f"walrus {number}") for number in range(100)])
    histories.read_all()
    histories.index.rest()
    with closing(sqlite3.connect(histories.search_file)) as db, db:
        db.execute("UPDATE words_data SET block = x'00' WHERE id > 10")
    with pytest.raises(StorageFailed):
        histories.find("walrus")
    histories.read_all()
    assert len(histories.find("walrus", limit=200).hits) == 100


def test_a_damaged_journal_is_said_and_no_reason_to_read_it_again_and_again(histories: Histories) -> None:
    histories.say(A, user("walrus"))
    histories.journal.close()
    histories.journal_file.write_bytes(b"no database " * 1_000)
    assert histories.index.step() is True
    for _ in range(2):
        with pytest.raises(StorageFailed):
            histories.index.step()


def test_a_removed_file_begins_anew(histories: Histories) -> None:
    histories.say(A, user(SECRET))
    histories.read_all()
    histories.index.remove()
    assert list(histories.search_file.parent.glob("search.sqlite3*")) == []
    histories.read_all()
    assert histories.hits(SECRET) == [(A, 1)]


def test_a_full_disk_is_said_and_reading_goes_on_when_there_is_room(
    histories: Histories, monkeypatch: pytest.MonkeyPatch
) -> None:
    histories.say(A, user("walrus"))
    monkeypatch.setattr(searching, "LEFT_FREE", 1 << 60)
    with pytest.raises(StorageFull, match="which the journal may need"):
        histories.read_all()
    monkeypatch.undo()
    histories.read_all()
    assert histories.hits("walrus") == [(A, 1)]


def test_a_disk_that_fills_up_in_a_piece_takes_nothing_of_what_was_read(histories: Histories) -> None:
    histories.say(A, user("walrus before"))
    histories.read_all()
    histories.say(A, *[user(f"walrus {number} " + "y" * 1_000) for number in range(1_000)])
    assert histories.index._db is not None
    histories.index._db.execute("PRAGMA main.max_page_count = 60")
    with pytest.raises(StorageFull):
        histories.read_all()
    assert histories.hits("walrus before") == [(A, 1)]
    histories.read_all()  # with a connection that has no such limit
    assert histories.hits("walrus 999") == [(A, 1_001)]
    assert len(histories.find("walrus", limit=2_000).hits) == 1_001


def test_a_journal_can_shorten_its_log_while_the_search_rests(histories: Histories) -> None:
    histories.say(A, user("walrus"))
    histories.read_all()
    histories.say(A, *[user("more")] * 100)
    with closing(sqlite3.connect(histories.journal_file)) as db:
        assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)


def test_the_end_leaves_no_connection_to_the_journal(histories: Histories) -> None:
    histories.say(A, user("walrus"))
    histories.read_all()
    histories.close()
    assert not histories.journal_file.with_name("journal.sqlite3-wal").exists()
    assert histories.index.step() is False
    with pytest.raises(StorageFailed):
        histories.find("walrus")


def test_a_piece_is_bounded_by_bytes_too(histories: Histories) -> None:
    histories.say(A, *[user("walrus " + "y" * (searching.PIECE_BYTES // 2)) for _ in range(6)])
    began = time.monotonic()
    assert histories.read_all() >= 6
    assert len(histories.find("walrus").hits) == 6
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("cursor", ["next", "-1", "9" * 19, "²", "1.5"])
def test_a_cursor_that_was_never_given_is_refused(histories: Histories, cursor: str) -> None:
    histories.say(A, user("a walrus"))
    histories.read_all()
    with pytest.raises(InvalidInput, match=r"^cursor: "):
        histories.find("walrus", cursor=cursor)
