"""Who of this connection reads which conversation. A reader is one subscription with a sink behind it.

A sink turns slices into actions for the client; what it wants to know of a conversation it says when it is attached.
Bounded, and a subscription that its conversation ended by itself is taken up again from where it stood.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from actors.answers import Attached
from actors.effects import Deliver, EndSubscription, Slice
from actors.errors import GreenroomError
from actors.ids import ConversationId, SubscriptionId
from actors.messages import Attach, Detach
from actors.registry_messages import ToConversation
from transports.dialect import Action, Client, Tell
from transports.dialects.mcp.expected import Expected, Then

READERS_LIMIT = 256  # per connection; an editor reads a handful
FULL = "too many conversations are read on this connection (greenroom.limits.subscriptions); end one of them"
HISTORY_GONE = "its history is gone"


class Sink(Protocol):
    @property
    def answers(self) -> bool:
        """Whether a person can be asked through it."""
        ...

    def take(self, slice_: Slice) -> Iterable[Action]: ...

    def lost(self, reason: str) -> Iterable[Action]:
        """Nothing more will come, and nobody asked for that."""
        ...


@dataclass(slots=True, eq=False)
class Reader:
    subscription: SubscriptionId
    conversation: ConversationId
    sink: Sink
    seq: int = 0


class Readers:
    def __init__(self, client: Client, expected: Expected, limit: int = READERS_LIMIT) -> None:
        self._client = client
        self._expected = expected
        self._limit = limit
        self._readers: dict[SubscriptionId, Reader] = {}

    @property
    def full(self) -> bool:
        return len(self._readers) >= self._limit

    def __len__(self) -> int:
        return len(self._readers)

    def __iter__(self) -> Iterator[Reader]:
        return iter(tuple(self._readers.values()))

    def __contains__(self, reader: object) -> bool:
        return isinstance(reader, Reader) and self._readers.get(reader.subscription) is reader

    def of(self, conversation: ConversationId) -> list[Reader]:
        return [reader for reader in self._readers.values() if reader.conversation == conversation]

    def new(self, conversation: ConversationId, sink: Sink) -> Reader:
        """Known from here on; nothing comes before it is attached."""
        reader = Reader(self._name(), conversation, sink)
        self._readers[reader.subscription] = reader
        return reader

    def _name(self) -> SubscriptionId:
        return SubscriptionId(f"{self._client.connection}/{self._expected.number()}")

    def attach(self, reader: Reader, after: int | None, then: Then | None = None) -> Iterable[Action]:
        """`then` gets what the conversation says to it; a refused reader is forgotten first."""
        reader.seq = after or 0
        subscription = reader.subscription

        def answered(answer: Any) -> Iterable[Action]:
            if isinstance(answer, GreenroomError):
                self._readers.pop(subscription, None)
            elif isinstance(answer, Attached) and after is None:
                reader.seq = answer.seq
            return then(answer) if then is not None else ()

        caller = self._expected.reply(answered)
        attach = Attach(caller, self._client.connection, subscription, after, not reader.sink.answers)
        yield Tell(ToConversation(reader.conversation, attach))

    def detach(self, reader: Reader) -> Iterable[Action]:
        if self._readers.pop(reader.subscription, None) is not None:
            yield Tell(ToConversation(reader.conversation, Detach(None, reader.subscription)))

    def deliver(self, deliver: Deliver) -> Iterable[Action]:
        reader = self._readers.get(deliver.subscription)
        if reader is None:
            return ()  # detached while it was on its way
        if deliver.slice.records:
            reader.seq = deliver.slice.records[-1].seq
        return reader.sink.take(deliver.slice)

    def ended(self, end: EndSubscription) -> Iterable[Action]:
        reader = self._readers.pop(end.news.subscription, None)
        if reader is None:
            return
        reader.subscription = self._name()
        self._readers[reader.subscription] = reader

        def answered(answer: Any) -> Iterable[Action]:
            return reader.sink.lost(end.news.reason) if isinstance(answer, GreenroomError) else ()

        after = None if end.news.reason == HISTORY_GONE else reader.seq
        yield from self.attach(reader, after, answered)
