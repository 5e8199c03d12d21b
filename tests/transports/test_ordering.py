"""Events before results: the answers that are kept, and until when."""

from pathlib import Path

import pytest

from actors.messages.conversation import Attach, Detach, Interrupt, Send, ToConversation
from actors.messages.effects import Deliver, ReplyTo, Slice
from actors.messages.routing import ListApprovals, ListConversations, RegistryInput, Remove, Resolve, ToRegistry
from actors.vocabulary.answers import AcceptedInput, AttachedReader, ConversationSummary, InterruptedTurn, TurnResult
from actors.vocabulary.conditions import Condition, Ending
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId, InputId, SubscriptionId, TurnId
from actors.vocabulary.records import ListQuery, Record
from actors.vocabulary.settings import Settings
from transports.ordering import Ordering, request_of

ME = ConnectionId("me")
HERE = ConversationId("here")
SUB = SubscriptionId("sub")
TURN = TurnId("turn")


def caller(request: int) -> Caller:
    return Caller(ME, request)


def attach(after: int | None = 0, subscription: SubscriptionId = SUB) -> ToConversation:
    return ToConversation(HERE, Attach(ME, subscription, after), caller(1))


def attached(seq: int, subscription: SubscriptionId = SUB) -> ReplyTo:
    settings = Settings(model="m", cwd=Path("/"))
    summary = ConversationSummary(
        conversation=HERE,
        state=Condition.IDLE,
        name=None,
        settings=settings,
        seq=seq,
        turn=None,
        created=0,
        updated=0,
        preview="",
    )
    return ReplyTo(caller(1), AttachedReader(subscription, summary, seq))


def send(request: int = 2) -> ToConversation:
    return ToConversation(HERE, Send((), await_end=True), caller(request))


def result(seq: int, request: int = 2) -> ReplyTo:
    return ReplyTo(caller(request), TurnResult(TURN, Ending.COMPLETED, "done", seq))


def interrupted(request: int = 2, turn: TurnId | None = TURN) -> ReplyTo:
    return ReplyTo(caller(request), InterruptedTurn(turn, Ending.INTERRUPTED))


def slice_to(
    *seqs: int, live: bool = True, kind: str = "agent_message", subscription: SubscriptionId = SUB
) -> Deliver:
    records = tuple(Record(seq, 0.0, TURN, kind, b"{}") for seq in seqs)
    return Deliver(ME, subscription, Slice(HERE, records, live=live))


def subscribed(after: int | None = 0, seq: int = 0) -> Ordering:
    ordering = Ordering()
    ordering.note_message(attach(after))
    ordering.note_reply(attached(seq))
    ordering.note_message(send())
    return ordering


def test_without_a_subscription_nothing_is_kept() -> None:
    ordering = Ordering()
    ordering.note_message(send())
    assert ordering.note_reply(result(9)) == [result(9)]
    assert not ordering.owes


def test_a_result_waits_for_the_slice_that_reaches_its_seq() -> None:
    ordering = subscribed()
    assert ordering.note_reply(result(7)) == []
    assert ordering.holds(caller(2))
    assert ordering.owes
    assert ordering.note_slice(slice_to(1, 2, 6, live=False)) == []
    assert ordering.note_slice(slice_to(7, 8, live=False)) == [result(7)]
    assert not ordering.owes


def test_a_result_whose_events_were_seen_does_not_wait() -> None:
    ordering = subscribed()
    ordering.note_slice(slice_to(1, 2, 7))
    assert ordering.note_reply(result(7)) == [result(7)]


def test_a_live_slice_that_was_seen_before_the_result_does_not_stand_for_what_came_after_it() -> None:
    ordering = subscribed()
    ordering.note_slice(slice_to(1, 2))
    assert ordering.note_reply(result(7)) == []
    assert ordering.note_slice(slice_to(3, 7)) == [result(7)]


def test_an_interrupt_s_answer_waits_for_the_turn_s_terminal_event() -> None:
    ordering = subscribed()
    assert ordering.note_reply(interrupted()) == []
    assert ordering.note_slice(slice_to(1, 2, live=False)) == []
    assert ordering.note_slice(slice_to(3, live=False, kind="turn_aborted")) == [interrupted()]


def test_an_interrupt_s_answer_that_comes_after_the_terminal_event_does_not_wait() -> None:
    ordering = subscribed()
    ordering.note_slice(slice_to(1, 2, 3, kind="turn_aborted"))
    assert ordering.note_reply(interrupted()) == [interrupted()]


def test_an_interrupt_that_found_nothing_running_is_answered_at_once() -> None:
    assert subscribed().note_reply(interrupted(turn=None)) == [interrupted(turn=None)]


def test_a_live_slice_releases_whatever_came_before_it() -> None:
    """The terminal event of an interrupt may have been refused by the disk, and then nobody will ever see it."""
    ordering = subscribed()
    ordering.note_reply(interrupted())
    assert ordering.note_slice(slice_to(1)) == [interrupted()]


def test_a_reader_from_now_on_has_seen_earlier_events() -> None:
    ordering = subscribed(after=None, seq=7)
    assert ordering.note_reply(result(7)) == [result(7)]
    ordering.note_message(send())
    assert ordering.note_reply(result(8)) == []


def test_a_reader_from_the_beginning_has_not_seen_earlier_events() -> None:
    assert subscribed(after=0, seq=7).note_reply(result(7)) == []


def test_a_cursor_at_the_present_is_the_present_when_a_live_slice_has_nothing_new() -> None:
    ordering = subscribed(after=3, seq=7)
    ordering.note_slice(slice_to())
    assert ordering.note_reply(result(7)) == [result(7)]


def test_every_subscription_of_the_connection_must_have_reached_it() -> None:
    ordering = subscribed()
    other = SubscriptionId("other")
    ordering.note_message(attach(subscription=other))
    ordering.note_reply(attached(0, other))
    ordering.note_reply(result(7))
    assert ordering.note_slice(slice_to(7, live=False)) == []
    assert ordering.note_slice(slice_to(7, live=False, subscription=other)) == [result(7)]


def test_the_end_of_the_subscription_releases_what_waits_for_it() -> None:
    ordering = subscribed()
    ordering.note_reply(result(7))
    assert ordering.end_reader(SUB) == [result(7)]


def test_detaching_releases_what_waits_for_it() -> None:
    ordering = subscribed()
    ordering.note_reply(result(7))
    assert ordering.note_message(ToConversation(HERE, Detach(SUB), caller(3))) == [result(7)]
    assert ordering.note_slice(slice_to(7)) == [], "a slice that was under way revives nothing"


@pytest.mark.parametrize("answer", [InvalidInput("no"), None])
def test_a_subscription_that_does_not_stand_yet_keeps_nothing(answer: InvalidInput | None) -> None:
    ordering = Ordering()
    ordering.note_message(attach())
    if answer is not None:
        ordering.note_reply(ReplyTo(caller(1), answer))
    ordering.note_message(send())
    assert ordering.note_reply(result(7)) == [result(7)]


def test_a_refused_attach_is_forgotten() -> None:
    ordering = Ordering()
    ordering.note_message(attach())
    ordering.note_reply(ReplyTo(caller(1), InvalidInput("no")))
    assert not ordering._readers


def test_other_answers_and_other_conversations_do_not_wait() -> None:
    ordering = subscribed()
    accepted = ReplyTo(caller(2), AcceptedInput(InputId("i"), TURN, 9), settles=False)
    assert ordering.note_reply(accepted) == [accepted]
    ordering.note_message(ToConversation(ConversationId("elsewhere"), Interrupt(), caller(5)))
    assert ordering.note_reply(interrupted(5)) == [interrupted(5)]


def test_an_overdue_answer_is_let_go_alone() -> None:
    ordering = subscribed()
    ordering.note_message(send(3))
    ordering.note_reply(result(7))
    ordering.note_reply(result(8, 3))
    assert ordering.release_overdue(caller(2)) == [result(7)]
    assert ordering.held_count == 1


def test_a_request_is_owed_until_it_is_answered() -> None:
    ordering = Ordering()
    ordering.note_message(ToRegistry(ListConversations(ListQuery()), caller(1)))
    assert ordering.owes
    ordering.note_reply(ReplyTo(caller(1), InvalidInput("no")))
    assert not ordering.owes


@pytest.mark.parametrize(
    "message",
    [
        ToRegistry(ListConversations(ListQuery()), caller(1)),
        ToRegistry(ListApprovals(), caller(1)),
        ToRegistry(Resolve("here"), caller(1)),
        ToRegistry(Remove(HERE), caller(1)),
    ],
)
def test_an_answer_of_the_registry_is_owed_until_it_comes(message: RegistryInput) -> None:
    ordering = Ordering()
    ordering.note_message(message)
    assert request_of(message) == caller(1)
    assert ordering.owes
    assert ordering.note_reply(ReplyTo(caller(1), InvalidInput("no")))
    assert not ordering.owes
