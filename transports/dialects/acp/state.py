"""The state of one client: its sessions, its open prompts, its questions."""

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct, field

from actors.vocabulary.errors import Overloaded, UnknownConversation, WrongState
from actors.vocabulary.ids import ConversationId, InputId, RequestId
from transports import jsonrpc
from transports.dialect import Client, Write
from transports.dialects.acp.abilities import Abilities
from transports.dialects.acp.introduction import FIRST
from transports.dialects.acp.options import AcpOptions
from transports.dialects.acp.settings import Offers
from transports.dialects.acp.teller import Teller
from transports.dialects.acp.told_calls import ToldCalls
from transports.dialects.acp.told_texts import ToldTexts
from transports.dialects.acp.updates import Severity, Update
from transports.dialects.acp.versions import VERSIONS
from transports.dialects.kit.methods import Call
from transports.dialects.kit.readers import FULL, SinkReader
from transports.dialects.kit.reading import ReadingState
from transports.jsonrpc import JsonObject

TAKEN_BACK = -32800
SAID_KEPT = 64  # texts remembered, so that none is sent twice
SEVERITIES: Mapping[str, Severity] = {"error": "error", "warning": "warning"}


class OpenPrompt(Struct, frozen=True):
    conversation: ConversationId
    input: InputId


class HeldAnswer(Struct, frozen=True):
    """The answer to a prompt, held until the client has the events up to `seq`."""

    request: RequestId
    seq: int
    line: bytes


class Session(Struct, eq=False):
    """A conversation that the client has open. `opening`: the request that opens it is not answered yet.

    `seq`: the last stored event that the client has. `runs`: a turn runs, by the client's knowledge. `known`: events
    up to here are read for their open calls, and not sent. `cancels`: the number of running cancellations.
    """

    conversation: ConversationId
    teller: Teller
    reader: SinkReader | None = None
    opening: bool = True
    seq: int = 0
    runs: bool = False
    known: int = 0
    cancels: int = 0
    resting: bool = False  # output was sent a moment ago
    held: tuple[HeldAnswer, ...] = ()
    untaken: dict[InputId, RequestId] = field(default_factory=dict)  # prompts whose input no turn has taken yet
    offers: Offers = Offers()


class Notices:
    """Notices that wait for the next session that is opened: ACP has no messages outside sessions."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Severity, str]] = []
        self._said: list[str] = []

    def say(self, level: str, text: str) -> None:
        self.waiting.append((SEVERITIES.get(level, "info"), text))

    def once(self, level: str, text: str) -> None:
        if text not in self._said:
            self._said = [*self._said, text][-SAID_KEPT:]
            self.say(level, text)

    def taken(self) -> list[tuple[Severity, str]]:
        waiting, self.waiting = self.waiting, []
        return waiting


class AcpState(ReadingState):
    """`fresh` makes the options, now and after the config was read again."""

    log: Notices

    def __init__(self, client: Client, fresh: Callable[[], AcpOptions]) -> None:
        self._fresh = fresh
        self.configure()
        options = self.options
        super().__init__(
            client, options.requests_in_flight, options.subscriptions, withdrawal, options.first_question
        )
        self.log = Notices()
        self.can = Abilities()
        self.speaks = VERSIONS[FIRST]  # the agreed version
        self.sessions: dict[ConversationId, Session] = {}
        self.prompts: dict[RequestId, OpenPrompt] = {}

    def configure(self) -> None:
        """Take the options from the present config."""
        self.options = self._fresh()
        self.version, self.person = self.options.version, self.options.person

    # --- sessions -------------------------------------------------------------------------------------------------

    def open(self, conversation: ConversationId, shown: Mapping[str, int] | None = None) -> Session:
        """Open a session; an open session begins anew. `shown`: how much the client has of unfinished messages."""
        self.close(conversation)
        if self.readers.full:
            raise Overloaded(FULL)
        texts = ToldTexts(shown or {})
        calls = ToldCalls(texts, screens=self.can.screens, continues=shown is not None)
        translator = Teller(lambda: self.client.label, texts, calls, echoes=self.speaks.echoes, hears=self._hears_of)
        session = self.sessions[conversation] = Session(conversation, translator)
        return session

    def _hears_of(self, inputs: Collection[str]) -> bool:
        """Whether the client learns of a failed turn from an open prompt, or from version 2's state."""
        return not self.speaks.answers_at_the_end or any(
            open_prompt.input in inputs for open_prompt in self.prompts.values()
        )

    def close(self, conversation: ConversationId, reason: str = "the session was closed") -> None:
        session = self.sessions.pop(conversation, None)
        if session is None:
            return
        self.questions.abandon(conversation, reason)
        self.release(session)
        for request in session.untaken.values():
            self.do(Write(jsonrpc.error(request, TAKEN_BACK, reason)))
        if session.reader is not None:
            self.readers.detach(session.reader)

    def session(self, reference: str) -> Session:
        """The session that a request names. Raises UnknownConversation, or WrongState before it is open."""
        session = self.sessions.get(ConversationId(reference))
        if session is None:
            raise UnknownConversation(f"session {reference} is not open here; load or resume it first")
        if session.opening:
            raise WrongState(f"session {reference} is being opened; wait for the answer")
        return session

    # --- lines ----------------------------------------------------------------------------------------------------

    def tell(self, session: Session, *updates: Update, seq: int | None = None) -> None:
        """Send updates. `seq`: the stored event that the client has with the last of them, and not before."""
        lines = [written for update in updates for written in self.speaks.written(update, notices=self.can.notices)]
        for update in lines[:-1]:
            self._update(session, update)
        if seq is not None:
            session.seq, session.runs = seq, session.teller.turns
        for update in lines[-1:]:
            self._update(session, update)

    def _update(self, session: Session, update: JsonObject) -> None:
        running = {"running": True} if session.runs else {}
        at = {"instance": self.options.instance, "seq": session.seq, **running}
        params = {"sessionId": session.conversation, "update": update, "_meta": {"greenroom": at}}
        self.do(Write(jsonrpc.notification("session/update", params)))

    def hold(self, conversation: ConversationId, answer: HeldAnswer) -> None:
        """Write an answer when the client has the events that precede it."""
        session = self.sessions.get(conversation)
        if session is None or session.reader not in self.readers or session.seq >= answer.seq:
            self.do(Write(answer.line))
        else:
            session.held += (answer,)

    def release(self, session: Session, seq: int | None = None) -> None:
        """Write the answers that wait for events up to `seq`; without it, all of them."""
        due = [answer for answer in session.held if seq is None or answer.seq <= seq]
        session.held = tuple(answer for answer in session.held if answer not in due)
        for answer in due:
            self.do(Write(answer.line))


class AcpCall(Call[AcpState], eq=False):
    key: str | None = None  # the bridge's key, which identifies a repeated prompt


def withdrawal(number: int, _: str) -> bytes:
    """The notification that takes back a request to the client."""
    return jsonrpc.notification("$/cancel_request", {"requestId": number})
