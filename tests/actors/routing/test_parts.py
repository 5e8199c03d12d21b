"""The parts of the registry's core, each by itself: what it decides, before anybody carries that out."""

from msgspec.structs import replace

from actors.messages.conversation import Inspect, Park, Retire, Revived, Send, ToConversation
from actors.messages.effects import Survivors
from actors.messages.journal import FindName, FindRow, FindSurplus
from actors.messages.orders import AbandonAgent
from actors.messages.routing import (
    EraseRows,
    Forward,
    Remove,
    SessionFailed,
    SessionLeft,
    SessionStayed,
    StartSession,
    ToRegistry,
    Trim,
)
from actors.routing.decisions import HandOver, Refuse
from actors.routing.entry import Entry, EntryStatus
from actors.routing.failures import FAILURES_ALLOWED, Failures
from actors.routing.index import ConversationIndex
from actors.routing.names import NameClaim, Names, naming_by
from actors.routing.owners import LiveOwners
from actors.routing.removal import Removal
from actors.routing.room import Room
from actors.routing.trimming import Trimming
from actors.vocabulary.errors import NameTaken, Overloaded
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId
from actors.vocabulary.items import TextItem
from tests.support.heads import idle_head

A, B = ConversationId("aaaa-0001"), ConversationId("bbbb-0002")
CALLER, OTHER = Caller(ConnectionId("client"), 1), Caller(ConnectionId("client"), 2)
LOOK = ToConversation(B, Inspect(), CALLER)
IDLE = idle_head(A, name="name", model="model", settings=b"", checkpoint=b"")


class Parts:
    """The parts round one index, with room for a single owner, and two conversations that sleep."""

    def __init__(self) -> None:
        self.index, self.room = ConversationIndex(), Room(most=1)
        self.owners = LiveOwners(self.index, self.room)
        self.failures = Failures(self.index, self.room, self.owners)
        self.removal = Removal(self.index, self.room, self.owners)
        self.a = self.index.add(Entry(A, head=IDLE))
        self.b = self.index.add(Entry(B, head=replace(IDLE, conversation=B)))

    def fail(self, now: float, *, unread: bool = False) -> list[object]:
        failed = SessionFailed(A, 1, "bug", "traceback", Survivors((), (CALLER,)), (), unread)
        return [*self.failures.take_report(self.a, failed, now), *self.failures.recover(A)]


def test_the_owner_that_has_no_room_waits_until_an_idle_one_has_left() -> None:
    parts = Parts()
    parts.owners.start(parts.a)
    assert list(parts.owners.wake(parts.b, (LOOK,))) == [Forward(A, Park())]
    assert (parts.a.status, parts.b.status) == (EntryStatus.PARKING, EntryStatus.WAITING)
    left = parts.owners.take_answer(parts.a, SessionLeft(A, 1))
    assert list(left) == [StartSession(B, 2, Revived(), (LOOK,))]


def test_those_that_wait_for_room_are_refused_when_nobody_leaves() -> None:
    parts = Parts()
    parts.owners.start(parts.a)
    list(parts.owners.wake(parts.b, (LOOK,)))
    refused = list(parts.owners.take_answer(parts.a, SessionStayed(A, 1)))
    assert [(type(one), one.caller, type(one.error)) for one in refused if isinstance(one, Refuse)] == [
        (Refuse, CALLER, Overloaded)
    ]
    assert parts.index.get(B) is None, "it sleeps again"


def test_a_removal_asks_the_owner_and_whoever_comes_later_waits() -> None:
    parts = Parts()
    parts.owners.start(parts.a)
    assert list(parts.removal.start(A, CALLER)) == [Forward(A, ToConversation(A, Retire(), CALLER))]
    assert list(parts.removal.start(A, OTHER)) == []
    assert list(parts.owners.take_answer(parts.a, SessionStayed(A, 1))) == [ToRegistry(Remove(A), OTHER)]


def test_a_removal_of_one_that_sleeps_needs_no_owner() -> None:
    parts = Parts()
    assert list(parts.removal.start(A, CALLER)) == [EraseRows(A)]
    assert list(parts.removal.start(ConversationId("unknown"), CALLER)) == [FindRow(ConversationId("unknown"))]


def test_a_failed_owner_has_successors_until_it_failed_too_often() -> None:
    parts = Parts()
    parts.owners.start(parts.a)
    for time in range(FAILURES_ALLOWED):
        abandoned, started = parts.fail(time)
        assert abandoned == AbandonAgent(A)
        assert isinstance(started, StartSession)
        assert started.revived.gave_up == ("traceback" if time == FAILURES_ALLOWED - 1 else None)
    parts.fail(FAILURES_ALLOWED)
    assert parts.a.status is EntryStatus.BROKEN
    assert len(parts.room) == 0


def test_a_minute_later_a_failure_is_forgotten() -> None:
    parts = Parts()
    parts.owners.start(parts.a)
    parts.fail(0.0)
    parts.failures.forgive(59.0)
    assert parts.a.failures
    parts.failures.forgive(60.0)
    assert not parts.a.failures


def test_a_name_belongs_to_the_first_that_claims_it_until_its_request_is_settled() -> None:
    names = Names()
    assert names.ask(NameClaim("plan", A, CALLER, LOOK)) == [FindName("plan", CALLER)]
    (refused,) = names.ask(NameClaim("plan", B, OTHER, LOOK))
    assert isinstance(refused, Refuse)
    assert isinstance(refused.error, NameTaken)
    names.settle(CALLER)
    assert names.ask(NameClaim("plan", B, OTHER, LOOK)) == [FindName("plan", OTHER)]


def test_a_search_tries_the_next_name_and_then_hands_over_what_waited() -> None:
    names, send = Names(), ToConversation(B, Send((TextItem(text="write a plan"),)), CALLER)
    naming = naming_by(send, Entry(B, EntryStatus.LIVE))
    assert naming is not None
    assert names.search(naming) == [FindName("write-a-plan", CALLER)]
    held = names.held_for(B)
    assert held is not None
    held.append(LOOK)
    assert names.take_owner(CALLER, A) == [FindName("write-a-plan-2", CALLER)]
    named = ToConversation(B, Send((TextItem(text="write a plan"),), name="write-a-plan-2"), CALLER)
    assert names.take_owner(CALLER, None) == [HandOver(B, named), HandOver(B, LOOK)]


def test_trimming_spares_what_was_started_since_its_lookup() -> None:
    parts, trimming = Parts(), Trimming(ConversationIndex())
    assert trimming.start(Trim(most=1)) == [FindSurplus(1, None, 100)]
    trimming.note_start(parts.a.conversation)
    assert trimming.take_batch((A, B)) == [EraseRows(B)]
    assert list(trimming.go_on()) == []
    assert trimming.wanted is None
