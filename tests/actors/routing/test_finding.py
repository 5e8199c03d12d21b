"""Lookups of what sleeps, by id, name and prefix, whatever happens between the question and its answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from actors.journal.directory import CANDIDATES
from actors.messages.conversation import (
    Begin,
    CancelRequest,
    ConnectionClosed,
    Inspect,
    Quiesce,
    Rename,
    Revived,
    ToConversation,
)
from actors.messages.effects import Settle
from actors.messages.journal import RunLookup
from actors.messages.orders import RunAgent
from actors.messages.routing import (
    ClaimName,
    Create,
    ListAwake,
    ListBeginning,
    ListConversations,
    NameClaimed,
    RegistryQuery,
    Remove,
    Resolve,
    ToRegistry,
)
from actors.routing.core import STASH_LIMIT
from actors.routing.lookups import LOOKUPS_LIMIT
from actors.routing.registry import LOOKUP_S
from actors.vocabulary.answers import (
    AcceptedInput,
    Candidates,
    ConversationList,
    ConversationSummary,
    Done,
    ResolvedReference,
    StartedConversation,
    TurnResult,
)
from actors.vocabulary.errors import (
    ActorGone,
    AmbiguousConversation,
    DeadlineExceeded,
    GreenroomError,
    InvalidInput,
    NameTaken,
    Overloaded,
    SequenceConflict,
    StorageFailed,
    StorageLost,
    UnknownConversation,
    WrongState,
)
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import HeadPage, ListQuery
from tests.actors.conftest import Poison
from tests.fakes.agents import says
from tests.fakes.daemon import SETTINGS, StagedDaemon

A = ConversationId("aaaa-0001")
B = ConversationId("bbbb-0002")
C = ConversationId("cccc-0003")


@pytest.fixture
def asleep(daemon: StagedDaemon) -> StagedDaemon:
    """A and B, parked; A has a name."""
    daemon.agents.script = lambda _: says("hello")
    daemon.create(A, "name")
    daemon.create(B)
    daemon.run()
    park(daemon)
    return daemon


def park(daemon: StagedDaemon) -> None:
    daemon.time.advance(601)
    daemon.run()


@contextmanager
def looking(daemon: StagedDaemon) -> Iterator[None]:
    """Nothing is looked up meanwhile."""
    with daemon.stage.holding(daemon.directory):
        yield
    daemon.run()


def remove(daemon: StagedDaemon, conversation: ConversationId) -> Caller:
    caller = daemon.caller()
    daemon.registry.tell(ToRegistry(Remove(conversation), caller))
    return caller


def rename(daemon: StagedDaemon, conversation: ConversationId, name: str) -> Caller:
    caller = daemon.caller()
    daemon.tell(conversation, Rename(name), caller)
    return caller


def listed(daemon: StagedDaemon, **filters: object) -> dict[ConversationId, str]:
    page = daemon.ask(ListConversations(ListQuery(**filters)))  # type: ignore[arg-type]  # fields of it
    assert isinstance(page, HeadPage)
    assert page.total == len(page.heads)
    return {head.conversation: head.state for head in page.heads}


# --- what it costs --------------------------------------------------------------------------------------------------


def test_a_thousand_parked_conversations_are_no_entry_and_no_session(daemon: StagedDaemon) -> None:
    daemon.agents.script = lambda _: says("hello")
    for number in range(1000):
        daemon.create(ConversationId(f"{number:04}-0000"), f"name-{number}")
        daemon.send(ConversationId(f"{number:04}-0000"))
        daemon.run()
    assert daemon.routing.statistics()["awake"] == 1000
    park(daemon)
    assert set(daemon.routing.statistics().values()) == {0}
    assert daemon.routing._sessions == {}
    successor = StagedDaemon(journal=daemon.journal)
    successor.run()
    assert set(successor.routing.statistics().values()) == {0}
    assert successor.ask(Resolve("name-999")) == ResolvedReference(ConversationId("0999-0000"))


def test_a_lookup_of_what_is_unknown_leaves_nothing(daemon: StagedDaemon) -> None:
    for number in range(100):
        daemon.send(ConversationId(f"{number:04}-0000"))
    daemon.run()
    assert set(daemon.routing.statistics().values()) == {0}


# --- messages that wait for a row -----------------------------------------------------------------------------------


def test_messages_during_the_lookup_of_a_conversation_arrive_in_order(asleep: StagedDaemon) -> None:
    with looking(asleep):
        _, reader = asleep.attach(A)
        sent, looked = asleep.send(A), asleep.caller()
        asleep.tell(A, Inspect(), looked)
        asleep.run()
    assert isinstance(asleep.answer(sent), TurnResult)
    assert isinstance(asleep.answer(looked), ConversationSummary)
    assert reader.records == list(asleep.journal.history(A))


def test_all_who_wait_for_what_is_not_there_are_told_so(daemon: StagedDaemon) -> None:
    with looking(daemon):
        waiting = [daemon.send(A), daemon.interrupt(A), remove(daemon, A), remove(daemon, A)]
        daemon.run()
    assert {type(daemon.answer(one)) for one in waiting} == {UnknownConversation}
    assert set(daemon.routing.statistics().values()) == {0}


def test_a_request_that_is_taken_back_during_the_lookup_starts_no_agent(
    asleep: StagedDaemon,
) -> None:
    with looking(asleep):
        sent = asleep.send(A)
        asleep.registry.tell(CancelRequest(sent))
        asleep.run()
    assert len(asleep.outbox.replies[sent]) == 1
    assert asleep.agents.ordered(RunAgent) == []
    assert asleep.routing.statistics()["requests"] == 0


def test_a_client_that_goes_while_its_conversation_is_looked_up_is_forgotten(asleep: StagedDaemon) -> None:
    with looking(asleep):
        _, reader = asleep.attach(A, connection="gone")
        asleep.send(A, caller=asleep.caller("gone"))
        asleep.run()
        asleep.registry.tell(ConnectionClosed(asleep.caller("gone").connection))
        asleep.run()
    summary = asleep.say(A, Inspect())
    assert isinstance(summary, ConversationSummary)
    assert summary.readers == ()
    assert reader.ended is None
    assert asleep.routing.statistics()["requests"] == 0


@pytest.mark.parametrize("moment", range(14))
def test_a_message_at_any_moment_of_parking_is_served(asleep: StagedDaemon, moment: int) -> None:
    asleep.send(A)
    asleep.run()
    asleep.time.advance(601)
    for _ in range(moment):
        asleep.stage.step()
    sent = asleep.send(A)
    asleep.run()
    assert isinstance(asleep.answer(sent), TurnResult)
    assert len([one for one in asleep.live if one.address.alive]) == 1


@pytest.mark.parametrize("moment", range(10))
def test_a_message_at_any_moment_of_a_deletion_is_refused(asleep: StagedDaemon, moment: int) -> None:
    removed = remove(asleep, A)
    for _ in range(moment):
        asleep.stage.step()
    sent = asleep.send(A)
    asleep.run()
    assert asleep.answer(removed) == Done()
    assert isinstance(asleep.answer(sent), UnknownConversation)
    assert asleep.journal.head(A) is None


def test_only_so_many_messages_wait_for_one_lookup(asleep: StagedDaemon) -> None:
    with looking(asleep):
        asleep.send(A)
        callers = [asleep.interrupt(A) for _ in range(STASH_LIMIT)]
        asleep.run()
        assert isinstance(asleep.answer(callers[-1]), Overloaded)
    assert all(len(asleep.outbox.replies[one]) == 1 for one in callers)


def test_only_so_many_lookups_wait_and_the_next_is_refused_at_once(asleep: StagedDaemon) -> None:
    with looking(asleep):
        for number in range(LOOKUPS_LIMIT):
            asleep.send(ConversationId(f"{number:08}-0000"))
            asleep.stage.deliver(asleep.registry)
        queries: tuple[RegistryQuery, ...] = (
            Resolve("name"),
            ListConversations(ListQuery()),
            Create(C, Begin(SETTINGS, "new")),
            Remove(B),
        )
        refused = [asleep.send(A), rename(asleep, B, "other"), *(asleep.caller() for _ in queries)]
        for caller, query in zip(refused[2:], queries, strict=True):
            asleep.registry.tell(ToRegistry(query, caller))
        asleep.run()
        assert {type(asleep.answer(one)) for one in refused} == {Overloaded}
    assert isinstance(asleep.answer(asleep.send_and_run(A)), AcceptedInput)
    assert isinstance(asleep.ask(Create(C, Begin(SETTINGS, "new"))), StartedConversation), (
        "the refused claim holds no name"
    )


def test_an_answer_of_the_directory_after_the_stop_began_wakes_nobody(asleep: StagedDaemon) -> None:
    before = len(asleep.live)
    with looking(asleep):
        sent = asleep.send(A)
        asleep.run()
        created = asleep.create(C, "new")
        asleep.registry.tell(Quiesce())
        asleep.run()
    assert isinstance(asleep.answer(sent), Overloaded)
    assert isinstance(asleep.answer(created), Overloaded)
    assert len(asleep.live) == before
    assert set(asleep.routing.statistics().values()) == {0}


# --- the disk -------------------------------------------------------------------------------------------------------


def lost(_: object) -> None:
    raise StorageLost("the file is gone")


def bug(_: object) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize(("failing", "error"), [(lost, StorageLost), (bug, StorageFailed)])
def test_whoever_asks_a_journal_that_can_not_be_read_is_told(
    asleep: StagedDaemon,
    monkeypatch: pytest.MonkeyPatch,
    failing: Callable[[object], None],
    error: type[GreenroomError],
) -> None:
    with monkeypatch.context() as patch:
        for method in ("row", "find_name", "list_page"):
            patch.setattr(asleep.journal, method, failing)
        waiting = [asleep.send(A), rename(asleep, A, "other"), asleep.create(C, "new"), remove(asleep, B)]
        asleep.run()
        answers = [asleep.answer(one) for one in waiting]
        answers += [asleep.ask(Resolve("name")), asleep.ask(ListConversations(ListQuery()))]
        assert {type(one) for one in answers} == {error}
    assert set(asleep.routing.statistics().values()) == {0}
    assert isinstance(asleep.ask(Create(C, Begin(SETTINGS, "new"))), StartedConversation)
    assert asleep.say(B, Rename("other")) == Done()


def test_a_disk_that_does_not_answer_in_time_is_not_waited_for(asleep: StagedDaemon) -> None:
    with looking(asleep):
        waiting = [asleep.send(A), rename(asleep, B, "other"), asleep.create(C, "new")]
        asleep.run()
        asleep.time.advance(LOOKUP_S + 1)
        asleep.run()
        assert {type(asleep.answer(one)) for one in waiting} == {DeadlineExceeded}
        again = asleep.send(A)
        asleep.run()
    assert isinstance(asleep.answer(again), TurnResult)
    assert {len(asleep.outbox.replies[one]) for one in waiting} == {1}, "the late answers mean nothing"
    assert asleep.routing.statistics()["lookups"] == 0


def test_a_directory_that_has_ended_refuses_nobody_silently() -> None:
    class Gone:
        def tell(self, message: RunLookup) -> None:
            raise ActorGone(f"the directory has ended before {message.number}")

    daemon = StagedDaemon(directory=Gone())
    waiting = [daemon.send(A), daemon.create(B, "new")]
    daemon.run()
    assert {type(daemon.answer(one)) for one in waiting} == {ActorGone}
    assert set(daemon.routing.statistics().values()) == {0}


# --- names ----------------------------------------------------------------------------------------------------------


class Told:
    """An address that keeps what it is told."""

    def __init__(self) -> None:
        self.refusals: list[GreenroomError | None] = []

    def tell(self, message: NameClaimed) -> None:
        self.refusals.append(message.refusal)


def claim(daemon: StagedDaemon, name: str, conversation: ConversationId) -> tuple[Caller, Told]:
    caller, told = daemon.caller("services"), Told()
    daemon.registry.tell(ClaimName(name, conversation, caller, told))
    return caller, told


def test_a_name_on_disk_is_taken_and_a_conversation_may_keep_its_own(asleep: StagedDaemon) -> None:
    assert isinstance(asleep.ask(Create(C, Begin(SETTINGS, "name"))), NameTaken)
    assert isinstance(asleep.say(B, Rename("name")), NameTaken)
    assert asleep.say(A, Rename("name")) == Done()


def test_a_message_to_a_conversation_whose_name_was_refused_finds_none(asleep: StagedDaemon) -> None:
    created, sent, removed = asleep.create(C, "name"), asleep.send(C), remove(asleep, C)
    asleep.run()
    assert isinstance(asleep.answer(created), NameTaken)
    assert isinstance(asleep.answer(sent), UnknownConversation)
    assert isinstance(asleep.answer(removed), UnknownConversation)
    assert set(asleep.routing.statistics().values()) == {0}


@pytest.mark.parametrize("moment", range(16))
def test_a_name_that_a_rename_gives_up_is_given_away_once(asleep: StagedDaemon, moment: int) -> None:
    renamed = rename(asleep, A, "other")
    for _ in range(moment):
        asleep.stage.step()
    created, taken = asleep.create(C, "name"), rename(asleep, B, "name")
    asleep.run()
    assert asleep.answer(renamed) == Done()
    granted = [one for one in (created, taken) if not isinstance(asleep.answer(one), NameTaken)]
    assert len(granted) <= 1
    names = [head.name for head in (asleep.journal.head(one) for one in (A, B, C)) if head and head.name]
    assert len(names) == len(set(names))
    assert asleep.ask(Create(ConversationId("dddd-0004"), Begin(SETTINGS, "name"))) == (
        StartedConversation(ConversationId("dddd-0004"), SETTINGS)
        if not granted
        else NameTaken("another conversation is called 'name'; choose another name")
    )


def test_two_who_give_one_conversation_the_same_name_are_both_told_that_it_has_it(asleep: StagedDaemon) -> None:
    first, second = rename(asleep, A, "other"), rename(asleep, A, "other")
    asleep.run()
    assert [asleep.answer(first), asleep.answer(second)] == [Done(), Done()]
    assert isinstance(asleep.say(B, Rename("other")), NameTaken)


def test_a_name_is_kept_for_a_copy_until_that_is_settled(asleep: StagedDaemon) -> None:
    caller, told = claim(asleep, "copy", C)
    created = asleep.create(ConversationId("dddd-0004"), "copy")
    asleep.run()
    assert told.refusals == [None]
    assert isinstance(asleep.answer(created), NameTaken)
    assert isinstance(asleep.say(B, Rename("copy")), NameTaken)
    asleep.registry.tell(Settle(caller))
    assert asleep.say(B, Rename("copy")) == Done()


def test_a_copy_gets_no_name_that_is_on_its_way_to_the_disk_or_unreadable(asleep: StagedDaemon) -> None:
    with asleep.stage.holding(asleep.journalist):
        asleep.create(C, "new")
        asleep.run()
        _, on_its_way = claim(asleep, "new", ConversationId("dddd-0004"))
        _, stored = claim(asleep, "name", ConversationId("dddd-0004"))
        _, unreadable = claim(asleep, "a\x1bb", ConversationId("dddd-0004"))
        asleep.run()
    asleep.run()
    refused = [type(told.refusals[0]) for told in (on_its_way, stored, unreadable)]
    assert refused == [NameTaken, NameTaken, InvalidInput]


def test_an_id_that_sleeps_is_not_created_again(asleep: StagedDaemon) -> None:
    named = asleep.ask(Create(A, Begin(SETTINGS, name="another")))
    assert named == WrongState(f"conversation {A} exists")
    fresh = asleep.ask(Create(A, Begin(SETTINGS)))
    assert isinstance(fresh, SequenceConflict), (
        "an id is fresh, so it is not looked for; the journal keeps what it has"
    )
    asleep.run()
    assert isinstance(asleep.say(A, Inspect()), ConversationSummary)


# --- references and lists -------------------------------------------------------------------------------------------


def test_a_prefix_that_very_many_have_names_the_first_of_them(daemon: StagedDaemon) -> None:
    for number in range(CANDIDATES + 5):
        daemon.create(ConversationId(f"{number:06}-0000"))
    daemon.run()
    ambiguous = daemon.ask(Resolve("00"))
    assert isinstance(ambiguous, AmbiguousConversation)
    assert ambiguous.message == "'00' matches more than 100 conversations"
    assert ambiguous.details["candidates"] == [ConversationId(f"{number:06}-0000") for number in range(CANDIDATES)]
    assert daemon.ask(ListBeginning("0001", 2)) == Candidates(
        (ConversationId("000100-0000"), ConversationId("000101-0000"))
    )


def test_a_list_by_state_shows_what_goes_on_now(asleep: StagedDaemon) -> None:
    asleep.agents.script = lambda _: ()
    asleep.create(C)
    asleep.send(C)
    asleep.say(B, Inspect())
    assert listed(asleep) == {C: "running", B: "idle", A: "parked"}
    assert listed(asleep, state="parked") == {A: "parked"}
    assert listed(asleep, state="running") == {C: "running"}
    assert listed(asleep, state="idle") == {B: "idle"}
    assert listed(asleep, state="archived", archived=True) == {}
    awake = asleep.ask(ListAwake())
    assert isinstance(awake, ConversationList)
    assert {head.conversation for head in awake.heads} == {B, C}


@pytest.mark.parametrize("state", [None, "parked", "idle"])
def test_every_conversation_is_on_one_page(daemon: StagedDaemon, state: str | None) -> None:
    everybody = [ConversationId(f"{number:04}-0000") for number in range(23)]
    for number, one in enumerate(everybody):
        daemon.create(one)
        daemon.run()
        daemon.time.advance(number % 2)
    park(daemon)
    live = everybody[::3]
    for one in live:
        daemon.say(one, Inspect())
    wanted = {None: everybody, "idle": live, "parked": [one for one in everybody if one not in live]}[state]
    query, found = ListQuery(state=state, limit=4), list[ConversationId]()
    while True:
        page = daemon.ask(ListConversations(query))
        assert isinstance(page, HeadPage)
        assert page.total == len(wanted)
        assert len(page.heads) == 4 or page.next is None
        found += [head.conversation for head in page.heads]
        if page.next is None:
            break
        query = ListQuery(state=state, limit=4, after=page.next)
    assert sorted(found) == wanted
    assert len(set(found)) == len(found)


def test_a_conversation_that_could_not_be_loaded_is_listed_with_its_failure(
    asleep: StagedDaemon, poison: Poison
) -> None:
    poison.chokes_on = lambda message: isinstance(message, ToConversation) and isinstance(message.command, Inspect)
    for _ in range(3):
        asleep.say(A, Inspect())  # is given up for good
    poison.chokes_on = lambda message: isinstance(message, Revived)
    asleep.say(B, Inspect())  # can't be loaded
    asleep.time.advance(700)
    asleep.run()
    assert listed(asleep) == {A: "failed", B: "failed"}
    assert listed(asleep, state="failed") == {A: "failed", B: "failed"}
    assert listed(asleep, state="parked") == {}
    found, query = list[ConversationId](), ListQuery(state="failed", limit=1)
    while True:
        page = asleep.ask(ListConversations(query))
        assert isinstance(page, HeadPage)
        found += [head.conversation for head in page.heads]
        if page.next is None:
            break
        query = ListQuery(state="failed", limit=1, after=page.next)
    assert sorted(found) == [A, B]
