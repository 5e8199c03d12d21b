"""The services that actors need from below, as protocols. An implementation and its fake pass the same tests."""

from collections.abc import Sequence
from typing import Protocol

from actors.messages.conversation import Address, Ready
from actors.messages.effects import Deliver, EndSubscription, ReplyTo
from actors.messages.orders import AbandonAgent, AgentAbandoned, AgentOrder, AgentOutput, TurnEnded
from actors.vocabulary.errors import JournalError
from actors.vocabulary.ids import ConnectionId, ConversationId
from actors.vocabulary.records import Append, Head, HeadPage, KeptText, ListQuery, Page


class Journal(Protocol):
    """The durable log. `commit` and `delete` belong to one thread; reading is safe from any and never blocks it."""

    def commit(self, appends: Sequence[Append]) -> list[JournalError | None]:
        """One transaction for all. An append in conflict is refused alone; a failing disk refuses all of them."""
        ...

    def read(
        self,
        conversation: ConversationId,
        after: int,
        limit: int,
        max_bytes: int = 1 << 20,
        whole_bytes: int | None = None,
    ) -> Page | None:
        """A page of so many bytes, of one event at least. An event that is longer than `whole_bytes` is shortened."""
        ...

    def read_back(
        self, conversation: ConversationId, before: int, limit: int, max_bytes: int = 1 << 20
    ) -> Page | None:
        """The last events before a seq, oldest first, as many as a page has."""
        ...

    def part(self, conversation: ConversationId, seq: int, offset: int, count: int) -> bytes:
        """Some bytes of a body as it is stored, for events that are shortened where they are read."""
        ...

    def kept_text(self, conversation: ConversationId) -> tuple[KeptText, ...]:
        """The text that was not finished when the last daemon ended, piece by piece in order."""
        ...

    def head(self, conversation: ConversationId) -> Head | None: ...

    def row(self, conversation: ConversationId) -> Head | None:
        """The head as lists have it: without settings and checkpoint, `updated` as of when it was stored."""
        ...

    def find_name(self, name: str) -> ConversationId | None:
        """The conversation of this name. Of several in an old journal, the most recently updated."""
        ...

    def starting_with(self, prefix: str, limit: int) -> list[ConversationId]:
        """The ids that begin like this, in order."""
        ...

    def list_page(self, query: ListQuery) -> HeadPage:
        """A page of a list. Its cost depends on the page, not on the conversations that there are."""
        ...

    def unsettled_heads(self) -> list[Head]:
        """The heads whose state is not at rest, which a restart has to look at; most recently updated first."""
        ...

    def surplus(self, most: int | None, untouched_since: float | None, limit: int) -> list[ConversationId]:
        """The conversations at rest that are beyond `most` of all, or too old; the longest untouched first."""
        ...

    def delete(self, conversation: ConversationId) -> None: ...

    def publish(self) -> None:
        """Tell readers of the appends since the last time, after their owners: then readers find them everywhere."""
        ...

    def close(self) -> None: ...


class AgentRunner(Protocol):
    """Carries out turns, on another thread. Never waits; news is told to the actor that gave the order."""

    def order(self, order: AgentOrder, session: Address[AgentOutput | TurnEnded]) -> None: ...

    def abandon(self, order: AbandonAgent, registry: Address[AgentAbandoned]) -> None: ...


class Outbox(Protocol):
    """Finds the connection a message is for. A message for a connection that has closed meanwhile is dropped."""

    def post(self, connection: ConnectionId, message: ReplyTo | EndSubscription) -> None: ...

    def deliver(self, message: Deliver, session: Address[Ready]) -> None:
        """Deliver a slice to a reader, whose Ready goes to `session`."""
        ...
