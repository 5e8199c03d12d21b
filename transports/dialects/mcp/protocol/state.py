"""The state of one client: requests, readers, calls, questions, streams."""

from collections.abc import Callable

from msgspec.structs import replace
from pydantic import BaseModel

from actors.vocabulary.ids import Caller, ConversationId, RequestId
from transports import jsonrpc
from transports.dialect import Client, Introduce, Write
from transports.dialects.kit.bounded import Bounded
from transports.dialects.kit.methods import Call
from transports.dialects.kit.readers import SinkReader
from transports.dialects.kit.reading import ReadingState
from transports.dialects.mcp.protocol.answers import Answers
from transports.dialects.mcp.protocol.decoding import without_effect
from transports.dialects.mcp.protocol.listening_request import Listening
from transports.dialects.mcp.protocol.notifications import ClientLog, withdrawal
from transports.dialects.mcp.protocol.options import McpOptions
from transports.dialects.mcp.protocol.repeats import Repeats, Saying
from transports.dialects.mcp.protocol.revisions import LAST_WITH_TWINS, WITH_BATCHES, Era, Introduction
from transports.dialects.mcp.protocol.turn_requests import ProgressToken, TurnRequests
from transports.dialects.mcp.protocol.waits import Wait
from transports.jsonrpc import Params


class McpState(ReadingState):
    """`fresh` makes the options, now and when the config was read again."""

    log: ClientLog

    def __init__(self, client: Client, fresh: Callable[[], McpOptions]) -> None:
        self._fresh = fresh
        self.configure()
        options = self.options
        super().__init__(
            client, options.requests_in_flight, options.subscriptions, withdrawal, options.first_question
        )
        self.log = ClientLog(self)
        self.peer = Introduction()  # by the handshake
        self.era: Era | None = None  # not known before the first request
        self.calls = TurnRequests()
        self.tasks: Bounded[str, None] = Bounded()  # that the client has begun, on this connection or before
        self.repeats = Repeats(options.bridge or client.label)
        self.waits: dict[RequestId, Wait] = {}
        self.follows_list = False  # it has read the list of resources
        self.listening: dict[RequestId, Listening] = {}  # of the other era, by their requests
        self.streams: dict[ConversationId, SinkReader] = {}
        self.watched: dict[ConversationId, SinkReader] = {}  # resources
        self.created: Bounded[ConversationId, RequestId] = Bounded()  # by conversationCreate, and by which request
        self.sent: Bounded[RequestId, Caller] = Bounded()  # messages that were taken, while they may be cancelled

    @property
    def initialized(self) -> bool:
        return self.era is Era.HANDSHAKE

    @property
    def takes_batches(self) -> bool:
        """True for the one revision that has them. Each of its messages is answered on a line of its own."""
        return self.initialized and self.peer.revision == WITH_BATCHES

    def meet(self, peer: Introduction, *, lasting: bool) -> None:
        """Take note of a client that introduces itself by a request. `lasting`: the connection has its era now.

        Messages for people are part of the other era alone: here results have them.
        """
        if lasting:
            self.era = Era.STATELESS
            self.log.silence()
        if peer.name and (peer.name, peer.version) != (self.client.name, self.client.version):
            self.client = replace(self.client, name=peer.name, version=peer.version)
            self.do(Introduce(self.client))

    def tell_change(self, method: str) -> None:
        """Tell of a list that has changed: a client that has shaken hands, and every request that listens for it."""
        if self.initialized:
            self.do(Write(jsonrpc.notification(method)))
        for one in self.listening.values():
            if method in one.methods:
                self.do(Write(jsonrpc.notification(method, one.meta)))

    def configure(self) -> None:
        """Take the options of the config as it is now."""
        self.options = self._fresh()
        self.version, self.person = self.options.version, self.options.person

    def reconnected(self, params: Params) -> None:
        """Take up what the client had with another daemon: calls that were lost, and tasks."""
        self.repeats.note_lost(params)
        tasks = params.get("tasks") if isinstance(params, dict) else None
        for task in tasks if isinstance(tasks, list) else ():
            if isinstance(task, str):
                self.tasks[task] = None

    def note_ignored(self, name: str, model: type[BaseModel], given: object) -> None:
        for notice in without_effect(name, model, given):
            self.log.once("warning", notice)

    def has_twin(self, kind: str) -> bool:
        """True if an event of this kind is told under its own name, too."""
        twins = self.options.twin_notifications
        if twins != "auto":
            return twins
        return self.peer.revision <= LAST_WITH_TWINS and not kind.endswith("_delta")


class McpCall(Call[McpState], eq=False):
    """`saying`: of a tool that says something in a conversation."""

    peer: Introduction
    progress: ProgressToken | None = None
    saying: Saying = Saying("")
    answers: Answers | None = None  # of a call that is made again, with what its client was asked for
