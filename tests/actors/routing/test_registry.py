"""The registry with sessions on the stage: creating, finding, listing, and how many may live."""

from pathlib import Path

import pytest

from actors.messages.conversation import (
    Attach,
    Begin,
    ConnectionClosed,
    Inspect,
    Interrupt,
    RecordJobEnd,
    Rename,
    ToConversation,
)
from actors.messages.orders import Completed, RunAgent
from actors.messages.routing import (
    AllAnswered,
    AllEnded,
    AwaitAnswers,
    Create,
    ListConversations,
    Resolve,
    ToRegistry,
)
from actors.vocabulary.answers import (
    AcceptedInput,
    AttachedReader,
    ConversationSummary,
    Done,
    InterruptedTurn,
    ResolvedReference,
    StartedConversation,
    TurnResult,
)
from actors.vocabulary.errors import (
    AmbiguousConversation,
    InvalidInput,
    MailboxFull,
    NameTaken,
    Overloaded,
    StorageFull,
    UnknownConversation,
    WrongState,
)
from actors.vocabulary.events import JobEnded, JobStarted
from actors.vocabulary.ids import CallId, ConnectionId, ConversationId, JobId, SubscriptionId
from actors.vocabulary.records import HeadPage, ListQuery
from tests.fakes.agents import FakeAgents, says
from tests.fakes.daemon import SETTINGS, StagedDaemon

LOOK = ToConversation(ConversationId("any"), Inspect())

A = ConversationId("aaaa-0001")
B = ConversationId("aabb-0002")
C = ConversationId("cccc-0003")


def listed(daemon: StagedDaemon) -> dict[ConversationId, str]:
    answer = daemon.ask(ListConversations(ListQuery()))
    assert isinstance(answer, HeadPage)
    return {head.conversation: head.state for head in answer.heads}


def test_a_conversation_is_created_chats_and_is_watched() -> None:
    daemon = StagedDaemon(agents=FakeAgents(lambda _: says("hello")))
    created = daemon.create(A)
    _, reader = daemon.attach(A)
    sent, quick = daemon.send(A), daemon.send(A, await_end=False)
    daemon.run()
    assert daemon.answer(created) == StartedConversation(A, SETTINGS)
    result, accepted = daemon.answer(sent), daemon.answer(quick)
    assert isinstance(result, TurnResult)
    assert result.message == "hello"
    assert isinstance(accepted, AcceptedInput)
    assert reader.records == list(daemon.journal.history(A))
    assert reader.types[:3] == ["session_configured", "task_started", "user_message"]


def test_a_conversation_that_nobody_knows_is_refused_to_everybody(daemon: StagedDaemon) -> None:
    sent, interrupted = daemon.send(A), daemon.interrupt(A)
    daemon.run()
    assert isinstance(daemon.answer(sent), UnknownConversation)
    assert isinstance(daemon.answer(interrupted), UnknownConversation)
    assert daemon.live == []


def test_an_id_is_created_once(daemon: StagedDaemon) -> None:
    daemon.create(A)
    assert isinstance(daemon.ask(Create(A, Begin(SETTINGS))), WrongState)


# --- names ----------------------------------------------------------------------------------------------------


def test_a_name_is_given_once(daemon: StagedDaemon) -> None:
    daemon.create(A, name="fix")
    daemon.create(B)
    assert isinstance(daemon.ask(Create(C, Begin(SETTINGS, "fix"))), NameTaken)
    assert isinstance(daemon.say(B, Rename("fix")), NameTaken)
    assert daemon.say(A, Rename("mend")) == Done()
    assert daemon.say(B, Rename("fix")) == Done()
    assert daemon.ask(Resolve("mend")) == ResolvedReference(A)
    assert daemon.ask(Resolve("fix")) == ResolvedReference(B)


@pytest.mark.parametrize("name", ["a\0b", "\x1b[2J", "de\u200bploy", "\u202efdp", "two\nlines", "\u3164", "  "])
def test_a_name_that_nobody_can_read_is_refused_and_says_why(daemon: StagedDaemon, name: str) -> None:
    refused = daemon.ask(Create(A, Begin(SETTINGS, name)))
    assert isinstance(refused, InvalidInput)
    assert refused.message.isprintable()
    assert "nobody can see" in refused.message
    daemon.create(B, name="seen")
    assert isinstance(daemon.say(B, Rename(name)), InvalidInput)
    assert daemon.ask(Resolve("seen")) == ResolvedReference(B)


def test_of_two_who_take_the_same_name_at_once_one_gets_it(daemon: StagedDaemon) -> None:
    daemon.create(A)
    daemon.create(B)
    daemon.run()
    first, second = daemon.caller(), daemon.caller()
    daemon.tell(A, Rename("fix"), first)
    daemon.tell(B, Rename("fix"), second)
    daemon.run()
    assert daemon.answer(first) == Done()
    assert isinstance(daemon.answer(second), NameTaken)


def test_a_name_that_the_disk_refused_is_free_again(daemon: StagedDaemon) -> None:
    daemon.create(A)
    daemon.create(B)
    daemon.run()
    daemon.journal.refusing = StorageFull("no room")
    assert isinstance(daemon.say(A, Rename("fix")), StorageFull)
    daemon.journal.refusing = None
    assert daemon.say(B, Rename("fix")) == Done()


def test_a_question_right_after_an_answer_finds_its_effect(daemon: StagedDaemon) -> None:
    """The registry has handled no message since the answer left, and yet it knows."""
    created = daemon.create(A, name="fix")
    daemon.stage.run(until=lambda: created in daemon.outbox.replies)
    caller = daemon.caller()
    daemon.registry.tell(ToRegistry(ListConversations(ListQuery()), caller))
    daemon.stage.deliver(daemon.registry, len(daemon.routing.mailbox))
    daemon.stage.deliver(daemon.directory)
    daemon.stage.deliver(daemon.registry, len(daemon.routing.mailbox))
    answer = daemon.answer(caller)
    assert isinstance(answer, HeadPage)
    assert [head.name for head in answer.heads] == ["fix"]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [("aaaa-0001", A), ("aaa", A), ("cc", C), ("fix", B), ("aabb", B)],
)
def test_an_id_a_name_or_a_prefix_that_only_one_has_is_enough(
    daemon: StagedDaemon, reference: str, expected: ConversationId
) -> None:
    for conversation, name in ((A, None), (B, "fix"), (C, None)):
        daemon.create(conversation, name)
    daemon.run()
    assert daemon.ask(Resolve(reference)) == ResolvedReference(expected)


def test_a_prefix_that_several_have_names_them_and_one_letter_is_none(daemon: StagedDaemon) -> None:
    for conversation in (A, B, C):
        daemon.create(conversation)
    daemon.run()
    ambiguous = daemon.ask(Resolve("aa"))
    assert isinstance(ambiguous, AmbiguousConversation)
    assert ambiguous.details["candidates"] == [A, B]
    assert isinstance(daemon.ask(Resolve("c")), UnknownConversation)
    assert isinstance(daemon.ask(Resolve("zz")), UnknownConversation)


# --- the list -------------------------------------------------------------------------------------------------


def test_the_list_shows_who_runs_who_is_idle_and_who_is_parked(daemon: StagedDaemon) -> None:
    for conversation in (A, B, C):
        daemon.create(conversation)
    daemon.run()
    daemon.time.advance(601)
    daemon.run()
    daemon.send(A)
    daemon.say(B, Inspect())
    assert listed(daemon) == {A: "running", B: "idle", C: "parked"}
    daemon.agents.end(daemon.agents.last().turn, Completed())
    daemon.run()
    assert listed(daemon) == {A: "idle", B: "idle", C: "parked"}


def test_the_list_is_not_ahead_of_what_a_reader_who_comes_next_is_given(daemon: StagedDaemon) -> None:
    """The end of the turn is on disk already; its owner, who gives readers what is stored, does not know that yet."""
    daemon.create(A)
    daemon.send(A)
    daemon.run()
    owner = daemon.session(A).address
    with daemon.stage.holding(owner):
        daemon.agents.end(daemon.agents.last().turn, Completed())
        daemon.stage.deliver(owner)
        daemon.run()
        assert [head.state for head in daemon.journal.list_page(ListQuery()).heads] == ["idle"]
        assert listed(daemon) == {A: "running"}
    daemon.run()
    assert listed(daemon) == {A: "idle"}


# --- how many may live ----------------------------------------------------------------------------------------


def test_beyond_the_limit_nobody_is_created_or_woken_until_somebody_leaves() -> None:
    daemon = StagedDaemon(max_live=2)
    daemon.create(A)
    daemon.run()
    daemon.time.advance(601)
    daemon.run()
    daemon.create(B)
    daemon.create(C)
    refused, woken = daemon.create(ConversationId("dddd-0004")), daemon.send(A)
    daemon.run()
    assert isinstance(daemon.answer(refused), Overloaded)
    assert isinstance(daemon.answer(woken), Overloaded)
    daemon.time.advance(601)
    daemon.run()
    assert isinstance(daemon.say(A, Inspect()), ConversationSummary)


def test_a_session_that_can_not_take_more_refuses_its_caller_and_forgets_the_request(
    daemon: StagedDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.create(A)
    daemon.run()
    session = daemon.session(A)
    with monkeypatch.context() as patch, daemon.stage.holding(session.address):
        patch.setattr(session.mailbox, "_capacity", 0)
        with pytest.raises(MailboxFull):
            session.address.tell(LOOK)
        sent = daemon.send(A)
        daemon.run()
    assert isinstance(daemon.answer(sent), Overloaded)
    assert daemon.routing.statistics()["requests"] == 0


# --- the disk -------------------------------------------------------------------------------------------------


def test_a_conversation_whose_first_event_the_disk_refuses_never_was(daemon: StagedDaemon) -> None:
    daemon.journal.refusing = StorageFull("no room")
    created = daemon.create(A, name="fix")
    daemon.run()
    assert daemon.answer(created) == StorageFull("no room")
    assert listed(daemon) == {}
    daemon.journal.refusing = None
    assert isinstance(daemon.ask(Create(B, Begin(SETTINGS, "fix"))), StartedConversation)
    assert daemon.routing.statistics()["awake"] == 1


def test_a_full_disk_refuses_input_and_neither_reads_nor_interrupts(daemon: StagedDaemon) -> None:
    daemon.create(A)
    running = daemon.send(A)
    daemon.run()
    daemon.journal.refusing = StorageFull("no room")
    assert isinstance(daemon.say(A, Attach(ConnectionId("x"), SubscriptionId("never"), 99)), Exception)
    _, reader = daemon.attach(A)
    interrupted = daemon.interrupt(A)
    daemon.run()
    assert reader.types == ["session_configured", "task_started", "user_message"]
    assert isinstance(daemon.answer(interrupted), InterruptedTurn)
    daemon.journal.refusing = None
    daemon.time.advance(10)
    daemon.run()
    assert len(daemon.outbox.replies[running]) == 1
    assert reader.types[-1] == "turn_aborted"


# --- connections ----------------------------------------------------------------------------------------------


def test_a_client_that_closes_is_forgotten_everywhere_and_its_turn_goes_on(daemon: StagedDaemon) -> None:
    daemon.create(A)
    daemon.attach(A, connection="gone")
    daemon.send(A, caller=daemon.caller("gone"))
    daemon.run()
    daemon.registry.tell(ConnectionClosed(ConnectionId("gone")))
    summary = daemon.say(A, Inspect())
    assert isinstance(summary, ConversationSummary)
    assert summary.readers == ()
    assert summary.turn is not None
    assert daemon.routing.statistics()["requests"] == 0
    assert len(daemon.agents.ordered(RunAgent)) == 1


def test_a_bad_message_to_the_registry_is_survived(daemon: StagedDaemon, log: list[dict[str, object]]) -> None:
    daemon.registry.tell("nonsense")
    daemon.create(A)
    daemon.run()
    assert listed(daemon) == {A: "idle"}
    assert [entry["kind"] for entry in log if entry["event"] == "actor.message_failed"] == ["str"]


def test_the_end_of_the_registry_ends_every_session(daemon: StagedDaemon) -> None:
    daemon.create(A)
    daemon.create(B)
    daemon.run()
    assert daemon.registry.stop(1.0)
    daemon.run()
    assert [session.address.alive for session in daemon.live] == [False, False]


def test_attaching_a_live_one_answers_with_where_it_stands(daemon: StagedDaemon) -> None:
    daemon.create(A)
    daemon.run()
    subscription, reader = daemon.attach(A, None)
    daemon.run()
    answers = [answer for answers in daemon.outbox.replies.values() for answer in answers]
    attached = next(answer for answer in answers if isinstance(answer, AttachedReader))
    assert (attached.subscription, attached.seq) == (subscription, 1)
    assert reader.records == []
    interrupted = daemon.say(A, Interrupt())
    assert interrupted == InterruptedTurn(None, None)


def test_an_idle_one_leaves_at_once_for_one_that_is_wanted_and_the_longest_unused_goes_first() -> None:
    daemon = StagedDaemon(max_live=2)
    for one in (A, B):
        daemon.create(one)
        daemon.run()
    daemon.say(A, Inspect())
    created = daemon.create(C)
    daemon.run()
    assert isinstance(daemon.answer(created), StartedConversation)
    assert listed(daemon) == {A: "idle", B: "parked", C: "idle"}
    assert isinstance(daemon.say(B, Inspect()), ConversationSummary)


def test_any_number_are_created_one_after_the_other() -> None:
    daemon = StagedDaemon(max_live=2)
    for number in range(50):
        created = daemon.create(ConversationId(f"{number:04}-0000"))
        daemon.run()
        assert isinstance(daemon.answer(created), StartedConversation)


def test_one_is_refused_by_the_name_of_the_bound_only_when_nobody_can_leave() -> None:
    daemon = StagedDaemon(max_live=2)
    for one in (A, B):
        daemon.create(one)
        daemon.run()
        daemon.attach(one)
        daemon.run()
    refused = daemon.create(C, name="wanted")
    daemon.run()
    answer = daemon.answer(refused)
    assert isinstance(answer, Overloaded)
    assert "greenroom.limits.live_sessions" in answer.message
    daemon.registry.tell(ConnectionClosed(ConnectionId("editor")))
    daemon.run()
    again = daemon.create(C, name="wanted")
    daemon.run()
    assert isinstance(daemon.answer(again), StartedConversation)


# --- what the engine waits for --------------------------------------------------------------------------------------


class Told:
    """An address that keeps what it is told."""

    def __init__(self) -> None:
        self.messages: list[object] = []

    def tell(self, message: object) -> None:
        self.messages.append(message)


def test_the_end_of_every_turn_that_a_daemon_left_is_said_once_when_all_are_on_disk(daemon: StagedDaemon) -> None:
    daemon.agents.script = lambda _: ()
    for conversation in (A, B):
        daemon.create(conversation)
        daemon.send(conversation, await_end=False)
    daemon.run()
    assert {head.state for head in daemon.journal.list_page(ListQuery(archived=True)).heads} == {"starting"}
    told = Told()
    successor = StagedDaemon(journal=daemon.journal, ended=told)
    with successor.stage.holding(successor.journalist):
        successor.run()
        assert told.messages == []
    successor.run()
    assert told.messages == [AllEnded()]


def test_where_no_turn_was_left_that_is_said_at_once() -> None:
    told = Told()
    StagedDaemon(ended=told).run()
    assert told.messages == [AllEnded()]


def test_that_all_are_answered_is_said_when_the_end_of_a_job_is_stored() -> None:
    job = JobId("3f2a")
    began = JobStarted(job=job, call_id=CallId("c"), command=("make",), cwd=Path("/"), keeps=True)
    daemon = StagedDaemon(agents=FakeAgents(lambda _: ((began,), Completed("done"))))
    daemon.create(A)
    daemon.send(A)
    daemon.run()
    told, caller = Told(), daemon.caller()
    daemon.tell(A, RecordJobEnd(JobEnded(job=job, how="ended", by="the daemon")), caller)
    daemon.registry.tell(AwaitAnswers(told))
    with daemon.stage.holding(daemon.journalist):
        daemon.run()
        assert told.messages == []
    daemon.run()
    assert told.messages == [AllAnswered()]


def test_that_all_are_answered_is_said_when_the_last_answer_is_out(daemon: StagedDaemon) -> None:
    daemon.agents.script = lambda _: ()
    daemon.create(A)
    daemon.run()
    sent, told = daemon.send(A), Told()
    daemon.run()
    daemon.registry.tell(AwaitAnswers(told))
    daemon.run()
    assert told.messages == []
    daemon.interrupt(A)
    daemon.run()
    assert isinstance(daemon.answer(sent), TurnResult)
    assert told.messages == [AllAnswered()]
