"""Random histories: the file and the fake never tell them differently, also across reopening and pruning."""

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Head, ListQuery
from supervisor.journal import Retention, SqliteJournal
from tests.fakes.journal import FakeJournal
from tests.supervisor.journal.sample import contents, conversation, head, kinds, record, rows

ids = st.integers(1, 4).map(conversation)
HEADS: tuple[Callable[..., Head], ...] = (
    head,
    partial(head, state="running", name="a name"),
    partial(head, state="archived", archived=True),
    partial(head, cwd="/elsewhere", name="a name"),
    partial(head, cwd="/elsewhere", state="failed", created=500.0),
)
# Mostly what fits; now and then a gap, a repeat, or a head that is wrong or missing.
shapes = st.tuples(
    ids,
    st.integers(0, 4),
    st.sampled_from([0, 0, 0, 0, 1, -1]),
    st.sampled_from([0, 0, 1, None, None]),
    st.booleans(),
    st.sampled_from(HEADS),
)
QUERIES = (
    ListQuery(),
    ListQuery(archived=True, order="created"),
    ListQuery(state="running"),
    ListQuery(cwd="/elsewhere", limit=1),
    ListQuery(name="a name", archived=True),
)
texts = st.sampled_from(["", "x", "ü" * 300, "y" * 5000])


class SameStory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="journal-model-"))
        self.real = SqliteJournal(self.folder / "journal.db")
        self.fake = FakeJournal()
        self.clock = 1000.0

    def teardown(self) -> None:
        self.real.close()
        shutil.rmtree(self.folder)

    @rule(shapes=st.lists(shapes, max_size=5), text=texts)
    def commit(
        self, shapes: list[tuple[ConversationId, int, int, int | None, bool, Callable[..., Head]]], text: str
    ) -> None:
        group = []
        lasts = {h.conversation: h.last_seq for h in rows(self.fake)}
        for of, count, shift, head_off, durable, made in shapes:
            last = lasts.get(of, 0)
            self.clock += 1  # distinct times, so that the order of heads is told
            new = tuple(record(last + 1 + i + shift, text, self.clock) for i in range(count))
            with_head = None if head_off is None else made(of, last + count + head_off, updated=self.clock)
            group.append(Append(of, new, with_head, durable))
            lasts[of] = last + count
        assert kinds(self.real.commit(group)) == kinds(self.fake.commit(group))

    @rule(of=ids)
    def delete(self, of: ConversationId) -> None:
        self.real.delete(of)
        self.fake.delete(of)

    @rule(of=ids, after=st.integers(-1, 20), limit=st.integers(0, 5), max_bytes=st.integers(0, 3000))
    def read(self, of: ConversationId, after: int, limit: int, max_bytes: int) -> None:
        assert self.real.read(of, after, limit, max_bytes) == self.fake.read(of, after, limit, max_bytes)

    @rule()
    def reopen(self) -> None:
        self.real.close()
        self.real = SqliteJournal(self.folder / "journal.db")
        assert self.real.repair_report is None

    @rule()
    def prune_for_nothing(self) -> None:
        while self.real.prune(self.clock, Retention(max_age_s=1e9, max_events=10_000)):
            pass

    @invariant()
    def both_tell_the_same(self) -> None:
        assert contents(self.real) == contents(self.fake)
        assert rows(self.real) == rows(self.fake)
        for query in QUERIES:
            assert self.real.list_page(query) == self.fake.list_page(query)
        assert self.real.find_name("a name") == self.fake.find_name("a name")
        assert self.real.unsettled_heads() == self.fake.unsettled_heads()
        assert self.real.surplus(1, None, 3) == self.fake.surplus(1, None, 3)


TestSameStory = SameStory.TestCase
TestSameStory.settings = settings(max_examples=25, stateful_step_count=20)
