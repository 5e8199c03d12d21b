"""The registry of conversations: ids to sessions, request ids to conversations. Starts and replaces sessions.

A thin shell round core.py: it holds the addresses, and carries out the effects.
"""

from collections.abc import Callable
from typing import assert_never

import structlog

from actors.conversation.session import Session, SessionDeps, SessionMessage
from actors.messages.conversation import Address, SessionInput
from actors.messages.effects import EndSubscription, ReplyTo
from actors.messages.journal import ConversationErased, Erase, LookupDone, LookupFailed, RunLookup
from actors.messages.orders import AbandonAgent
from actors.messages.routing import (
    AllAnswered,
    AllEnded,
    AskDirectory,
    EraseRows,
    Forward,
    RegistryInput,
    RoutingEffect,
    SayAllAnswered,
    SayAllEnded,
    SayNameClaimed,
    SessionFailed,
    SessionLeft,
    StartSession,
)
from actors.routing import Routing
from actors.runtime.base import Actor, Ref
from actors.vocabulary.errors import ActorGone, DeadlineExceeded, MailboxFull
from actors.vocabulary.ids import ConversationId

log = structlog.get_logger()

LOOKUP_S = 10.0  # a lookup is a few reads by index; a disk that takes longer serves nobody


class Registry(Actor[RegistryInput]):
    """The actor of the registry. The whole daemon depends on it, so a bad message is logged and survived."""

    fatal = False
    name = "registry"

    def __init__(
        self,
        make_deps: Callable[[Ref[RegistryInput]], SessionDeps],
        directory: Address[RunLookup],
        max_live: int = 1000,
    ) -> None:
        super().__init__()
        self._make_deps = make_deps
        self._directory = directory
        self._routing = Routing(max_live)
        self._sessions: dict[ConversationId, Ref[SessionMessage]] = {}

    def on_start(self) -> None:
        self._deps = self._make_deps(self.address)

    def on_receive(self, message: RegistryInput) -> object:
        if isinstance(message, SessionFailed):
            log.error("session.failed", conversation=message.conversation, reason=message.message)
        self._perform_all(self._routing.step(message, self._deps.clock.now()))
        if isinstance(message, SessionLeft) and not self._routing.is_live(message.conversation):
            self._sessions.pop(message.conversation, None)  # a parked conversation costs no mailbox
        return None

    def _perform_all(self, effects: list[RoutingEffect]) -> None:
        for effect in effects:
            self._perform(effect)

    def _perform(self, effect: RoutingEffect) -> None:
        match effect:
            case Forward():
                self._forward(effect.conversation, effect.message)
            case StartSession():
                self._start(effect)
            case EndSubscription():
                self._deps.outbox.post(effect.connection, effect)
            case ReplyTo():
                self._deps.outbox.post(effect.caller.connection, effect)
            case EraseRows():
                self._erase(effect.conversation)
            case AskDirectory():
                self._look_up(effect)
            case SayNameClaimed():
                effect.to.tell(effect.news)
            case SayAllEnded():
                effect.to.tell(AllEnded())
            case SayAllAnswered():
                effect.to.tell(AllAnswered())
            case AbandonAgent():
                self._sessions.pop(effect.conversation, None)
                self._deps.agents.abandon(effect, self.address)
            case _:
                assert_never(effect)

    def _start(self, effect: StartSession) -> None:
        session = Session(effect.conversation, effect.generation, effect.revived, self._deps, effect.unborn)
        self._sessions[effect.conversation] = self._deps.start(session, conversation=effect.conversation)
        for message in effect.first:
            self._forward(effect.conversation, message)

    def _forward(self, conversation: ConversationId, message: SessionInput) -> None:
        try:
            self._sessions[conversation].tell(message)
        except ActorGone:  # it has failed a moment ago; its report is on the way here
            self._perform_all(self._routing.keep(conversation, message))
        except MailboxFull as full:
            self._perform_all(self._routing.refuse(message, full.message))

    def _erase(self, conversation: ConversationId) -> None:
        try:
            self._deps.journalist.tell(Erase(conversation, self.address))
        except ActorGone as gone:  # the daemon is stopping
            self.on_receive(ConversationErased(conversation, gone))

    def _look_up(self, effect: AskDirectory) -> None:
        """Ask the directory. There is an answer in time, if need be an error."""
        number, lookup = effect.number, effect.lookup
        try:
            self._directory.tell(RunLookup(number, lookup, self.address))
        except ActorGone as gone:  # the daemon is stopping
            self.on_receive(LookupDone(number, LookupFailed(lookup, gone)))
            return
        late = DeadlineExceeded(f"the journal was not read in {LOOKUP_S:g} s; try again")
        self._deps.clock.tell_later(LOOKUP_S, self.address, LookupDone(number, LookupFailed(lookup, late)))

    def on_stop(self) -> None:
        """Ask all sessions to end. Waiting for them is left to the caller of the stop: an actor never waits."""
        for session in self._sessions.values():
            session.stop_soon()

    def statistics(self) -> dict[str, object]:
        return {**super().statistics(), **self._routing.statistics()}
