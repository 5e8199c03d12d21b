"""The conversations that a client reads. A reader is a subscription with a sink. Part of its connection.

A sink turns slices into notifications, and gets the facts of its conversation when it is attached. The number of
readers is bounded; a subscription that its conversation ended by itself is resumed from where it stood.
"""

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from actors.messages.conversation import Attach, Detach, ToConversation
from actors.messages.effects import Deliver, EndSubscription, Slice
from actors.vocabulary.answers import AttachedReader
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import ConversationId, SubscriptionId
from transports.dialect import Tell
from transports.dialects.kit.client_state import ClientState
from transports.dialects.kit.questions import OpenQuestions
from transports.dialects.kit.script import Script, command

FULL = "too many conversations are read on this connection (greenroom.limits.subscriptions); end one of them"
HISTORY_GONE = "its history is gone"


class Sink(Protocol):
    @property
    def answers(self) -> bool:
        """True if a person can be asked through this sink."""
        ...

    def take(self, slice_: Slice) -> None: ...

    def handle_loss(self, reason: str) -> None:
        """The subscription has ended, and not by the client's request."""
        ...


class SinkReader(Struct, eq=False):
    subscription: SubscriptionId
    conversation: ConversationId
    sink: Sink
    seq: int = 0


class Readers:
    def __init__(self, state: ClientState, questions: OpenQuestions, limit: int) -> None:
        self._state = state
        self._questions = questions
        self._limit = limit
        self._readers: dict[SubscriptionId, SinkReader] = {}

    @property
    def full(self) -> bool:
        return len(self._readers) >= self._limit

    def __iter__(self) -> Iterator[SinkReader]:
        return iter(tuple(self._readers.values()))

    def __contains__(self, reader: object) -> bool:
        return isinstance(reader, SinkReader) and self._readers.get(reader.subscription) is reader

    def in_conversation(self, conversation: ConversationId) -> list[SinkReader]:
        return [reader for reader in self._readers.values() if reader.conversation == conversation]

    # --- begin and end --------------------------------------------------------------------------------------------

    def new(self, conversation: ConversationId, sink: Sink) -> SinkReader:
        """Add a reader; it gets nothing before it is attached."""
        reader = SinkReader(self._name(), conversation, sink)
        self._readers[reader.subscription] = reader
        return reader

    def _name(self) -> SubscriptionId:
        return SubscriptionId(f"{self._state.client.connection}/{self._state.scripts.number()}")

    def attach(self, reader: SinkReader, after: int | None) -> Script[AttachedReader]:
        """Attach a reader; a refused reader is forgotten."""
        reader.seq = after or 0
        subscription = reader.subscription
        attach = Attach(self._state.client.connection, subscription, after, not reader.sink.answers)
        try:
            attached = yield from command(reader.conversation, attach)
        except GreenroomError:
            self._readers.pop(subscription, None)
            raise
        if after is None:
            reader.seq = attached.seq
        return attached

    def detach(self, reader: SinkReader) -> None:
        if self._readers.pop(reader.subscription, None) is not None:
            self._state.do(Tell(ToConversation(reader.conversation, Detach(reader.subscription))))

    def leave(self, reader: SinkReader) -> None:
        """Remove the reader of a client that stops listening, unless an open question needs it to be settled."""
        conversation = reader.conversation
        other_readers = [other for other in self.in_conversation(conversation) if other is not reader]
        if self._questions.open_in(conversation) and not other_readers:
            reader.sink = MutedSink(self, self._questions, reader)
            return
        if not other_readers:
            self._questions.forget_unasked(conversation)
        self.detach(reader)

    # --- from the conversation ------------------------------------------------------------------------------------

    def deliver(self, deliver: Deliver) -> None:
        reader = self._readers.get(deliver.subscription)
        if reader is None:
            return  # detached while the slice was on its way
        if deliver.slice.records:
            reader.seq = deliver.slice.records[-1].seq
        reader.sink.take(deliver.slice)

    def resume_subscription(self, end: EndSubscription) -> None:
        reader = self._readers.pop(end.news.subscription, None)
        if reader is not None:
            reader.subscription = self._name()
            self._readers[reader.subscription] = reader
            self._state.scripts.run(self._resume(reader, end.news.reason))

    def _resume(self, reader: SinkReader, reason: str) -> Script[None]:
        try:
            yield from self.attach(reader, None if reason == HISTORY_GONE else reader.seq)
        except GreenroomError:
            reader.sink.handle_loss(reason)
            if not self.in_conversation(reader.conversation):
                self._questions.abandon(reader.conversation, reason)


class MutedSink(Struct, eq=False):
    """The sink of a client that stopped listening while a question is open; it stays until that closes."""

    readers: Readers
    questions: OpenQuestions
    reader: SinkReader
    answers: bool = True

    def take(self, slice_: Slice) -> None:
        self.questions.settle(slice_)
        if not self.questions.open_in(self.reader.conversation):
            self.readers.detach(self.reader)

    def handle_loss(self, reason: str) -> None:
        """Do nothing: its question is abandoned with it."""
