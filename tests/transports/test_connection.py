"""One real connection actor between a client and probes."""

import contextlib
import queue
import threading
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from actors.messages.conversation import Attach, ConnectionClosed, Detach, Ready, Send, ToConversation
from actors.messages.effects import Deliver, EndSubscription, ReplyTo, Slice, Unsubscribed
from actors.messages.routing import ListConversations, ToRegistry
from actors.vocabulary.answers import AttachedReader, ConversationSummary, TurnResult
from actors.vocabulary.conditions import Condition, Ending
from actors.vocabulary.errors import ActorGone, MailboxFull
from actors.vocabulary.ids import Caller, ConnectionId, TurnId
from actors.vocabulary.records import ListQuery
from actors.vocabulary.settings import Settings
from tests.transports.doors import memory_door, socket_door
from tests.transports.house import PATIENCE_S, Probe, eventually
from tests.transports.tenants import CONVERSATION, SUBSCRIPTION, Tenant, Tenants
from transports.connection import HOLD_LIMIT_S
from transports.dialect import Action, Ask, Tell, Wake, Write
from transports.messages import HeldTooLong, LingeredEnough, ServiceAnswer, ServiceRequest, TimerFired
from transports.supervisor_answers import StoppingDaemon
from transports.supervisor_requests import AskStatus
from transports.wire import InputEnded

ME = ConnectionId("client-0")
COMMANDS: dict[bytes, ToConversation] = {
    b"attach": ToConversation(CONVERSATION, Attach(ME, SUBSCRIPTION), Caller(ME, 1)),
    b"send": ToConversation(CONVERSATION, Send((), await_end=True), Caller(ME, 2)),
    b"detach": ToConversation(CONVERSATION, Detach(SUBSCRIPTION), Caller(ME, 3)),
}


def speak(line: bytes) -> tuple[Action, ...] | None:
    if line in COMMANDS:
        return (Tell(COMMANDS[line]), Write(b"told\n"))
    if line == b"list":
        return (Tell(ToRegistry(ListConversations(ListQuery()), Caller(ME, 9))), Write(b"told\n"))
    return None


@pytest.fixture
def tenant(tenants: Tenants) -> Tenant:
    """A client that has attached and sent something."""
    tenant = tenants.enter(memory_door, speak)
    tenant.peer.send(b"attach\nsend\n")
    assert tenant.reads.lines(2) == [b"told", b"told"]
    settings = Settings(model="m", cwd=Path("/"))
    summary = ConversationSummary(
        conversation=CONVERSATION,
        state=Condition.RUNNING,
        name=None,
        settings=settings,
        seq=0,
        turn=None,
        created=0,
        updated=0,
        preview="",
    )
    tenants.post(tenant, ReplyTo(tenant.caller(1), AttachedReader(SUBSCRIPTION, summary, 0)))
    assert tenant.reads.line() == b"answer 1: AttachedReader"
    for _ in range(2):
        tenants.registry.expect(ToConversation)
    return tenant


def turn_ends(tenants: Tenants, tenant: Tenant, seq: int) -> None:
    tenants.post(tenant, ReplyTo(tenant.caller(2), TurnResult(TurnId("t"), Ending.COMPLETED, "done", seq)))


def barrier(tenant: Tenant) -> None:
    """Wait until the actor has handled everything that was posted before."""
    tenant.peer.send(b"barrier\n")
    assert tenant.reads.line() == b"barrier"


# --- events before results ----------------------------------------------------------------------------------------


def test_the_client_sees_the_events_before_the_result_though_the_result_was_posted_first(
    tenants: Tenants, tenant: Tenant
) -> None:
    turn_ends(tenants, tenant, seq=2)
    barrier(tenant)
    tenants.post(tenant, tenant.slice(b"one", b"two"))
    assert tenant.reads.lines(3) == [b"one", b"two", b"answer 2: TurnResult"]


def test_the_end_of_the_subscription_lets_the_result_go(tenants: Tenants, tenant: Tenant) -> None:
    turn_ends(tenants, tenant, seq=2)
    end = EndSubscription(tenant.id, Unsubscribed(SUBSCRIPTION, "gone"))
    tenants.loop.call(lambda: tenants.switchboard.post(tenant.id, end))
    assert tenant.reads.lines(2) == [b"ended: gone", b"answer 2: TurnResult"]


def test_detaching_lets_the_result_go_when_the_dialect_is_done_with_its_line(
    tenants: Tenants, tenant: Tenant
) -> None:
    turn_ends(tenants, tenant, seq=2)
    tenant.peer.send(b"detach\n")
    assert tenant.reads.lines(2) == [b"told", b"answer 2: TurnResult"]


def test_a_result_whose_events_never_come_is_given_after_a_while(tenants: Tenants, tenant: Tenant) -> None:
    turn_ends(tenants, tenant, seq=2)
    eventually(lambda: tenants.clock.waiting(HeldTooLong) == 1, "no reminder was set")
    tenants.clock.advance(HOLD_LIMIT_S - 0.1)
    barrier(tenant)
    tenants.clock.advance(0.1)
    assert tenant.reads.line() == b"answer 2: TurnResult"


def test_a_slow_client_gets_its_result_after_its_events_however_long_it_takes(
    tenants: Tenants, tenant: Tenant
) -> None:
    tenants.post(tenant, tenant.slice(b"x" * 1_000_000, seq=1))
    turn_ends(tenants, tenant, seq=2)
    eventually(lambda: tenants.clock.waiting(HeldTooLong) == 1, "no reminder was set")
    for _ in range(3):
        tenants.clock.advance(HOLD_LIMIT_S)
        eventually(lambda: tenants.clock.waiting(HeldTooLong) == 1, "the reminder was not set again")
    assert len(tenant.reads.line()) == 1_000_000
    tenants.session.expect(Ready)
    tenants.post(tenant, tenant.slice(b"two", seq=2))
    assert tenant.reads.lines(2) == [b"two", b"answer 2: TurnResult"]


# --- Ready --------------------------------------------------------------------------------------------------------


def test_a_slice_with_nothing_to_say_is_ready_at_once(tenants: Tenants, tenant: Tenant) -> None:
    tenants.post(tenant, Deliver(tenant.id, SUBSCRIPTION, Slice(CONVERSATION, (), live=True)))
    assert tenants.session.expect(Ready) == Ready(SUBSCRIPTION)


def test_ready_finds_the_successor_of_a_session_that_has_ended(tenants: Tenants, tenant: Tenant) -> None:
    gone = Probe(ActorGone("it has ended"))
    tenants.deliver(tenant.slice(b"last"), gone)
    assert tenant.reads.line() == b"last"
    assert tenants.registry.expect(ToConversation) == ToConversation(CONVERSATION, Ready(SUBSCRIPTION))


# --- asking -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [MailboxFull("full"), ActorGone("gone")])
def test_a_request_that_the_registry_cannot_take_is_refused_after_the_dialects_own_lines(
    tenants: Tenants, failure: Exception
) -> None:
    tenant = tenants.enter(memory_door, speak)
    tenants.registry.failure = failure
    tenant.peer.send(b"list\nsend\n")
    assert tenant.reads.lines(4) == [b"told", b"answer 9: Overloaded", b"told", b"answer 2: Overloaded"]
    tenants.registry.failure = None


def test_the_supervisor_serves_what_is_asked_and_the_client_is_owed_it(tenants: Tenants) -> None:
    caller = Caller(ME, 7)
    tenant = tenants.enter(memory_door, lambda _: (Ask(AskStatus(), caller),))
    tenant.peer.send(b"status?\n")
    tenant.peer.shut_down()
    asked = tenants.supervisor.expect(ServiceRequest)
    assert (asked.request, asked.caller, asked.client.connection) == (AskStatus(), caller, tenant.id)
    assert not tenant.ref.wait_for_end(0.05), "it is owed an answer"
    asked.reply_to.tell(ServiceAnswer(caller, StoppingDaemon(1.0)))
    assert tenant.reads.end() == b"answer 7: StoppingDaemon\n"


def test_a_dialect_is_woken_when_it_asked_for_it(tenants: Tenants) -> None:
    tenant = tenants.enter(memory_door, lambda _: (Wake("tea", 240.0),))
    tenant.peer.send(b"x\n")
    eventually(lambda: tenants.clock.waiting(TimerFired) == 1, "no timer was set")
    tenants.clock.advance(240.0)
    assert tenant.reads.line() == b"woken: tea"


def test_one_message_leads_to_one_write_in_the_order_of_its_actions(tenants: Tenants) -> None:
    tenant = tenants.enter(memory_door, lambda _: (Write(b"1\n"), Write(b"2\n"), Write(b"3\n")))
    tenant.peer.send(b"x\ny\n")
    assert tenant.peer.receive() == b"1\n2\n3\n1\n2\n3\n"


# --- the end ------------------------------------------------------------------------------------------------------


def test_input_that_has_ended_is_lingered_for_when_the_wire_says_so(tenants: Tenants, tenant: Tenant) -> None:
    tenant.ref.tell(InputEnded(linger_s=0.5))
    eventually(lambda: tenants.clock.waiting(LingeredEnough) == 1, "no timer was set")
    assert tenant.ref.alive
    tenants.clock.advance(0.5)
    assert tenant.ref.wait_for_end(PATIENCE_S)


def test_a_client_that_leaves_amid_slices_leaves_no_messages_behind(tenants: Tenants) -> None:
    """It leaves the switchboard before it ends, so nothing is posted to it afterwards."""
    with capture_logs() as logs:
        tenant = tenants.enter(socket_door)
        stop = threading.Event()

        def pour() -> None:
            """Send slices as a session does: one at a time."""
            while not stop.is_set():
                tenants.post(tenant, tenant.slice(b"x"))
                with contextlib.suppress(queue.Empty):
                    tenants.session.expect(Ready, timeout_s=0.01)

        pouring = threading.Thread(target=pour)
        pouring.start()
        tenant.reads.lines(20)
        tenant.peer.close()
        assert tenant.ref.wait_for_end(PATIENCE_S)
        stop.set()
        pouring.join(PATIENCE_S)
    tenants.registry.expect(ConnectionClosed)
    assert [one["event"] for one in logs] == ["connection.opened", "connection.closed"]


def test_the_environment_of_a_client_is_never_logged(tenants: Tenants) -> None:
    with capture_logs() as logs:
        tenant = tenants.enter(memory_door)
        tenants.loop.call(lambda: tenant.wire.cut_off("done"))
        assert tenant.ref.wait_for_end(PATIENCE_S)
    assert not any("env" in one for one in logs)


def test_a_failed_connection_says_what_was_the_matter_in_the_log_and_closes(tenants: Tenants) -> None:
    def script(_: bytes) -> None:
        raise ZeroDivisionError

    tenant = tenants.enter(memory_door, script)
    with capture_logs() as logs:
        tenant.peer.send(b"x\n")
        assert tenant.ref.wait_for_end(PATIENCE_S)
        tenants.registry.expect(ConnectionClosed)
    assert "actor.failed" in [one["event"] for one in logs]


def test_statistics_say_who_and_how_much(tenants: Tenants, tenant: Tenant) -> None:
    turn_ends(tenants, tenant, seq=2)
    barrier(tenant)
    assert tenant.connection.statistics() == {"waiting": 0, "client": "test", "unsent": 0, "held": 1}
