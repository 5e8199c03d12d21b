"""Who finds everybody: conversation ids to sessions, request ids to conversations. Starts and replaces sessions.

A thin shell round routing.py: it holds the addresses, and does what the core says.
"""

from collections.abc import Callable
from typing import assert_never

import structlog

from actors.base import Actor, Ref, stop_all
from actors.errors import ActorGone, GreenroomError, MailboxFull, Overloaded
from actors.ids import ConversationId
from actors.messages import Forward, Input, RegistryInput, ReplyTo, RoutingEffect, SessionFailed, StartSession
from actors.orders import AbandonAgent
from actors.routing import Routing, caller_of
from actors.session import Session, Surroundings

log = structlog.get_logger()


class Registry(Actor):
    """The daemon hangs on it, so a bad message is logged and survived."""

    fatal = False
    name = "registry"

    def __init__(self, surroundings: Callable[[Ref], Surroundings], max_live: int = 1000) -> None:
        self._make_surroundings = surroundings
        self._routing = Routing(max_live)
        self._sessions: dict[ConversationId, Ref] = {}

    def on_start(self) -> None:
        self._around = self._make_surroundings(self.address)

    def receive(self, message: RegistryInput) -> object:
        if isinstance(message, SessionFailed):
            log.error("session.failed", conversation=message.conversation, reason=message.message)
        for effect in self._routing.step(message, self._around.clock.now()):
            self._perform(effect)
        return None

    def _perform(self, effect: RoutingEffect) -> None:
        match effect:
            case Forward():
                self._forward(effect.conversation, effect.message)
            case StartSession():
                self._start(effect)
            case ReplyTo():
                self._around.outbox.post(effect.caller.connection, effect, self.address)
            case AbandonAgent():
                self._sessions.pop(effect.conversation, None)
                self._around.agents.order(effect, self.address)
            case _:
                assert_never(effect)

    def _start(self, effect: StartSession) -> None:
        session = Session(effect.conversation, effect.generation, effect.revived, self._around)
        self._sessions[effect.conversation] = self._around.start(session, conversation=effect.conversation)
        for message in effect.first:
            self._forward(effect.conversation, message)

    def _forward(self, conversation: ConversationId, message: Input) -> None:
        """A session that ended a moment ago has said so, or is about to; its caller may try again."""
        try:
            self._sessions[conversation].tell(message)
        except (ActorGone, MailboxFull) as error:
            self._refuse(message, error)

    def _refuse(self, message: Input, error: GreenroomError) -> None:
        caller = caller_of(message)
        if caller is not None:
            refusal = Overloaded(f"the conversation could not take it: {error.message}; try again")
            self._around.outbox.post(caller.connection, ReplyTo(caller, refusal), self.address)

    def on_stop(self) -> None:
        for survivor in stop_all(self._sessions.values(), SESSIONS_STOP_S):
            log.error("session.would_not_stop", session=survivor.name)

    def statistics(self) -> dict[str, object]:
        return {**super().statistics(), **self._routing.statistics()}


SESSIONS_STOP_S = 5.0  # sessions never wait, so this is for a machine that is very busy
