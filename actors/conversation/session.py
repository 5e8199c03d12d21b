"""The live owner of one conversation: feeds the functional core, stores its events, carries out its effects.

Knows no policy. Everything it waits for comes as a message: the journal's answers, the agent's news, timers.
"""

import contextlib
from collections.abc import Callable
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from actors.conversation import (
    Stamp,
    State,
    Step,
    free_reader,
    restore,
    step,
    summary,
    survivors_of,
    visible,
)
from actors.conversation.state import Limits
from actors.messages.conversation import (
    SAID_TO_IT,
    Address,
    AppendRefused,
    Committed,
    PageRead,
    ReadersWait,
    Ready,
    Revived,
    SessionInput,
    TimerFired,
    ToConversation,
    caller_of,
)
from actors.messages.effects import (
    Deliver,
    Effect,
    EndSubscription,
    FeedOthers,
    Leave,
    OfferToPark,
    ReaderState,
    ReadPage,
    ReplyTo,
    SetTimer,
    Settle,
    Stay,
    Survivors,
    Unsubscribed,
)
from actors.messages.journal import FetchPage, JournalistInput, LibrarianInput, Load, LoadedState, Store
from actors.messages.orders import (
    AllStored,
    AnswerAgent,
    GiveInput,
    OfferInput,
    RestAgent,
    RunAgent,
    StopAgent,
    SuspendAgent,
    TakeMore,
    UseSettings,
)
from actors.messages.ports import AgentRunner, Outbox
from actors.messages.routing import HeadChanged, ParkOffered, RegistryInput, SessionFailed, SessionLeft, SessionStayed
from actors.runtime.base import Actor, Start
from actors.runtime.clock import Clock
from actors.vocabulary.errors import ActorGone, JournalError
from actors.vocabulary.events import ApprovalRequested
from actors.vocabulary.ids import ConversationId, SubscriptionId
from actors.vocabulary.records import Head


class SessionDeps(Struct, frozen=True):
    """The actors and ports that a session talks to, shared by all sessions of a daemon."""

    registry: Address[RegistryInput]
    journalist: Address[JournalistInput]
    librarian: Address[LibrarianInput]
    agents: AgentRunner
    outbox: Outbox
    clock: Clock
    fresh_name: Callable[[], str]
    limits: Limits
    start: Start


class Headline(Struct, frozen=True):
    """A row on its way to the disk, and the questions that were open then."""

    epoch: int
    head: Head
    open_questions: tuple[ApprovalRequested, ...]

    def is_stored_by(self, news: Committed) -> bool:
        return self.epoch == news.epoch and self.head.last_seq <= news.seq


SessionMessage = SessionInput | LoadedState


class Session(Actor[SessionMessage]):
    fatal = True
    patient = frozenset((Ready, ReadersWait, PageRead))

    def __init__(
        self,
        conversation: ConversationId,
        generation: int,
        revived: Revived,
        deps: SessionDeps,
        unborn: bool = False,
    ) -> None:
        super().__init__()
        self.conversation = conversation
        self.generation = generation
        self.name = f"session-{conversation[:8]}"
        self._revived = revived
        self._deps = deps
        self._unborn = unborn
        self._state: State | None = None
        self._waiting: list[SessionInput] = []
        self._headlines: list[Headline] = []  # until they are on disk
        self._handling: SessionInput | None = None
        self._undone: list[Effect] = []  # lists, because an empty deque is 760 bytes in each of a thousand sessions
        self._performing = False
        self._reading: set[SubscriptionId] = set()  # readers that the librarian owes a page
        self._unserved = False  # a reader is ready and behind
        self._settled = False  # the survivors of the predecessor were taken over
        self._left = False

    def on_start(self) -> None:
        if self._unborn:
            self._begin(LoadedState(None, ()))
        else:
            self._deps.journalist.tell(Load(self.conversation, self.address))

    def on_receive(self, message: SessionMessage) -> object:
        if self._left:
            return None  # a timer or the like; a new owner may exist already, and there must be only one
        if isinstance(message, LoadedState):
            self._begin(message)
        elif self._state is None:
            self._waiting.append(message)
        elif isinstance(message, Ready):
            self._free_reader(self._state, message)
        else:
            self._take(self._state, message)
        return None

    def _begin(self, loaded: LoadedState) -> None:
        """Begin with the loaded state: settle what was left open, then serve the messages that came too early."""
        if loaded.error is not None:
            raise loaded.error
        self._state = restore(self.conversation, loaded.head, loaded.records, self._deps.limits, loaded.kept)
        born = self._state.facts.seq > 0
        self._take(self._state, self._revived if born else replace(self._revived, gave_up=None))
        if loaded.head is not None:
            self._announce(loaded.head, self._state)
        while self._waiting:
            self._take(self._state, self._waiting.pop(0))

    def _free_reader(self, state: State, message: Ready) -> None:
        """Note that a reader is ready. Half of all inputs are that while words are streamed, so it takes no step.

        Readers that are behind share a step: that of the next message which is no Ready, or their own when no mail
        waits.
        """
        self._state, behind = free_reader(state, message)
        self._unserved = self._unserved or behind
        if self._unserved and self.mailbox.empty():
            self._take(self._state, ReadersWait())

    def _take(self, state: State, message: SessionInput) -> None:
        self._unserved = False
        self._handling = message
        result = step(state, message, Stamp(self._deps.clock.now(), self._deps.fresh_name()))
        self._state = result.state
        self._undone.extend(result.effects)
        self._performing = True
        self._note(message, result.state)
        self._store(result)
        while self._undone:
            self._perform(self._undone[0])
            self._undone.pop(0)
        self._performing = False
        self._handling = None

    def _note(self, message: SessionInput, state: State) -> None:
        """Update what the shell itself keeps, after the core has taken the input."""
        match message:
            case Committed():
                self._publish_heads(message, state)  # before the answers: an answered client finds it in the list
            case AppendRefused():
                # An agent must not remember more than was stored.
                self._deps.agents.order(RestAgent(self.conversation), self.address)
                self._headlines = [headline for headline in self._headlines if headline.epoch > message.epoch]
                if state.facts.seq == 0:  # it was never stored, so it need not stay for the idle time
                    self._undone.append(OfferToPark())
            case PageRead():
                self._reading.discard(message.subscription)
            case Revived():
                self._settled = True
            case _:
                pass

    def _store(self, result: Step) -> None:
        append = result.append
        if append is None:
            return
        if append.head is not None:
            head = replace(append.head, generation=self.generation)
            append = replace(append, head=head)
            self._headlines.append(Headline(result.state.epoch, head, result.state.facts.open_questions))
        self._deps.journalist.tell(Store(append, self.address, result.state.epoch))

    def _announce(self, head: Head, state: State) -> None:
        """Tell the registry the open questions, which the index at start lacks, and the last commit of a failed
        predecessor, which may not have heard of it; nothing after an orderly parking.
        """
        asked = state.facts.open_questions
        if asked or self._revived.survivors is not None:
            self._tell_registry(HeadChanged(replace(head, settings=b"", checkpoint=b""), asked))

    def _publish_heads(self, news: Committed, state: State) -> None:
        """Publish for `ls` the last stored row, with the present condition."""
        latest = None
        while self._headlines and self._headlines[0].is_stored_by(news):
            latest = self._headlines.pop(0)
        if latest is not None:
            head = replace(latest.head, settings=b"", checkpoint=b"", state=visible(state).value)
            self._tell_registry(HeadChanged(head, latest.open_questions))

    def _tell_registry(self, message: RegistryInput) -> None:
        with contextlib.suppress(ActorGone):  # the daemon stops: nobody looks for this session any more
            self._deps.registry.tell(message)

    def _perform(self, effect: Effect) -> None:
        deps = self._deps
        match effect:
            case (
                RunAgent()
                | StopAgent()
                | SuspendAgent()
                | OfferInput()
                | GiveInput()
                | AllStored()
                | AnswerAgent()
                | UseSettings()
                | RestAgent()
                | TakeMore()
            ):
                deps.agents.order(effect, self.address)
            case Deliver():
                deps.outbox.deliver(effect, self.address)
            case EndSubscription():
                deps.outbox.post(effect.connection, effect)
            case ReplyTo():
                if effect.settles:
                    self._tell_registry(Settle(effect.caller))
                deps.outbox.post(effect.caller.connection, effect)
            case Settle():
                self._tell_registry(effect)
            case ReadPage():
                self._reading.add(effect.subscription)
                deps.librarian.tell(FetchPage(self.conversation, effect, self.address))
            case FeedOthers():
                self.address.tell(ReadersWait())
            case SetTimer():
                deps.clock.tell_later(effect.delay_s, self.address, TimerFired(effect.name))
            case OfferToPark():
                self._tell_registry(ParkOffered(self.conversation, self.generation))
            case Stay():
                self._tell_registry(SessionStayed(self.conversation, self.generation))
            case Leave() if self.mailbox.commands_wait and self._is_retiring:
                pass  # decided again when they are served
            case Leave() if self.mailbox.commands_wait:  # the lanes let Park pass what was routed before it
                self._tell_registry(SessionStayed(self.conversation, self.generation))
            case Leave():
                self._left = True
                deps.agents.order(RestAgent(self.conversation), self.address)
                self.stop()
                self._tell_registry(SessionLeft(self.conversation, self.generation))
            case _:
                assert_never(effect)

    @property
    def _is_retiring(self) -> bool:
        return self._state is not None and self._state.retiring is not None

    def on_failure(self, *_: object) -> None:
        """Hand the state to the successor: the core is pure, so the state from before the bad input is still true."""
        failure = self.failure
        assert failure is not None  # noqa: S101  # it is why this is called
        error, bad = failure.error, self._handling or failure.message
        report = SessionFailed(
            self.conversation,
            self.generation,
            f"{type(error).__name__}: {error}",
            failure.traceback,
            self._survivors(bad),
            self._messages_for_successor(bad, failure.leftovers),
            unread=self._state is None and isinstance(error, JournalError),
        )
        self._tell_registry(report)

    def _survivors(self, bad: object) -> Survivors:
        known = self._inherited_survivors()
        readers, callers, passes = known.readers, known.callers, known.passes
        if self._state is not None:
            known = survivors_of(self._state)
            readers, callers = (*readers, *known.readers), (*callers, *known.callers)
            passes = (*passes, *known.passes)
        if self._performing:
            undone = (effect.caller for effect in self._undone if isinstance(effect, ReplyTo))
            self._end_all(readers)
            return Survivors((), tuple(dict.fromkeys((*callers, *undone))), passes)
        caller = caller_of(bad)
        callers = (*callers, caller) if caller else callers
        waiting = tuple(
            replace(reader, in_flight=False) if reader.subscription in self._reading else reader for reader in readers
        )
        return Survivors(waiting, tuple(dict.fromkeys(callers)), passes)

    def _inherited_survivors(self) -> Survivors:
        """The survivors of the predecessor, until this session has taken them over."""
        inherited = self._revived.survivors
        return inherited if inherited and not self._settled else Survivors((), ())

    def _end_all(self, readers: tuple[ReaderState, ...]) -> None:
        """End all subscriptions: it is unknown which slices went out; readers come back with their own cursors."""
        for reader in readers:
            ended = EndSubscription(reader.connection, Unsubscribed(reader.subscription, "the actor failed"))
            self._deps.outbox.post(reader.connection, ended)

    def _messages_for_successor(self, bad: object, leftovers: tuple[object, ...]) -> tuple[SessionInput, ...]:
        """The messages for the successor: those of clients, with a bad Ready, which frees its reader; no news."""
        said = bad.command if isinstance(bad, ToConversation) else bad  # a Ready for an owner that is gone is routed
        first = (said,) if isinstance(said, Ready) else ()
        waiting = (*first, *self._waiting, *leftovers)
        return tuple(message for message in waiting if isinstance(message, SAID_TO_IT))

    def statistics(self) -> dict[str, object]:
        state = self._state
        return {**super().statistics(), "summary": summary(state) if state else None}
