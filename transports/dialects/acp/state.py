"""The state of one client: its sessions, its open prompts, its questions."""

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct

from actors.vocabulary.errors import Overloaded, UnknownConversation, WrongState
from actors.vocabulary.ids import ConversationId, InputId, RequestId
from transports import jsonrpc
from transports.dialect import Client, Write
from transports.dialects.acp.abilities import Abilities
from transports.dialects.acp.event_translator import EventTranslator
from transports.dialects.acp.options import AcpOptions
from transports.dialects.acp.settings import Offers
from transports.dialects.acp.shown_calls import ShownCalls
from transports.dialects.acp.shown_texts import ShownTexts
from transports.dialects.acp.update_json import SessionUpdate, write_update
from transports.dialects.acp.updates import Severity, Update
from transports.dialects.kit.conversation_readers import FULL, SinkReader
from transports.dialects.kit.methods import MethodCall
from transports.dialects.kit.reading_state import ReadingState

REQUEST_CANCELLED = -32800
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


class EditorSession(Struct, eq=False):
    """A conversation that the client has open. `opening`: the request that opens it is not answered yet.

    `seq`: the last stored event that the client has. `runs`: a turn runs, by the client's knowledge. `known`: events
    up to here are read for their open calls, and not sent. `cancels`: the number of running cancellations.
    """

    conversation: ConversationId
    translator: EventTranslator
    reader: SinkReader | None = None
    opening: bool = True
    seq: int = 0
    runs: bool = False
    known_seq: int = 0
    cancels: int = 0
    resting: bool = False  # output was sent a moment ago
    held_answers: tuple[HeldAnswer, ...] = ()
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

    def take_waiting(self) -> list[tuple[Severity, str]]:
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
        self.abilities = Abilities()
        self.sessions: dict[ConversationId, EditorSession] = {}
        self.prompts: dict[RequestId, OpenPrompt] = {}

    def configure(self) -> None:
        """Take the options from the present config."""
        self.options = self._fresh()
        self.version, self.person = self.options.version, self.options.person

    # --- sessions -------------------------------------------------------------------------------------------------

    def open(self, conversation: ConversationId, shown: Mapping[str, int] | None = None) -> EditorSession:
        """Open a session; an open session begins anew. `shown`: how much the client has of unfinished messages."""
        self.close(conversation)
        if self.readers.full:
            raise Overloaded(FULL)
        texts = ShownTexts(shown or {})
        calls = ShownCalls(texts, screens=self.abilities.screens, continues=shown is not None)
        translator = EventTranslator(lambda: self.client.label, texts, calls, hears=self._hears_of)
        session = self.sessions[conversation] = EditorSession(conversation, translator)
        return session

    def _hears_of(self, inputs: Collection[str]) -> bool:
        """Whether the client learns from an open prompt that a turn with these inputs failed."""
        return any(open_prompt.input in inputs for open_prompt in self.prompts.values())

    def close(self, conversation: ConversationId, reason: str = "the session was closed") -> None:
        session = self.sessions.pop(conversation, None)
        if session is None:
            return
        self.questions.abandon(conversation, reason)
        self.release(session)
        if session.reader is not None:
            self.readers.detach(session.reader)

    def session(self, reference: str) -> EditorSession:
        """The session that a request names. Raises UnknownConversation, or WrongState before it is open."""
        session = self.sessions.get(ConversationId(reference))
        if session is None:
            raise UnknownConversation(f"session {reference} is not open here; load or resume it first")
        if session.opening:
            raise WrongState(f"session {reference} is being opened; wait for the answer")
        return session

    # --- lines ----------------------------------------------------------------------------------------------------

    def tell(self, session: EditorSession, *updates: Update, seq: int | None = None) -> None:
        """Send updates. `seq`: the stored event that the client has with the last of them, and not before."""
        lines = [written for update in updates for written in write_update(update, notices=self.abilities.notices)]
        for update in lines[:-1]:
            self._update(session, update)
        if seq is not None:
            session.seq, session.runs = seq, session.translator.turns
        for update in lines[-1:]:
            self._update(session, update)

    def _update(self, session: EditorSession, update: SessionUpdate) -> None:
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
            session.held_answers += (answer,)

    def release(self, session: EditorSession, seq: int | None = None) -> None:
        """Write the answers that wait for events up to `seq`; without it, all of them."""
        due = [answer for answer in session.held_answers if seq is None or answer.seq <= seq]
        session.held_answers = tuple(answer for answer in session.held_answers if answer not in due)
        for answer in due:
            self.do(Write(answer.line))


class AcpCall(MethodCall[AcpState], eq=False):
    key: str | None = None  # the bridge's key, which identifies a repeated prompt


def withdrawal(number: int, _: str) -> bytes:
    """The notification that takes back a request to the client."""
    return jsonrpc.notification("$/cancel_request", {"requestId": number})
