"""All actors of a daemon wired together over fakes, on a stage or on threads, with the commands that tests send."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from actors.conversation.session import Session, SessionDeps
from actors.conversation.state import Limits
from actors.journal.directory import Directory
from actors.journal.journalist import Journalist
from actors.journal.librarian import Librarian
from actors.messages.conversation import Address, Attach, Begin, Command, Interrupt, Send, ToConversation
from actors.messages.journal import RunLookup
from actors.messages.routing import AllEnded, Create, KnownHeads, RegistryQuery, ToRegistry
from actors.routing.registry import Registry
from actors.runtime import base
from actors.runtime.base import Actor, Message, Ref
from actors.runtime.clock import Clock
from actors.vocabulary.answers import Answer
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId, RequestId, SubscriptionId
from actors.vocabulary.items import TextItem
from actors.vocabulary.settings import BusyPolicy, Settings
from tests.fakes.agents import FakeAgents
from tests.fakes.clock import ManualClock
from tests.fakes.journal import FakeJournal
from tests.fakes.outbox import FakeOutbox, FakeReader
from tests.fakes.stage import Stage

SETTINGS = Settings(model="fake", cwd=Path("/"))


class FakeDaemon:
    """`live` is every session that was ever started, oldest first. `share` starts the actors that never wait."""

    def __init__(
        self,
        start: Callable[..., Ref[Any]] = base.start,
        *,
        journal: FakeJournal | None = None,
        agents: FakeAgents | None = None,
        outbox: FakeOutbox | None = None,
        clock: Clock | None = None,
        limits: Limits | None = None,
        max_live: int = 1000,
        share: Callable[..., Ref[Any]] | None = None,
        ended: Address[AllEnded] | None = None,
        directory: Address[RunLookup] | None = None,
    ) -> None:
        self.journal = journal or FakeJournal()
        self.agents = agents or FakeAgents()
        self.outbox = outbox or FakeOutbox()
        self.clock: Clock = clock or ManualClock()
        self.live: list[Session] = []
        self._share = share or start
        self._limits = limits or Limits()
        self._names = itertools.count(1)
        self._life = self.journal.open()
        self._requests = itertools.count(1)
        self.librarian = start(Librarian(self.journal))
        self.journalist = start(Journalist(self.journal, self.librarian))
        self.directory: Ref[RunLookup] = start(Directory(self.journal))
        self.routing = Registry(self._session_deps, directory or self.directory, max_live)
        self.registry = self._share(self.routing)
        self.outbox.registry = self.registry
        if (heads := self.journal.unsettled_heads()) or ended is not None:
            self.registry.tell(KnownHeads(tuple(heads), ended))

    def _session_deps(self, registry: Ref[Any]) -> SessionDeps:
        return SessionDeps(
            registry,
            self.journalist,
            self.librarian,
            self.agents,
            self.outbox,
            self.clock,
            self._fresh_name,
            self._limits,
            self._start_session,
        )

    def _start_session(self, actor: Actor[Message], **context: str) -> Ref[Message]:
        ref: Ref[Message] = self._share(actor, **context)
        assert isinstance(actor, Session)
        self.live.append(actor)
        return ref

    def _fresh_name(self) -> str:
        return f"n{self._life}-{next(self._names)}"

    def session(self, conversation: ConversationId) -> Session:
        """The last owner of it that was started."""
        return next(one for one in reversed(self.live) if one.conversation == conversation)

    # --- what clients say -----------------------------------------------------------------------------------------

    def caller(self, connection: str = "editor", request: RequestId | None = None) -> Caller:
        fresh = next(self._requests) + 1_000_000 if request is None else request
        return Caller(ConnectionId(connection), fresh)

    def create(self, conversation: ConversationId, name: str | None = None) -> Caller:
        caller = self.caller()
        self.registry.tell(ToRegistry(Create(conversation, Begin(SETTINGS, name)), caller))
        return caller

    def tell(self, conversation: ConversationId, command: Command, caller: Caller | None = None) -> None:
        self.registry.tell(ToConversation(conversation, command, caller))

    def send(
        self,
        conversation: ConversationId,
        text: str = "hello",
        *,
        caller: Caller | None = None,
        await_end: bool = True,
        policy: BusyPolicy = BusyPolicy.STEER,
    ) -> Caller:
        caller = caller or self.caller()
        self.tell(conversation, Send((TextItem(text=text),), policy, await_end=await_end), caller)
        return caller

    def interrupt(self, conversation: ConversationId) -> Caller:
        caller = self.caller()
        self.tell(conversation, Interrupt(), caller)
        return caller

    def attach(
        self, conversation: ConversationId, after: int | None = 0, *, connection: str = "editor"
    ) -> tuple[SubscriptionId, FakeReader]:
        caller = self.caller(connection)
        subscription = SubscriptionId(f"{connection}-{caller.request}")
        reader = self.outbox.expect(subscription, conversation, after)
        self.tell(conversation, Attach(caller.connection, subscription, after), caller)
        return subscription, reader

    def answer(self, caller: Caller) -> Answer:
        return self.outbox.answer(caller)


class StagedDaemon(FakeDaemon):
    """The same on a stage, with a clock that stands still."""

    def __init__(
        self,
        *,
        stage: Stage | None = None,
        journal: FakeJournal | None = None,
        agents: FakeAgents | None = None,
        outbox: FakeOutbox | None = None,
        clock: ManualClock | None = None,
        limits: Limits | None = None,
        max_live: int = 1000,
        ended: Address[AllEnded] | None = None,
        directory: Address[RunLookup] | None = None,
    ) -> None:
        self.stage = stage or Stage()
        self.time = clock or ManualClock()
        super().__init__(
            self.stage.start,
            journal=journal,
            agents=agents,
            outbox=outbox,
            clock=self.time,
            limits=limits,
            max_live=max_live,
            ended=ended,
            directory=directory,
        )

    def run(self) -> None:
        self.stage.run()

    def send_and_run(self, conversation: ConversationId, text: str = "hello") -> Caller:
        """Input that is answered when it is stored; the caller's answer is there."""
        caller = self.send(conversation, text, await_end=False)
        self.run()
        return caller

    def ask(self, query: RegistryQuery) -> Answer:
        """A query to the registry and the one answer, once everybody has come to rest."""
        caller = self.caller()
        self.registry.tell(ToRegistry(query, caller))
        self.run()
        return self.answer(caller)

    def say(self, conversation: ConversationId, command: Command) -> Answer:
        caller = self.caller()
        self.tell(conversation, command, caller)
        self.run()
        return self.answer(caller)
