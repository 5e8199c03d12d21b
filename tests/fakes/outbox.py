"""Connections that write down what they get, check it as they go, and say Ready when they are told to."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from actors.messages.conversation import Address, Ready, ToConversation
from actors.messages.effects import Deliver, EndSubscription, ReplyTo, Slice
from actors.vocabulary.answers import Answer
from actors.vocabulary.errors import ActorGone
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId, SubscriptionId
from actors.vocabulary.records import Record


@dataclass(slots=True)
class FakeReader:
    """The events that one subscription has seen. A gap or a duplicate is noticed the moment it arrives."""

    conversation: ConversationId
    records: list[Record] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    after: int | None = None
    owed: Address[Ready] | None = None  # who waits for our Ready
    ended: str | None = None
    looks: bool = True  # False: it has gone, and what was on its way to it is not looked at

    def take(self, slice_: Slice) -> None:
        if not self.looks:
            return
        assert self.ended is None, "a slice came after the end of its subscription"
        for record in slice_.records:
            expected = None if self.after is None else self.after + 1
            assert expected is None or record.seq == expected, f"seq {record.seq} came, {expected} was due"
            self.after = record.seq
            self.records.append(record)
        self.slices.append(slice_)

    @property
    def types(self) -> list[str]:
        return [record.type for record in self.records]


class FakeOutbox:
    """`prompt` readers answer every slice at once; others wait for `ready`."""

    def __init__(self, *, prompt: bool = True) -> None:
        self.prompt = prompt
        self.registry: Address[ToConversation] | None = None
        self.replies: dict[Caller, list[Answer]] = {}
        self.readers: dict[SubscriptionId, FakeReader] = {}
        self.noticed: Callable[[ReplyTo | Deliver | EndSubscription], None] = lambda _: None
        self._changed = threading.Condition(threading.RLock())

    def deliver(self, message: Deliver, session: Address[Ready]) -> None:
        with self._changed:
            self._deliver(message.subscription, message.slice, session)
            self._changed.notify_all()
        self.noticed(message)

    def post(self, connection: ConnectionId, message: ReplyTo | EndSubscription) -> None:
        with self._changed:
            match message:
                case ReplyTo(caller, answer):
                    assert caller.connection == connection
                    self.replies.setdefault(caller, []).append(answer)
                case EndSubscription(_, news):
                    self.readers[news.subscription].ended = news.reason
            self._changed.notify_all()
        self.noticed(message)

    def expect(self, subscription: SubscriptionId, conversation: ConversationId, after: int | None) -> FakeReader:
        """A reader is about to attach; from its cursor on nothing may be missing."""
        reader = self.readers[subscription] = FakeReader(conversation, after=after)
        return reader

    def ready(self, subscription: SubscriptionId) -> bool:
        """The reader has taken what it holds. If its session is gone, the registry knows the successor."""
        reader = self.readers[subscription]
        owed, reader.owed = reader.owed, None
        if owed is None or reader.ended is not None:
            return False
        try:
            owed.tell(Ready(subscription))
        except ActorGone:
            assert self.registry is not None
            self.registry.tell(ToConversation(reader.conversation, Ready(subscription)))
        return True

    def answer(self, caller: Caller) -> Answer:
        """The one answer a request got."""
        (answer,) = self.replies[caller]
        return answer

    def wait_for(self, enough: Callable[[], bool], timeout_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(enough, timeout_s)

    def _deliver(self, subscription: SubscriptionId, slice_: Slice, sender: Address[Ready]) -> None:
        reader = self.readers[subscription]
        assert reader.owed is None or reader.owed is not sender, "two slices in flight to one reader"
        reader.take(slice_)
        reader.owed = sender
        if self.prompt:
            self.ready(subscription)
