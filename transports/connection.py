"""The actor of one client: owns the dialect, carries out its actions, receives the slices of its subscriptions.

Knows neither the wire format nor how bytes travel. Ends when the wire is closed, and only then.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import assert_never

import structlog
from msgspec import Struct

from actors.messages.conversation import Address, ConnectionClosed, Ready, ToConversation
from actors.messages.effects import Deliver, EndSubscription, ReplyTo
from actors.messages.routing import RegistryInput
from actors.runtime.base import Actor, Ref, Start
from actors.runtime.clock import Clock
from actors.vocabulary.errors import ActorGone, GreenroomError, MailboxFull, Overloaded
from actors.vocabulary.ids import Caller, ConversationId, SubscriptionId
from transports.dialect import Action, Ask, Client, Dialect, Introduce, Tell, Wake, Write
from transports.framing import LINE_TYPES, Line
from transports.messages import (
    ConfigReloaded,
    ConnectionDismissed,
    HeldTooLong,
    LingeredEnough,
    NewsPosted,
    ReadOn,
    ServiceAnswer,
    ServiceRequest,
    SliceStreamed,
    TextAnnounced,
    TimerFired,
)
from transports.ordering import Ordering, request_of
from transports.supervisor_requests import SupervisorRequest
from transports.switchboard import Switchboard
from transports.wire import InputEnded, LinesArrived, Parcel, Wire, WireClosed

log = structlog.get_logger()

HOLD_LIMIT_S = 5.0  # how long an answer waits for its events; a session needs milliseconds
PARCELS_PER_WRITE = 16  # parcels sent together while more messages wait
LINES_IN_A_ROW = 16  # then other actors have a turn
BYTES_IN_A_ROW = 64 * 1024  # the same, for long lines; the last of them is read whole


ConnectionMessage = (
    LinesArrived
    | InputEnded
    | NewsPosted
    | SliceStreamed
    | ConnectionDismissed
    | ConfigReloaded
    | TextAnnounced
    | ServiceAnswer
    | TimerFired
    | ReadOn
    | HeldTooLong
    | LingeredEnough
)
Inbox = ConnectionMessage | WireClosed


class ConnectionDeps(Struct, frozen=True):
    """The actors and ports that a connection talks to, shared by all connections of a daemon."""

    registry: Address[RegistryInput]
    supervisor: Address[ServiceRequest]
    switchboard: Switchboard
    clock: Clock
    start: Start


class Connection(Actor[Inbox]):
    fatal = True
    patient = frozenset((SliceStreamed,))

    def __init__(self, client: Client, dialect: Dialect, wire: Wire, deps: ConnectionDeps) -> None:
        super().__init__()
        self.name = f"connection-{client.connection[:8]}"
        self._client = client
        self._dialect = dialect
        self._wire = wire
        self._deps = deps
        self._ordering = Ordering()
        self._parcels: list[Parcel] = []  # to be sent after this message, or after several in a row
        self._take_more = False
        self._unread: deque[Line] = deque()  # received lines
        self._due: deque[ReplyTo] = deque()  # answers for the dialect, after its current action
        self._unserved = 0
        self._leaving = False  # hanging up; nothing more is done for the client
        self._no_more = False

    def begin(self) -> Ref[Inbox]:
        """Start the actor. The caller hands over the wire, or opens it, afterwards."""
        return self._deps.start(self, connection=self._client.connection)

    def on_start(self) -> None:
        self._deps.switchboard.join(self._client, self.address)
        log.info("connection.opened", client=self._client.label, version=self._client.version)
        self._do(self._dialect.start())
        self._send()

    def on_receive(self, message: Inbox) -> object:
        if isinstance(message, WireClosed):
            self._end(message.reason)
        elif not self._leaving:
            self._take(message)
            if self.mailbox.empty() or len(self._parcels) >= PARCELS_PER_WRITE:
                self._send()
            if self._no_more and not self._owes:
                self._leave("it has ended and every answer was sent")
        return None

    @property
    def _owes(self) -> bool:
        return self._ordering.owes or self._unserved > 0 or bool(self._unread)

    def _take(self, message: ConnectionMessage) -> None:
        match message:
            case LinesArrived(lines):
                self._unread.extend(lines)
                self._read()
            case ReadOn():
                self._read()
            case NewsPosted(news):
                self._handle_news(news)
            case SliceStreamed(deliver, session):
                self._stream(deliver, session)
            case ServiceAnswer(caller, answer):
                self._unserved -= 1
                self._do(self._dialect.take_answer(caller, answer))
            case TimerFired(name):
                self._do(self._dialect.wake(name))
            case InputEnded(linger_s):
                self._no_more = True
                if linger_s is not None:
                    self._deps.clock.tell_later(linger_s, self.address, LingeredEnough())
            case ConnectionDismissed(reason):
                self._leave(reason)
            case ConfigReloaded():
                self._do(self._dialect.reconfigure())
            case TextAnnounced(text):
                self._do(self._dialect.announce(text))
            case HeldTooLong():
                self._give_up_holding(message)
            case LingeredEnough():
                self._leave("its input has ended")
            case _:
                assert_never(message)

    # --- from the client ------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read some of the lines: a client that sends many at once must not delay the others."""
        lines_left, bytes_left = LINES_IN_A_ROW, BYTES_IN_A_ROW
        while self._unread and lines_left > 0 and bytes_left > 0 and not self._leaving:
            line = self._unread.popleft()
            lines_left -= 1
            if isinstance(line, LINE_TYPES):
                bytes_left -= len(line)
                self._do(self._dialect.receive_line(line))
            else:
                self._do(self._dialect.refuse_line(line.reason))
        if self._unread:
            self.address.tell(ReadOn())
        else:
            self._take_more = True

    # --- from the actors ------------------------------------------------------------------------------------------

    def _stream(self, deliver: Deliver, session: Address[Ready]) -> None:
        ready = self._reader(deliver, session)
        if not self._do(self._dialect.take_slice(deliver), ready):
            ready()
        self._hand_on(self._ordering.note_slice(deliver))

    def _handle_news(self, news: ReplyTo | EndSubscription) -> None:
        match news:
            case ReplyTo():
                self._hand_on(self._ordering.note_reply(news))
                if self._ordering.holds(news.caller):
                    self._deps.clock.tell_later(HOLD_LIMIT_S, self.address, HeldTooLong(news.caller))
            case EndSubscription():
                self._do(self._dialect.end_subscription(news))
                self._hand_on(self._ordering.end_reader(news.news.subscription))
            case _:
                assert_never(news)

    # --- actions of the dialect -------------------------------------------------------------------------------------

    def _do(self, actions: Iterable[Action], ready: Callable[[], None] | None = None) -> bool:
        """Carry out the actions, then hand on due answers. True if a Write will make the reader ready."""
        promised = self._carry_out(actions, ready)
        self._hand_on(())
        return promised

    def _hand_on(self, replies: Iterable[ReplyTo]) -> None:
        self._due.extend(replies)
        while self._due:
            reply = self._due.popleft()
            self._carry_out(self._dialect.take_answer(reply.caller, reply.answer))

    def _carry_out(self, actions: Iterable[Action], ready: Callable[[], None] | None = None) -> bool:
        """Carry out in order, after the dialect has made all of the actions."""
        promised = False
        for action in tuple(actions):
            if self._leaving:
                break
            match action:
                case Write(data, None):
                    self._parcels.append(Parcel(data))
                case Write(data, _):
                    self._parcels.append(Parcel(data, ready))
                    promised, ready = True, None
                case Tell(message):
                    self._tell(message)
                case Ask(request, caller):
                    self._ask(request, caller)
                case Wake(name, delay_s):
                    self._deps.clock.tell_later(delay_s, self.address, TimerFired(name))
                case Introduce(client):
                    self._client = client
                    self._deps.switchboard.introduce(client)
                case _:
                    assert_never(action)
        return promised

    def _tell(self, message: RegistryInput) -> None:
        """Tell the registry. If it is full or gone, the client gets a refusal and may try again."""
        self._due.extend(self._ordering.note_message(message))
        try:
            self._deps.registry.tell(message)
        except (MailboxFull, ActorGone) as error:
            caller = request_of(message)
            log.warning("connection.untold", kind=type(message).__name__, reason=error.code)
            if caller is not None:
                refusal = Overloaded("the daemon has too much to do; try again")
                self._due.extend(self._ordering.note_reply(ReplyTo(caller, refusal)))

    def _ask(self, request: SupervisorRequest, caller: Caller | None) -> None:
        try:
            self._deps.supervisor.tell(ServiceRequest(request, caller, self._client, self.address))
        except ActorGone:
            log.warning("connection.unasked", kind=type(request).__name__)  # the daemon is stopping and will hang up
        else:
            self._unserved += caller is not None

    def _send(self) -> None:
        """Send all collected parcels in one write."""
        if self._parcels or self._take_more:
            parcels, self._parcels = self._parcels, []
            take_more, self._take_more = self._take_more, False
            self._wire.write(parcels, take_more=take_more and not self._leaving)

    # --- Ready ----------------------------------------------------------------------------------------------------

    def _reader(self, deliver: Deliver, session: Address[Ready]) -> Callable[[], None]:
        """The function to call when the slice has left. It touches no mutable state of this actor."""
        conversation, subscription = deliver.slice.conversation, deliver.subscription

        def ready() -> None:
            try:
                session.tell(Ready(subscription))
            except ActorGone:
                self._say_ready(conversation, subscription)

        return ready

    def _say_ready(self, conversation: ConversationId, subscription: SubscriptionId) -> None:
        """Say Ready through the registry, which knows the successor of a session that has ended."""
        try:
            self._deps.registry.tell(ToConversation(conversation, Ready(subscription)))
        except ActorGone:
            log.debug("ready.unsaid", conversation=conversation)  # the daemon is stopping

    # --- reminders and the end ------------------------------------------------------------------------------------

    def _give_up_holding(self, reminder: HeldTooLong) -> None:
        if not self._ordering.holds(reminder.caller):
            return
        if self._wire.unsent_bytes:  # the client is slow, not the session: the events come when it reads
            self._deps.clock.tell_later(HOLD_LIMIT_S, self.address, reminder)
            return
        log.warning("connection.events_missing", request=reminder.caller.request)
        self._hand_on(self._ordering.release_overdue(reminder.caller))

    def _leave(self, reason: str) -> None:
        if not self._leaving:
            self._send()
            self._leaving = True
            self._wire.hang_up(reason)

    def _end(self, reason: str) -> None:
        self._sign_off()
        log.info("connection.closed", client=self._client.label, reason=reason)
        self.stop()

    def _sign_off(self) -> None:
        """Leave the switchboard before telling the registry, so that no message arrives afterwards."""
        self._leaving = True
        self._deps.switchboard.leave(self._client.connection)
        try:
            self._deps.registry.tell(ConnectionClosed(self._client.connection))
        except GreenroomError as error:
            log.debug("connection.close_untold", reason=error.code)  # the daemon is stopping

    def on_failure(self, exception_type: type[BaseException] | None, *_: object) -> None:
        self._wire.cut_off(f"a bug in its dialect: {exception_type.__name__ if exception_type else 'unknown'}")
        self._sign_off()

    def statistics(self) -> dict[str, object]:
        return {
            **super().statistics(),
            "client": self._client.label,
            "unsent": self._wire.unsent_bytes,
            "held": self._ordering.held_count,
        }
