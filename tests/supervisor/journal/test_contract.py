"""Promises of every journal: of the real journal, and of the fake that other tests use."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from actors.messages.ports import Journal
from actors.vocabulary.errors import StorageFailed
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Head, KeptText, ListQuery, OldText
from supervisor.journal import SqliteJournal
from tests.fakes.journal import FakeJournal
from tests.supervisor.journal.sample import (
    A,
    B,
    C,
    begin,
    contents,
    conversation,
    follow,
    head,
    kinds,
    record,
    records,
    stored,
)

CONFLICT = "sequence_conflict"


@pytest.fixture(params=["sqlite", "fake"])
def journal(request: pytest.FixtureRequest, path: Path) -> Iterator[Journal]:
    made: Journal = SqliteJournal(path) if request.param == "sqlite" else FakeJournal()
    yield made
    made.close()


def test_appended_records_are_read_back_unchanged(journal: Journal) -> None:
    stored(journal, [begin(A, 3, "wörds \x00 \u2028 and 🦀")])
    page = journal.read(A, 0, 10)
    assert page is not None
    assert page.records == records(1, 3, "wörds \x00 \u2028 and 🦀")
    assert (page.first_seq, page.last_seq, page.complete) == (1, 3, True)
    assert journal.head(A) == head(A, 3)


def test_a_record_without_a_turn_has_none_when_read(journal: Journal) -> None:
    bare = replace(record(1), turn=None)
    stored(journal, [Append(A, (bare,), head(A, 1))])
    page = journal.read(A, 0, 1)
    assert page is not None
    assert page.records == (bare,)


def test_an_append_that_leaves_a_gap_is_refused_alone(journal: Journal) -> None:
    stored(journal, [begin(A), begin(B)])
    answers = journal.commit([follow(A, 2, 2), follow(B, 3, 3), begin(C)])
    assert kinds(answers) == [None, CONFLICT, None]
    assert {of: h.last_seq for of, (h, _) in contents(journal).items()} == {A: 2, B: 1, C: 1}


def test_an_append_that_repeats_a_number_is_refused_alone(journal: Journal) -> None:
    stored(journal, [begin(A, 2), begin(B, 2)])
    assert kinds(journal.commit([follow(A, 2, 3), follow(B, 3, 3)])) == [CONFLICT, None]
    assert contents(journal)[A][1] == records(1, 2)


def test_a_gap_inside_an_append_refuses_all_of_it(journal: Journal) -> None:
    stored(journal, [begin(A)])
    assert kinds(journal.commit([Append(A, (record(2), record(4)))])) == [CONFLICT]
    assert contents(journal)[A][1] == records(1, 1)


def test_appends_of_one_conversation_in_one_group_follow_each_other(journal: Journal) -> None:
    answers = journal.commit([begin(A, 2), follow(A, 3, 3), follow(A, 5, 5), follow(A, 4, 4)])
    assert kinds(answers) == [None, None, CONFLICT, None]
    assert contents(journal)[A][1] == records(1, 4)


def test_appends_after_a_refused_one_of_the_same_conversation_are_refused_too(journal: Journal) -> None:
    stored(journal, [begin(A)])
    assert kinds(journal.commit([follow(A, 3, 3), follow(A, 4, 4)])) == [CONFLICT, CONFLICT]


def test_the_first_append_of_a_conversation_brings_its_head(journal: Journal) -> None:
    assert kinds(journal.commit([follow(A, 1, 1)])) == [CONFLICT]
    assert journal.head(A) is None
    assert journal.read(A, 0, 1) is None


@pytest.mark.parametrize("wrong", [head(A, 1), head(A, 3), head(B, 2)], ids=["behind", "ahead", "a stranger's"])
def test_a_head_that_does_not_belong_to_the_records_is_refused(journal: Journal, wrong: Head) -> None:
    append = replace(begin(A, 2), head=wrong)
    assert kinds(journal.commit([append])) == [CONFLICT]
    assert contents(journal) == {}


def test_a_conversation_may_begin_without_events(journal: Journal) -> None:
    stored(journal, [Append(A, (), head(A, 0))])
    page = journal.read(A, 0, 10)
    assert page is not None
    assert (page.records, page.first_seq, page.last_seq, page.complete) == ((), 1, 0, True)
    stored(journal, [follow(A, 1, 1)])


def test_records_without_a_head_move_last_seq_and_updated_only(journal: Journal) -> None:
    stored(journal, [begin(A, 2, checkpoint_seq=2)])
    stored(journal, [Append(A, (record(3, ts=5000.0), record(4, ts=5001.5)))])
    assert journal.head(A) == replace(head(A, 2, checkpoint_seq=2), last_seq=4, updated=5001.5)


def test_a_head_without_records_replaces_every_field(journal: Journal) -> None:
    stored(journal, [begin(A, 2)])
    changed = replace(
        head(A, 2, checkpoint_seq=1, archived=True, updated=9.0),
        name="a name",
        cwd="/",
        model="n",
        state="failed",
        preview="",
        settings=b"\x00\xff",
        created=2.0,
        generation=7,
        tokens=1 << 40,
    )
    stored(journal, [Append(A, (), changed)])
    assert journal.head(A) == changed
    assert contents(journal)[A][1] == records(1, 2)


def test_an_append_that_says_nothing_changes_nothing(journal: Journal) -> None:
    stored(journal, [begin(A, 2)])
    before = contents(journal)
    stored(journal, [Append(A, ())])
    assert contents(journal) == before
    assert journal.commit([]) == []


def test_pages_follow_the_cursor_until_they_are_complete(journal: Journal) -> None:
    stored(journal, [begin(A, 7)])
    seen: list[int] = []
    complete = False
    while not complete:
        page = journal.read(A, seen[-1] if seen else 0, 3)
        assert page is not None
        assert len(page.records) <= 3
        seen += [r.seq for r in page.records]
        complete = page.complete
    assert seen == [1, 2, 3, 4, 5, 6, 7]


def test_a_page_ends_before_it_outgrows_its_bytes_but_has_one_record(journal: Journal) -> None:
    stored(journal, [begin(A, 4, "x" * 1000)])
    size = len(record(1, "x" * 1000).body)
    for max_bytes, count in ((0, 1), (size, 1), (2 * size - 1, 1), (2 * size, 2), (1 << 20, 4)):
        page = journal.read(A, 0, 10, max_bytes)
        assert page is not None
        assert len(page.records) == count


def test_pages_before_a_cursor_come_from_the_end_to_the_beginning_each_oldest_first(journal: Journal) -> None:
    stored(journal, [begin(A, 7), begin(B, 7)])
    seen: list[list[int]] = []
    before, begun = 1 << 70, False
    while not begun:
        page = journal.read_back(A, before, 3)
        assert page is not None
        assert (page.first_seq, page.last_seq) == (1, 7)
        assert page.records == records(page.records[0].seq, page.records[-1].seq)
        seen.append([r.seq for r in page.records])
        before, begun = seen[-1][0], page.is_the_beginning
    assert seen == [[5, 6, 7], [2, 3, 4], [1]]


@pytest.mark.parametrize("before", [1, 0, -(1 << 70)])
def test_nothing_comes_before_the_beginning(journal: Journal, before: int) -> None:
    stored(journal, [begin(A, 2)])
    page = journal.read_back(A, before, 10)
    assert page is not None
    assert (page.records, page.is_the_beginning) == ((), True)
    assert journal.read_back(B, before, 10) is None


def test_a_page_before_a_cursor_keeps_its_bytes_too_and_has_what_is_nearest(journal: Journal) -> None:
    stored(journal, [begin(A, 4, "x" * 1000)])
    size = len(record(1, "x" * 1000).body)
    for max_bytes, found in ((0, [3]), (2 * size - 1, [3]), (2 * size, [2, 3]), (1 << 20, [1, 2, 3])):
        page = journal.read_back(A, 4, 10, max_bytes)
        assert page is not None
        assert [r.seq for r in page.records] == found


@pytest.mark.parametrize("after", [-1, -(1 << 70)])
def test_a_cursor_before_the_beginning_reads_from_the_beginning(journal: Journal, after: int) -> None:
    stored(journal, [begin(A, 2)])
    page = journal.read(A, after, 10)
    assert page is not None
    assert page.records == records(1, 2)


@pytest.mark.parametrize("after", [2, 3, 1 << 70])
def test_a_cursor_at_or_behind_the_end_reads_nothing(journal: Journal, after: int) -> None:
    stored(journal, [begin(A, 2)])
    page = journal.read(A, after, 10)
    assert page is not None
    assert (page.records, page.last_seq, page.complete) == ((), 2, True)


def test_a_limit_below_one_still_gives_one_record(journal: Journal) -> None:
    stored(journal, [begin(A, 2)])
    for limit in (0, -1):
        page = journal.read(A, 0, limit)
        assert page is not None
        assert page.records == records(1, 1)


# --- lists ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def listed(journal: Journal) -> Journal:
    """Nine conversations. Each is updated at ten times its number, and was created in reverse."""
    rows = [
        head(conversation(1), 0, updated=10.0, created=9.0, name="one"),
        head(conversation(2), 0, updated=20.0, created=8.0, state="running", cwd="/b"),
        head(conversation(3), 0, updated=30.0, created=7.0, state="archived", archived=True, name="old"),
        head(conversation(4), 0, updated=40.0, created=6.0, state="failed", cwd="/b"),
        head(conversation(5), 0, updated=50.0, created=5.0),
        head(conversation(6), 0, updated=60.0, created=4.0, state="failed", archived=True),
        head(conversation(7), 0, updated=70.0, created=3.0, state="waiting", cwd="/b", name="seven"),
        head(conversation(8), 0, updated=80.0, created=2.0, state="archived", archived=True, cwd="/b"),
        head(conversation(9), 0, updated=90.0, created=1.0),
    ]
    stored(journal, [Append(row.conversation, (), row) for row in rows])
    return journal


def numbers(heads: Iterable[Head]) -> list[int]:
    return [int(one.conversation[-3:]) for one in heads]


def all_pages(journal: Journal, query: ListQuery) -> list[int]:
    found: list[int] = []
    page = journal.list_page(query)
    total = page.total
    found += numbers(page.heads)
    while page.next is not None:
        assert len(page.heads) == query.limit
        page = journal.list_page(replace(query, after=page.next))
        assert page.total == total
        found += numbers(page.heads)
    assert len(found) == total
    return found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (ListQuery(), [9, 7, 5, 4, 2, 1]),
        (ListQuery(archived=True), [9, 8, 7, 6, 5, 4, 3, 2, 1]),
        (ListQuery(order="created"), [1, 2, 4, 5, 7, 9]),
        (ListQuery(archived=True, order="created"), [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (ListQuery(state="idle"), [9, 5, 1]),
        (ListQuery(state="failed"), [4]),
        (ListQuery(state="failed", archived=True), [6, 4]),
        (ListQuery(state="archived"), []),
        (ListQuery(cwd="/b"), [7, 4, 2]),
        (ListQuery(cwd="/b", archived=True), [8, 7, 4, 2]),
        (ListQuery(cwd="/b", archived=True, order="created"), [2, 4, 7, 8]),
        (ListQuery(cwd="/b", state="failed"), [4]),
        (ListQuery(cwd="/nowhere"), []),
        (ListQuery(name="seven"), [7]),
        (ListQuery(name="old"), []),
        (ListQuery(name="old", archived=True), [3]),
        (ListQuery(name="seven", cwd="/b", state="waiting"), [7]),
        (ListQuery(name="seven", cwd="/elsewhere"), []),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 100])
def test_pages_of_a_list_have_all_that_the_filters_fit_in_order(
    listed: Journal, query: ListQuery, expected: list[int], limit: int
) -> None:
    assert all_pages(listed, replace(query, limit=limit)) == expected


def test_conversations_of_the_same_time_are_paged_by_their_age(journal: Journal) -> None:
    ids = [conversation(number) for number in range(1, 8)]
    stored(journal, [Append(one, (), head(one, 0, updated=5.0)) for one in ids])
    assert all_pages(journal, ListQuery(limit=2)) == [7, 6, 5, 4, 3, 2, 1]
    assert all_pages(journal, ListQuery(limit=3, order="created")) == [7, 6, 5, 4, 3, 2, 1]


def test_a_limit_below_one_still_lists_one(listed: Journal) -> None:
    assert numbers(listed.list_page(ListQuery(limit=0)).heads) == [9]


def test_a_row_is_the_head_without_what_is_large(journal: Journal) -> None:
    stored(journal, [begin(A, 2, checkpoint_seq=2)])
    row = replace(head(A, 2, checkpoint_seq=2), settings=b"", checkpoint=b"")
    assert journal.row(A) == row
    assert journal.list_page(ListQuery()).heads == (row,)
    assert journal.row(B) is None


def test_a_list_is_sorted_by_the_last_head_and_not_by_the_last_event(journal: Journal) -> None:
    stored(journal, [begin(A, 1), begin(B, 2)])
    stored(journal, [Append(A, (record(2, ts=9000.0),))])
    row = journal.row(A)
    assert row is not None
    assert (row.last_seq, row.updated) == (2, 1001.0)
    assert numbers(journal.list_page(ListQuery()).heads) == [2, 1]
    stored(journal, [Append(A, (), head(A, 2, updated=9000.0))])
    assert numbers(journal.list_page(ListQuery()).heads) == [1, 2]


def test_a_list_follows_every_change_of_a_head(listed: Journal) -> None:
    changed = head(conversation(5), 0, updated=55.0, state="archived", archived=True, cwd="/b", name="five")
    stored(listed, [Append(changed.conversation, (), changed)])
    listed.delete(conversation(9))
    assert all_pages(listed, ListQuery(limit=2)) == [7, 4, 2, 1]
    assert all_pages(listed, ListQuery(cwd="/b", archived=True)) == [8, 7, 5, 4, 2]
    assert all_pages(listed, ListQuery(cwd=head(A, 0).cwd, archived=True)) == [6, 3, 1]
    assert listed.find_name("five") == conversation(5)


def test_a_name_finds_its_conversation_until_it_has_another(listed: Journal) -> None:
    assert listed.find_name("one") == conversation(1)
    assert listed.find_name("old") == conversation(3)
    assert listed.find_name("nobody") is None
    stored(listed, [Append(conversation(1), (), head(conversation(1), 0, name="won"))])
    assert listed.find_name("one") is None
    assert listed.find_name("won") == conversation(1)


def test_of_several_with_one_name_the_most_recently_updated_is_found(journal: Journal) -> None:
    for one, updated in ((A, 20.0), (B, 30.0), (C, 10.0)):
        stored(journal, [Append(one, (), head(one, 0, name="same", updated=updated))])
    assert journal.find_name("same") == B
    assert all_pages(journal, ListQuery(name="same", limit=1)) == [2, 1, 3]


def test_a_prefix_finds_the_ids_that_begin_with_it(journal: Journal) -> None:
    ids = [ConversationId(one) for one in ("ab%", "abc", "abd", "ac", "Abc", "a_")]
    stored(journal, [Append(one, (), head(one, 0)) for one in ids])
    assert journal.starting_with("ab", 10) == ["ab%", "abc", "abd"]
    assert journal.starting_with("ab", 2) == ["ab%", "abc"]
    assert journal.starting_with("a_", 10) == ["a_"]
    assert journal.starting_with("ad", 10) == []
    assert len(journal.starting_with("", 10)) == 6


def test_a_conversation_that_is_not_at_rest_is_unsettled(listed: Journal) -> None:
    assert numbers(listed.unsettled_heads()) == [7, 2]


@pytest.mark.parametrize(
    ("most", "untouched_since", "limit", "expected"),
    [
        (None, None, 10, []),
        (9, None, 10, []),
        (20, None, 10, []),
        (7, None, 10, [1, 3]),
        (0, None, 10, [1, 3, 4, 5, 6, 8, 9]),
        (0, None, 3, [1, 3, 4]),
        (None, 55.0, 10, [1, 3, 4, 5]),
        (None, 50.0, 10, [1, 3, 4]),
        (8, 45.0, 10, [1, 3, 4]),
        (6, 15.0, 10, [1, 3, 4]),
        (6, 15.0, 2, [1, 3]),
    ],
)
def test_the_surplus_is_at_rest_and_begins_with_the_longest_untouched(
    listed: Journal, most: int | None, untouched_since: float | None, limit: int, expected: list[int]
) -> None:
    assert [int(one[-3:]) for one in listed.surplus(most, untouched_since, limit)] == expected


def test_a_deleted_conversation_is_gone_and_its_id_is_free_again(journal: Journal) -> None:
    stored(journal, [begin(A, 1200), begin(B)])
    journal.delete(A)
    assert journal.head(A) is None
    assert journal.read(A, 0, 10) is None
    assert list(contents(journal)) == [B]
    stored(journal, [begin(A, 2, "another")])
    assert contents(journal)[A][1] == records(1, 2, "another")


def test_deleting_what_is_not_there_does_nothing(journal: Journal) -> None:
    journal.delete(ConversationId("nobody"))
    assert contents(journal) == {}


def test_a_closed_journal_refuses_appends_and_reads(journal: Journal) -> None:
    stored(journal, [begin(A)])
    journal.close()
    journal.close()
    assert kinds(journal.commit([follow(A, 2, 2)])) == ["storage_failed"]
    with pytest.raises(StorageFailed):
        journal.read(A, 0, 1)
    with pytest.raises(StorageFailed):
        journal.list_page(ListQuery())


# --- unfinished text ------------------------------------------------------------------------------------------------


def piece(start: int, end: int, tail: str = "item/agent_message_delta", since: int = 2) -> KeptText:
    return KeptText(tail, since, start, end, b'{"delta":"%d"}' % start)


def test_unfinished_text_is_kept_beside_the_events_in_pieces(journal: Journal) -> None:
    stored(journal, [begin(A, 2), Append(A, (), kept=(piece(0, 5), piece(0, 1, "other")))])
    stored(journal, [Append(A, (), kept=(piece(5, 9),))])
    assert journal.kept_text(A) == (piece(0, 5), piece(5, 9), piece(0, 1, "other"))
    assert journal.kept_text(B) == ()
    page = journal.read(A, 0, 10)
    assert page is not None
    assert [one.seq for one in page.records] == [1, 2]


def test_text_is_removed_with_the_event_that_says_all_of_it_or_not_at_all(journal: Journal) -> None:
    stored(journal, [begin(A, 2), Append(A, (), kept=(piece(0, 5), piece(0, 1, "other")))])
    whole = OldText("item/agent_message_delta", 2, 1 << 62)
    assert kinds(journal.commit([Append(A, (record(9),), old=(whole,))])) == [CONFLICT]
    assert len(journal.kept_text(A)) == 2
    stored(journal, [Append(A, (record(3),), old=(whole,))])
    assert journal.kept_text(A) == (piece(0, 1, "other"),)


def test_the_pieces_of_a_text_are_removed_up_to_a_place(journal: Journal) -> None:
    stored(journal, [begin(A, 2), Append(A, (), kept=(piece(0, 5),)), Append(A, (), kept=(piece(5, 9),))])
    stored(journal, [Append(A, (), kept=(piece(9, 12),), old=(OldText("item/agent_message_delta", 2, 5),))])
    assert journal.kept_text(A) == (piece(5, 9), piece(9, 12))


def test_the_same_item_that_begins_again_is_another_text(journal: Journal) -> None:
    stored(journal, [begin(A, 2), Append(A, (), kept=(piece(0, 5), piece(0, 3, since=1)))])
    stored(journal, [Append(A, (), old=(OldText("item/agent_message_delta", 1, 1 << 62),))])
    assert journal.kept_text(A) == (piece(0, 5),)


def test_the_end_of_a_turn_clears_all_text_of_its_conversation_even_what_came_in_the_same_commit(
    journal: Journal,
) -> None:
    kept = [Append(A, (), kept=(piece(0, 5),)), Append(B, (), kept=(piece(0, 5),))]
    stored(journal, [begin(A, 2), begin(B, 2), *kept, Append(A, (record(3),), clears=True)])
    assert (journal.kept_text(A), journal.kept_text(B)) == ((), (piece(0, 5),))
    finished = Append(B, (record(3),), old=(OldText("item/agent_message_delta", 2, 1 << 62),))
    stored(journal, [Append(B, (), kept=(piece(5, 6),)), finished])
    assert journal.kept_text(B) == ()


def test_the_text_of_a_deleted_conversation_is_gone(journal: Journal) -> None:
    stored(journal, [begin(A, 2), Append(A, (), kept=(piece(0, 5),))])
    journal.delete(A)
    stored(journal, [begin(A, 2)])
    assert journal.kept_text(A) == ()
