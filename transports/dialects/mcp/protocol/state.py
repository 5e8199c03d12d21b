"""The state of one client: requests, readers, calls, questions, streams."""

from collections.abc import Callable

from msgspec.structs import replace
from pydantic import BaseModel

from actors.vocabulary.ids import Caller, ConversationId, RequestId
from transports import jsonrpc
from transports.dialect import Client, Introduce, Write
from transports.dialects.kit.bounded import Bounded
from transports.dialects.kit.conversation_readers import SinkReader
from transports.dialects.kit.methods import MethodCall
from transports.dialects.kit.reading_state import ReadingState
from transports.dialects.mcp.protocol.answers import Answers
from transports.dialects.mcp.protocol.conversation_waits import Wait
from transports.dialects.mcp.protocol.decoding import without_effect
from transports.dialects.mcp.protocol.listening_request import ListChange, ListeningRequest
from transports.dialects.mcp.protocol.notifications import ClientLog, withdrawal
from transports.dialects.mcp.protocol.options import McpOptions
from transports.dialects.mcp.protocol.repeated_requests import NO_MESSAGE, RepeatableMessage, Repeats
from transports.dialects.mcp.protocol.revisions import LAST_WITH_TWINS, WITH_BATCHES, Era, Introduction
from transports.dialects.mcp.protocol.turn_requests import ProgressToken, TurnRequests
from transports.jsonrpc import Params


class McpState(ReadingState):
    """`fresh` makes the options, now and after the config was read again."""

    log: ClientLog

    def __init__(self, client: Client, fresh: Callable[[], McpOptions]) -> None:
        self._fresh = fresh
        self.configure()
        options = self.options
        super().__init__(
            client, options.requests_in_flight, options.subscriptions, withdrawal, options.first_question
        )
        self.log = ClientLog(self)
        self.peer = Introduction()  # as introduced by the handshake
        self.era: Era | None = None  # unknown before the first request
        self.calls = TurnRequests()
        self.tasks: Bounded[str, None] = Bounded()  # begun by this client, on this connection or before
        self.repeats = Repeats(options.bridge or client.label)
        self.waits: dict[RequestId, Wait] = {}
        self.follows_list = False  # the client has read the list of resources
        self.listening_requests: dict[RequestId, ListeningRequest] = {}  # listening requests of the stateless era
        self.streams: dict[ConversationId, SinkReader] = {}
        self.watched_resources: dict[ConversationId, SinkReader] = {}  # resources
        self.creating_requests: Bounded[ConversationId, RequestId] = (
            Bounded()
        )  # made by conversationCreate, with its request
        self.cancellable_messages: Bounded[RequestId, Caller] = (
            Bounded()
        )  # accepted messages that may still be cancelled

    @property
    def has_shaken_hands(self) -> bool:
        return self.era is Era.HANDSHAKE

    @property
    def takes_batches(self) -> bool:
        """True for the only revision with batches. Each message of a batch is answered on its own line."""
        return self.has_shaken_hands and self.peer.revision == WITH_BATCHES

    def meet(self, peer: Introduction, *, lasting: bool) -> None:
        """Note a client that introduces itself by a request. `lasting`: this decides the connection's era.

        Log messages belong to the handshake era: in the stateless one, results contain them.
        """
        if lasting:
            self.era = Era.STATELESS
            self.log.silence()
        if peer.name and (peer.name, peer.version) != (self.client.name, self.client.version):
            self.client = replace(self.client, name=peer.name, version=peer.version)
            self.do(Introduce(self.client))

    def tell_change(self, method: str) -> None:
        """Notify of a changed list: a client of the handshake era, and every request that listens for it."""
        if self.has_shaken_hands:
            self.do(Write(jsonrpc.notification(method)))
        for request in self.listening_requests.values():
            if method in request.methods:
                self.do(Write(jsonrpc.notification(method, ListChange(request.meta))))

    def configure(self) -> None:
        """Take the options from the present config."""
        self.options = self._fresh()
        self.version, self.person = self.options.version, self.options.person

    def take_over_lost(self, params: Params) -> None:
        """Take over from another daemon: calls that were lost, and tasks."""
        self.repeats.note_lost(params)
        tasks = params.get("tasks") if isinstance(params, dict) else None
        for task in tasks if isinstance(tasks, list) else ():
            if isinstance(task, str):
                self.tasks[task] = None

    def note_ignored(self, name: str, model: type[BaseModel], arguments: object) -> None:
        for notice in without_effect(name, model, arguments):
            self.log.once("warning", notice)

    def has_twin(self, kind: str) -> bool:
        """True if an event of this kind is also sent under its own name."""
        twins = self.options.twin_notifications
        if twins != "auto":
            return twins
        return self.peer.revision <= LAST_WITH_TWINS and not kind.endswith("_delta")


class McpCall(MethodCall[McpState], eq=False):
    """`saying`: for a tool that sends a message to a conversation."""

    peer: Introduction
    progress: ProgressToken | None = None
    saying: RepeatableMessage = NO_MESSAGE
    answers: Answers | None = None  # of a repeated call
