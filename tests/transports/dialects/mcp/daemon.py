"""A daemon without threads: the real cores of registry and conversations, a real connection; the agent is the test.

Everybody has a queue. `settle` empties them in the order in which things were said; a test that wants another order
runs the queues itself.
"""

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actors.conversation.restore import restore
from actors.conversation.state import Limits, Stamp, State
from actors.conversation.step import step
from actors.journal.directory import Directory
from actors.messages.conversation import Committed, PageRead, ReadersWait, SessionInput, TimerFired
from actors.messages.effects import Deliver, EndSubscription, FeedOthers, ReadPage, ReplyTo, SetTimer, Settle
from actors.messages.journal import RunLookup
from actors.messages.orders import (
    AgentNews,
    AgentOutput,
    AgentStopped,
    AnswerAgent,
    Completed,
    GiveInput,
    OfferInput,
    Outcome,
    RunAgent,
    StopAgent,
    TakeMore,
    TurnEnded,
)
from actors.messages.routing import AskDirectory, Forward, HeadChanged, KnownHeads, RegistryInput, StartSession
from actors.routing import Routing
from actors.runtime.base import Actor, Ref
from actors.vocabulary.errors import ConfigError, GreenroomError, UnknownConversation
from actors.vocabulary.ids import ConnectionId, ConversationId, TurnId
from actors.vocabulary.records import Append
from actors.vocabulary.settings import ApprovalPolicy, Settings
from tests.fakes.journal import FakeJournal
from transports import supervisor_requests as ask
from transports.connection import Connection, ConnectionDeps
from transports.dialect import Client, Dialect
from transports.messages import ServiceAnswer, ServiceRequest
from transports.supervisor_answers import HistoryRead, MenuPrompts, SettingsMade
from transports.switchboard import Switchboard
from transports.wire import Parcel, WireClosed

PATIENCE = 10_000  # messages until everything must be quiet


@dataclass
class Mailbox:
    """The messages for one receiver, which gets them when its turn has come."""

    daemon: "Daemon"
    name: str
    handle: Callable[[Any], object]
    waiting: deque[tuple[int, object]] = field(default_factory=deque)

    def empty(self) -> bool:
        return not self.waiting

    def tell(self, message: object) -> None:
        self.waiting.append((next(self.daemon.order), message))

    def stop_soon(self) -> None:
        self.waiting.clear()


class QuietWire:
    """A wire that takes everything at once and puts it in a queue."""

    def __init__(self, daemon: "Daemon", name: str, receive: Callable[[bytes], None]) -> None:
        self._left = daemon.mailbox(f"wire-{name}", lambda left: left())
        self._receive = receive
        self.closed = ""

    def open(self, owner: Any) -> None:
        raise NotImplementedError

    def hand_to(self, owner: Any) -> None:
        raise NotImplementedError

    def write(self, parcels: Sequence[Parcel], *, take_more: bool = False) -> None:  # noqa: ARG002  # it never holds
        for parcel in parcels:
            self._receive(parcel.data)
            if parcel.on_sent is not None:
                self._left.tell(parcel.on_sent)

    def hang_up(self, reason: str) -> None:
        self.closed = reason

    def cut_off(self, reason: str) -> None:
        self.closed = reason

    @property
    def unsent_bytes(self) -> int:
        return 0


class Clock:
    def __init__(self) -> None:
        self.time = 1_000_000.0
        self._due: list[tuple[float, Any, object]] = []

    def now(self) -> float:
        return self.time

    def tell_later(self, delay_s: float, address: Any, message: object) -> None:
        self._due.append((self.time + delay_s, address, message))

    def advance(self, seconds: float) -> None:
        self.time += seconds
        due = [one for one in self._due if one[0] <= self.time]
        self._due = [one for one in self._due if one[0] > self.time]
        for _, address, message in due:
            address.tell(message)


class Daemon:
    def __init__(self, journal: FakeJournal | None = None) -> None:
        self.order = itertools.count()
        self.clock = Clock()
        self.journal = journal or FakeJournal()
        self.switchboard = Switchboard()
        self.mailboxes: dict[str, Mailbox] = {}
        self.turns: dict[ConversationId, RunAgent] = {}
        self.answered: list[AnswerAgent] = []
        self.given: list[GiveInput] = []
        self.stops_by_itself = True
        self.serve: dict[type, Callable[[Any], Any]] = {
            ask.MakeSettings: self._make_settings,
            ask.PermitSettings: lambda request: SettingsMade(request.settings),
            ask.ReadHistory: self._read_history,
            ask.ListPrompts: lambda _: MenuPrompts(()),
        }
        self.asked: list[Any] = []
        self._states: dict[ConversationId, State] = {}
        self._routing = Routing()
        self._names = itertools.count(1)
        self._registry = self.mailbox("registry", self._route)
        self._supervisor = self.mailbox("supervisor", self._serve)
        self._writer = self.mailbox("journal", self._commit)
        self._directory = self.mailbox("directory", Directory(self.journal).on_receive)
        self._agent = self.mailbox("agent", lambda do: do())
        self._registry.tell(KnownHeads(tuple(self.journal.unsettled_heads())))

    # --- queues ---------------------------------------------------------------------------------------------------

    def mailbox(self, name: str, handle: Callable[[Any], object]) -> Mailbox:
        return self.mailboxes.setdefault(name, Mailbox(self, name, handle))

    def busy(self) -> list[Mailbox]:
        return [one for one in self.mailboxes.values() if one.waiting]

    def run_one(self, mailbox: Mailbox) -> None:
        _, message = mailbox.waiting.popleft()
        mailbox.handle(message)

    def settle(self, but: str = "-") -> None:
        """Run until nobody has anything to do, without those whose names begin with `but`."""
        for _ in range(PATIENCE):
            busy = [one for one in self.busy() if not one.name.startswith(but)]
            if not busy:
                return
            self.run_one(min(busy, key=lambda one: one.waiting[0][0]))
        raise AssertionError("it never comes to rest")

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.settle()

    # --- connections ----------------------------------------------------------------------------------------------

    def connect(self, name: str, make: Callable[[Client], Dialect], receive: Callable[[bytes], None]) -> Mailbox:
        client = Client(ConnectionId(name), "bridge", "1", 4711, 1000, cwd="/w", env={"A": "b"})
        deps = ConnectionDeps(self._registry, self._supervisor, self.switchboard, self.clock, _never_started)
        connection = Connection(client, make(client), QuietWire(self, name, receive), deps)
        mailbox = self.mailbox(f"connection-{name}", connection.on_receive)
        connection.address = mailbox  # type: ignore[assignment]  # what it needs of an address
        connection.mailbox = mailbox  # type: ignore[assignment]  # and of a mailbox
        connection.on_start()
        return mailbox

    def hang_up(self, mailbox: Mailbox) -> None:
        mailbox.tell(WireClosed("the client left"))
        self.settle()

    # --- the agent ------------------------------------------------------------------------------------------------

    def say(self, conversation: ConversationId, *news: AgentNews) -> None:
        self._session(conversation).tell(AgentOutput(self.turns[conversation].turn, news))

    def end(self, conversation: ConversationId, outcome: Outcome) -> None:
        turn = self.turns.pop(conversation).turn
        self._session(conversation).tell(TurnEnded(turn, outcome))

    def finish(self, conversation: ConversationId, text: str | None) -> None:
        self.end(conversation, Completed(text))

    def _stop(self, conversation: ConversationId, turn: TurnId) -> None:
        running = self.turns.get(conversation)
        if running is not None and running.turn == turn:
            self.end(conversation, AgentStopped())

    # --- conversations --------------------------------------------------------------------------------------------

    def state(self, conversation: ConversationId) -> State:
        return self._states[conversation]

    @property
    def conversations(self) -> list[ConversationId]:
        return list(self._states)

    def _session(self, conversation: ConversationId) -> Mailbox:
        return self.mailbox(f"session-{conversation}", lambda message: self._take(conversation, message))

    def _route(self, message: RegistryInput) -> None:
        for effect in self._routing.step(message, self.clock.now()):
            match effect:
                case StartSession(conversation, _, revived, first):
                    head, page = self.journal.head(conversation), self.journal.read(conversation, 0, 10_000)
                    records = page.records if page is not None else ()
                    self._states.setdefault(conversation, restore(conversation, head, records, Limits()))
                    for one in (revived, *first) if self._states[conversation].facts.seq else first:
                        self._session(conversation).tell(one)
                case Forward(conversation, command):
                    self._session(conversation).tell(command)
                case AskDirectory(number, lookup):
                    self._directory.tell(RunLookup(number, lookup, self._registry))
                case ReplyTo():
                    self.switchboard.post(effect.caller.connection, effect)
                case _:
                    raise NotImplementedError(effect)

    def _take(self, conversation: ConversationId, message: SessionInput) -> None:
        done = step(self._states[conversation], message, Stamp(self.clock.now(), f"n{next(self._names)}"))
        self._states[conversation] = done.state
        if done.append is not None:
            turn = done.state.facts.turn
            self._writer.tell((done.append, done.state.epoch, turn.approvals if turn else ()))
        session = self._session(conversation)
        for effect in done.effects:
            self._perform(conversation, session, effect)

    def _perform(self, conversation: ConversationId, session: Mailbox, effect: Any) -> None:
        match effect:
            case RunAgent():
                self.turns[conversation] = effect
            case StopAgent(turn):
                if self.stops_by_itself:
                    self._agent.tell(lambda: self._stop(conversation, turn))
            case AnswerAgent():
                self.answered.append(effect)
            case GiveInput():
                self.given.append(effect)
            case Deliver():
                self.switchboard.deliver(effect, session)
            case EndSubscription():
                self.switchboard.post(effect.connection, effect)
            case ReplyTo():
                self.switchboard.post(effect.caller.connection, effect)
                if effect.settles:
                    self._registry.tell(Settle(effect.caller))
            case Settle():
                self._registry.tell(effect)
            case ReadPage():
                page = self.journal.read(conversation, effect.after, effect.limit)
                session.tell(PageRead(effect.subscription, page))
            case FeedOthers():
                session.tell(ReadersWait())
            case SetTimer(name, delay_s) if name != "idle":
                self.clock.tell_later(delay_s, session, TimerFired(name))
            case SetTimer() | TakeMore() | OfferInput():
                pass  # no test waits for idleness
            case _:
                raise NotImplementedError(effect)

    def _commit(self, work: tuple[Append, int, tuple[Any, ...]]) -> None:
        append, epoch, pending = work
        assert self.journal.commit([append]) == [None]
        if append.records:
            self._session(append.conversation).tell(Committed(append.records[-1].seq, epoch))
        if append.head is not None:
            self._registry.tell(HeadChanged(append.head, pending))

    # --- the supervisor -------------------------------------------------------------------------------------------

    def _serve(self, asked: ServiceRequest) -> None:
        request: Any = asked.request
        self.asked.append(request)
        serve = self.serve.get(type(request))
        try:
            answer: Any = serve(request) if serve is not None else None
        except GreenroomError as error:
            answer = error
        if asked.caller is not None:
            asked.reply_to.tell(ServiceAnswer(asked.caller, answer))

    def _make_settings(self, request: ask.MakeSettings) -> SettingsMade:
        if request.profile is not None:
            raise ConfigError(f"config profile `{request.profile}` not found")
        policy = ApprovalPolicy(request.approval_policy or "on-request")
        cwd = Path("/w") / (request.cwd or "")
        settings = Settings(
            model=request.model or "mock-model",
            cwd=cwd,
            approval_policy=policy,
            base_instructions=request.base_instructions,
        )
        return SettingsMade(settings, "using mock-model")

    def _read_history(self, request: ask.ReadHistory) -> HistoryRead:
        if request.before is None:
            page = self.journal.read(request.conversation, request.after, request.limit)
        else:
            page = self.journal.read_back(request.conversation, request.before, request.limit)
        if page is None:
            raise UnknownConversation(f"no conversation {request.conversation}")
        return HistoryRead(page, page.complete if request.before is None else page.is_the_beginning)


def _never_started(actor: Actor[Any], **_: str) -> Ref[Any]:
    raise AssertionError(f"{actor.name} is run by hand here")
