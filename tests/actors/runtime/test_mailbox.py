"""The mailbox alone: its two lanes, its bound, its end."""

import gc
import threading
import time
import weakref
from dataclasses import dataclass

import pytest
from pykka import ThreadingFuture
from pykka._envelope import Envelope

from actors.messages.conversation import CancelRequest, ConnectionClosed, Inspect, Interrupt, Ready, ToConversation
from actors.runtime.mailbox import IN_A_ROW, Mailbox
from actors.vocabulary.errors import ActorGone, MailboxFull
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId, SubscriptionId

LOOK = ToConversation(ConversationId("any"), Inspect())
STOP = ToConversation(ConversationId("any"), Interrupt())

BOUND_S = 5.0  # far beyond what a busy machine needs for one hand-over


@dataclass(frozen=True)
class News:
    number: int


def put(mailbox: Mailbox, *messages: object) -> None:
    for message in messages:
        mailbox.put(Envelope(message))


def wait_asleep(mailbox: Mailbox) -> None:
    deadline = time.monotonic() + BOUND_S
    while not mailbox._asleep:
        assert time.monotonic() < deadline, "it does not go to sleep"
        time.sleep(0.001)


def drained(mailbox: Mailbox) -> list[object]:
    out: list[object] = []
    while not mailbox.empty():
        out.append(mailbox.get().message)
    return out


def test_commands_go_before_news_and_both_keep_their_order() -> None:
    mailbox = Mailbox()
    first, second = LOOK, STOP
    put(mailbox, News(1), first, News(2), second)
    assert drained(mailbox) == [first, second, News(1), News(2)]


def test_a_busy_client_does_not_starve_the_news() -> None:
    mailbox = Mailbox()
    put(mailbox, News(1), News(2), *[LOOK] * (2 * IN_A_ROW))
    out = drained(mailbox)
    assert [out.index(News(1)), out.index(News(2))] == [IN_A_ROW, 2 * IN_A_ROW + 1]


def test_a_full_mailbox_refuses_in_the_sender_what_makes_more_work() -> None:
    mailbox = Mailbox(capacity=2)
    put(mailbox, LOOK, LOOK)
    with pytest.raises(MailboxFull):
        put(mailbox, LOOK)
    less = (STOP, CancelRequest(Caller(ConnectionId("c"), 1)), ConnectionClosed(ConnectionId("c")))
    put(mailbox, *less, News(1), Ready(SubscriptionId("s")))
    assert len(mailbox) == 7


def test_a_message_that_a_full_mailbox_accepts_uses_no_bounded_place() -> None:
    mailbox = Mailbox(capacity=1)
    put(mailbox, STOP, STOP, LOOK)
    with pytest.raises(MailboxFull):
        put(mailbox, LOOK)
    assert len(drained(mailbox)) == 3
    put(mailbox, LOOK)


def test_there_is_room_again_after_one_was_taken() -> None:
    mailbox = Mailbox(capacity=1)
    put(mailbox, LOOK)
    mailbox.get()
    put(mailbox, LOOK)
    assert len(mailbox) == 1


def test_a_closed_mailbox_refuses_and_hands_back_what_nobody_handled() -> None:
    mailbox = Mailbox()
    put(mailbox, News(1), STOP)
    assert mailbox.close() == (STOP, News(1))
    with pytest.raises(ActorGone):
        put(mailbox, News(2))
    assert mailbox.empty()


def test_an_ask_fails_when_the_mailbox_closes() -> None:
    mailbox, reply = Mailbox(), ThreadingFuture[object]()
    mailbox.put(Envelope(News(1), reply_to=reply))
    assert mailbox.close() == ()
    with pytest.raises(ActorGone):
        reply.get(timeout=BOUND_S)


def test_of_senders_who_race_with_the_end_each_is_refused_or_handed_back() -> None:
    for _ in range(50):
        mailbox, gate = Mailbox(), threading.Barrier(5)
        refused: list[object] = []

        def sender(
            number: int, box: Mailbox = mailbox, at: threading.Barrier = gate, no: list[object] = refused
        ) -> None:
            at.wait(BOUND_S)
            try:
                put(box, News(number))
            except ActorGone:
                no.append(News(number))

        threads = [threading.Thread(target=sender, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        gate.wait(BOUND_S)
        left = mailbox.close()
        for thread in threads:
            thread.join(BOUND_S)
        assert {*left, *refused} == {News(number) for number in range(4)}
        assert len(left) + len(refused) == 4


def test_taking_more_stops_at_another_kind_at_a_client_and_at_the_limit() -> None:
    mailbox = Mailbox()
    put(mailbox, News(1), News(2), News(3), Ready(SubscriptionId("s")), News(4))
    assert mailbox.take(News, 2) == [News(1), News(2)]
    assert mailbox.take(News, 9) == [News(3)]
    assert mailbox.take(News, 9) == []
    mailbox.get()
    put(mailbox, STOP)
    assert mailbox.take(News, 9) == []


def test_a_message_that_was_handled_is_not_kept_alive_while_the_actor_waits() -> None:
    mailbox, waiting = Mailbox(), threading.Event()
    message = News(1)
    gone = weakref.ref(message)
    put(mailbox, message)
    del message

    def actor() -> None:
        mailbox.get()
        waiting.set()
        assert mailbox.get().message == News(2)

    thread = threading.Thread(target=actor, daemon=True)
    thread.start()
    waiting.wait(BOUND_S)
    released = threading.Event()
    weakref.finalize(gone(), released.set) if gone() is not None else released.set()
    gc.collect()
    assert released.wait(BOUND_S)
    put(mailbox, News(2))
    thread.join(BOUND_S)
    assert not thread.is_alive()
