"""What one connection has open, each kind with its owner: requests, readers, turns, questions, streams.

Handlers find it through their call. It starts and ends nothing by itself.
"""

from collections.abc import Iterable

from actors.ids import Caller, ConversationId, RequestId
from transports.dialect import Action, Client
from transports.dialects.mcp.bounded import Bounded
from transports.dialects.mcp.call_sink import CallSink
from transports.dialects.mcp.expected import Expected
from transports.dialects.mcp.loudness import Loudness
from transports.dialects.mcp.muted import Muted
from transports.dialects.mcp.options import McpOptions
from transports.dialects.mcp.questions import Questions
from transports.dialects.mcp.readers import Reader, Readers
from transports.dialects.mcp.revisions import Peer
from transports.dialects.mcp.running import Running
from transports.inflight import InFlight


class Desk:
    def __init__(self, client: Client, options: McpOptions) -> None:
        self.client = client  # the program behind the bridge, as soon as it has said its name
        self.options = options
        self.peer = Peer()
        self.initialized = False
        self.open = InFlight(options.requests_in_flight)
        self.expected = Expected(client.connection)
        self.readers = Readers(client, self.expected, options.subscriptions)
        self.running = Running()
        self.questions = Questions(client.connection, lambda: self.client.label, options.first_question)
        self.loudness = Loudness()
        self.streams: dict[ConversationId, Reader] = {}
        self.listeners: dict[str, Reader] = {}
        self.watched: dict[ConversationId, Reader] = {}  # resources
        self.follows_list = False  # of resources
        self.created: Bounded[ConversationId, RequestId] = Bounded()  # by conversationCreate, and by which request
        self.unheard: Bounded[ConversationId, None] = Bounded()  # by newConversation, and nobody listened yet
        self.sent: Bounded[RequestId, Caller] = Bounded()  # messages that were taken, while they may be cancelled

    def has_twin(self, kind: str) -> bool:
        """Whether an event of this kind is told under its own name, too."""
        twins = self.options.twin_notifications
        return self.peer.may_wait_for_twins and not kind.endswith("_delta") if twins == "auto" else twins

    def call_reader(self, conversation: ConversationId) -> Reader | None:
        readers = self.readers.of(conversation)
        return next((one for one in readers if isinstance(one.sink, CallSink)), None)

    def leave(self, reader: Reader) -> Iterable[Action]:
        """Its client listens no more; but a question that only it would see settled keeps it."""
        conversation = reader.conversation
        heard_by = [one for one in self.readers.of(conversation) if one is not reader]
        if self.questions.open_in(conversation) and not heard_by:
            reader.sink = Muted(self, reader)
            return
        if not heard_by:
            self.questions.forget_unasked(conversation)
        yield from self.readers.detach(reader)

    def nobody_reads(self, conversation: ConversationId, reason: str) -> Iterable[Action]:
        """A reader was lost. If it was the last, its questions can't be settled any more."""
        if not self.readers.of(conversation):
            yield from self.questions.abandon(conversation, reason)
