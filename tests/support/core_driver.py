"""Drives the core of one conversation without a thread: a disk, readers, and an agent's output.

The disk answers at once or when the test says so, and may refuse; readers are ready at once or when the test says so.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from actors.conversation import Stamp, State, restore, step, survivors_of
from actors.conversation.state import Limits
from actors.messages.conversation import (
    AnswerApproval,
    AppendRefused,
    Attach,
    Begin,
    Command,
    Committed,
    Interrupt,
    PageRead,
    ReadersWait,
    Ready,
    Revived,
    Send,
    SessionInput,
    ToConversation,
)
from actors.messages.effects import Deliver, Effect, EndSubscription, FeedOthers, ReadPage, ReplyTo, Settle, Slice
from actors.messages.orders import (
    AgentNews,
    AgentOrder,
    AgentOutput,
    AgentStopped,
    Completed,
    Outcome,
    RunAgent,
    TurnEnded,
)
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Answer
from actors.vocabulary.errors import JournalError, SequenceConflict
from actors.vocabulary.ids import ApprovalId, Caller, ConnectionId, ConversationId, SubscriptionId, TurnId
from actors.vocabulary.items import InputItem, TextItem
from actors.vocabulary.records import Append, Head, KeptText, Page, Record
from actors.vocabulary.settings import AbortReason, BusyPolicy, Decision, Settings
from tests.fakes.journal import after

EventT = TypeVar("EventT", bound=ev.BaseEvent)
OrderT = TypeVar("OrderT", bound=AgentOrder)

CONVERSATION = ConversationId("00000000-0000-4000-8000-000000000001")
SETTINGS = Settings(model="model-a", cwd=Path("/work"))


def caller(connection: str, request: int | str = 1) -> Caller:
    return Caller(ConnectionId(connection), request)


def said(text: str) -> tuple[InputItem, ...]:
    return (TextItem(text=text),)


@dataclass
class Disk:
    """Durable records, and appends under way."""

    records: list[Record] = field(default_factory=list)
    head: Head | None = None
    under_way: deque[tuple[Append, int]] = field(default_factory=deque)
    refuses: JournalError | None = None
    kept: tuple[KeptText, ...] = ()
    first_seq: int = 1  # retention has taken what is older

    def answer_oldest(self) -> Committed | AppendRefused:
        self.take_text()
        append, epoch = self.under_way.popleft()
        error = self.refuses
        if error is None and append.records[0].seq != len(self.records) + 1:
            error = SequenceConflict(f"{append.records[0].seq} does not follow {len(self.records)}")
        if error is not None:
            return AppendRefused(error, epoch)
        self.records.extend(append.records)
        self.head = append.head or self.head
        self.kept = after(append, self.kept)
        return Committed(append.records[-1].seq, epoch)

    def take_text(self) -> None:
        """Take what comes next if it is text alone, for which nobody waits."""
        while self.under_way and not self.under_way[0][0].records:
            append, _ = self.under_way.popleft()
            if self.refuses is None:
                self.kept = after(append, self.kept)

    def page(self, wanted: ReadPage) -> Page:
        kept = [record for record in self.records if record.seq >= max(self.first_seq, wanted.after + 1)]
        return Page(tuple(kept[: wanted.limit]), self.first_seq, len(self.records))

    def restored(self, limits: Limits) -> State:
        last = self.head.checkpoint_seq if self.head else 0
        return restore(CONVERSATION, self.head, tuple(self.records[last:]), limits, self.kept)


@dataclass
class Reader:
    """The slices that one subscription was given, in order."""

    slices: list[Slice] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)

    @property
    def seqs(self) -> list[int]:
        return [record.seq for slice_ in self.slices for record in slice_.records]

    @property
    def deltas(self) -> list[ev.Delta]:
        return [delta for slice_ in self.slices for delta in slice_.deltas]

    @property
    def text(self) -> str:
        """The text of all deltas."""
        return "".join(delta.delta for delta in self.deltas if not isinstance(delta, ev.WorkOutput))

    @property
    def lags(self) -> int:
        return sum(slice_.lagged for slice_ in self.slices)


class Core:
    """One conversation: `say` is the only input, and all effects are kept."""

    def __init__(
        self, *, limits: Limits | None = None, commits: bool = True, ready: bool = True, begin: bool = True
    ) -> None:
        self.limits = limits or Limits()
        self.commits = commits
        self.ready = ready
        self.now = 1000.0
        self.disk = Disk()
        self.effects: list[Effect] = []
        self.appends: list[Append] = []
        self._readers: dict[str, Reader] = {}
        self._names = 0
        self.pages: deque[ReadPage] = deque()
        self.state = restore(CONVERSATION, None, (), self.limits)
        if begin:
            self.say(Begin(SETTINGS))
            self.store()

    # --- one step -------------------------------------------------------------------------------------------------

    def say(self, message: SessionInput | Command, caller: Caller | None = None) -> list[Effect]:
        """All effects of an input, with those of the disk's and the readers' immediate answers."""
        before = len(self.effects)
        self._take(ToConversation(CONVERSATION, message, caller) if isinstance(message, Command) else message)
        if self.commits:
            self.store()
        return self.effects[before:]

    def _take(self, message: SessionInput) -> None:
        self._names += 1
        decided = step(self.state, message, Stamp(self.now, f"name-{self._names}"))
        self.state = decided.state
        if decided.append is not None:
            self.appends.append(decided.append)
            self.disk.under_way.append((decided.append, self.state.epoch))
        self.effects.extend(decided.effects)
        for effect in decided.effects:
            self._note(effect)

    def _note(self, effect: Effect) -> None:
        match effect:
            case Deliver():
                self.reader(effect.subscription).slices.append(effect.slice)
                if self.ready:
                    self._take(Ready(effect.subscription))
            case EndSubscription():
                self.reader(effect.news.subscription).ended.append(effect.news.reason)
            case FeedOthers() if self.ready:
                self._take(ReadersWait())
            case ReadPage() if self.ready:
                self._take(PageRead(effect.subscription, self.disk.page(effect)))
            case ReadPage():
                self.pages.append(effect)
            case _:
                pass

    def store(self, count: int | None = None) -> list[Effect]:
        """Let the disk answer for the oldest appends, or for all."""
        before = len(self.effects)
        self.disk.take_text()
        while self.disk.under_way and count != 0:
            self._take(self.disk.answer_oldest())
            self.disk.take_text()
            count = None if count is None else count - 1
        return self.effects[before:]

    def page(self) -> None:
        """Let the journal answer the oldest request for a page."""
        wanted = self.pages.popleft()
        self.say(PageRead(wanted.subscription, self.disk.page(wanted)))

    def crash(self, reason: AbortReason = AbortReason.LOST, *, gave_up: str | None = None) -> list[Effect]:
        """Replace the actor; the successor knows what is stored, and with `failed` the attached readers."""
        survivors = survivors_of(self.state) if reason is AbortReason.FAILED else None
        self.disk.take_text()
        while self.disk.under_way:
            self.disk.answer_oldest()
            self.disk.take_text()
        self.pages.clear()
        self.state = self.disk.restored(self.limits)
        return self.say(Revived(reason, "it went away", gave_up, survivors))

    # --- what people and the agent say ----------------------------------------------------------------------------

    def send(  # every field of the command, with the defaults of a test
        self,
        text: str = "hello",
        who: Caller | None = None,
        policy: BusyPolicy = BusyPolicy.STEER,
        *,
        settings: Settings | None = None,
        key: str | None = None,
        await_end: bool = False,
    ) -> list[Effect]:
        by = who.connection if who else ""
        return self.say(Send(said(text) if text else (), policy, settings, key, await_end, by), who)

    def interrupt(self, who: Caller | None = None, *, kill: bool = False, clear: bool = False) -> list[Effect]:
        return self.say(Interrupt(who.connection if who else "", kill, clear=clear), who)

    def answer_with(
        self,
        decision: Decision,
        who: Caller | None = None,
        approval: str = "question",
        *,
        option: str = "",
        content: Mapping[str, object] | None = None,
        outside: bool = False,
    ) -> list[Effect]:
        by = who.connection if who else ""
        said = AnswerApproval(ApprovalId(approval), decision, by, "", option, content or {}, outside)
        return self.say(said, who)

    def attach(self, name: str, after: int | None = 0, *, connection: str = "reader") -> Reader:
        self.say(Attach(ConnectionId(connection), SubscriptionId(name), after), caller(connection, name))
        return self.reader(name)

    def free(self, name: str) -> list[Effect]:
        return self.say(Ready(SubscriptionId(name)))

    def output(self, *news: AgentNews, turn: TurnId | None = None) -> list[Effect]:
        return self.say(AgentOutput(turn or self.turn, news))

    def end(self, outcome: Outcome | None = None, turn: TurnId | None = None) -> list[Effect]:
        return self.say(TurnEnded(turn or self.turn, outcome or Completed("done")))

    def stopped(self) -> list[Effect]:
        return self.end(AgentStopped())

    # --- what there is to see -------------------------------------------------------------------------------------

    @property
    def turn(self) -> TurnId:
        turn = self.state.facts.turn
        assert turn is not None, "no turn is open"
        return turn.id

    def reader(self, name: str) -> Reader:
        return self._readers.setdefault(name, Reader())

    @property
    def events(self) -> list[ev.DurableEvent]:
        return [ev.durable_adapter.validate_json(record.body) for record in self.disk.records]

    @property
    def types(self) -> list[str]:
        """The history as a word per event, without the first."""
        return [record.type for record in self.disk.records if record.type != "session_configured"]

    def said_of(self, kind: type[EventT]) -> list[EventT]:
        return [event for event in self.events if isinstance(event, kind)]

    def answers(self, who: Caller) -> list[Answer]:
        return [one.answer for one in self.effects if isinstance(one, ReplyTo) and one.caller == who]

    def answer(self, who: Caller) -> Answer:
        answers = self.answers(who)
        assert len(answers) == 1, f"{who} has {len(answers)} answers: {answers}"
        return answers[0]

    def settled(self, who: Caller) -> int:
        """The number of times the registry was told that a request is over; more than once is a bug."""
        replies = [one for one in self.effects if isinstance(one, ReplyTo) and one.caller == who and one.settles]
        return len(replies) + self.effects.count(Settle(who))

    @property
    def orders(self) -> list[AgentOrder]:
        return [one for one in self.effects if isinstance(one, AgentOrder)]

    def orders_of(self, kind: type[OrderT]) -> list[OrderT]:
        return [one for one in self.effects if isinstance(one, kind)]

    @property
    def runs(self) -> list[RunAgent]:
        return self.orders_of(RunAgent)


def with_limits(**changes: float) -> Limits:
    return replace(Limits(), **changes)
