"""A client, its connection and the real actors behind it. Only the disk and the agent are stand-ins."""

import itertools
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import force_setattr

from actors.conversation.session import SessionDeps
from actors.conversation.state import Limits
from actors.journal.directory import Directory
from actors.journal.journalist import Journalist
from actors.journal.librarian import Librarian
from actors.messages.conversation import Address, Attach, Begin, Send, ToConversation
from actors.messages.orders import (
    AbandonAgent,
    AgentAbandoned,
    AgentOrder,
    AgentOutput,
    Completed,
    RunAgent,
    TurnEnded,
)
from actors.messages.routing import Create, ToRegistry
from actors.routing.registry import Registry
from actors.runtime.base import start
from actors.runtime.clock import LoopClock
from actors.vocabulary import events as ev
from actors.vocabulary.ids import Caller, ConnectionId
from actors.vocabulary.items import TextItem
from actors.vocabulary.settings import Settings
from tests.fakes.journal import FakeJournal
from tests.transports.doors import Door
from tests.transports.house import PATIENCE_S
from tests.transports.tenants import CONVERSATION, SUBSCRIPTION, Tenant, Tenants
from transports.dialect import Action, Tell

ME = ConnectionId("client-0")
TURNS, MESSAGES = 6, 10
TEXT = "x" * 100_000  # more than leaves at once, so that a slice is under way when its turn ends


class Agents:
    """Agents whose turns say a lot and end at once."""

    def order(self, order: AgentOrder, session: Address[Any]) -> None:
        if isinstance(order, RunAgent):
            threading.Thread(target=self._run, args=(order, session)).start()

    def abandon(self, _: AbandonAgent, registry: Address[AgentAbandoned]) -> None:  # noqa: ARG002  # the port's name
        raise AssertionError("no session fails here")

    def _run(self, order: RunAgent, session: Address[Any]) -> None:
        for number in range(MESSAGES):
            message = ev.AgentMessage(message=TEXT, item_id=f"{order.turn}-{number}")
            session.tell(AgentOutput(order.turn, (message,)))
        session.tell(TurnEnded(order.turn, Completed("done")))


def speak(line: bytes) -> tuple[Action, ...]:
    word, _, number = line.partition(b" ")
    caller = Caller(ME, int(number))
    match word:
        case b"create":
            return (Tell(ToRegistry(Create(CONVERSATION, Begin(Settings(model="m", cwd=Path("/")))), caller)),)
        case b"attach":
            return (Tell(ToConversation(CONVERSATION, Attach(ME, SUBSCRIPTION), caller)),)
        case _:
            return (Tell(ToConversation(CONVERSATION, Send((TextItem(text="go"),), await_end=True), caller)),)


@pytest.fixture
def lively(tenants: Tenants) -> Iterator[Tenants]:
    """Tenants whose registry is a real one."""
    disk, clock, names = FakeJournal(), LoopClock(tenants.loop.loop), itertools.count()
    librarian = start(Librarian(disk))
    journalist = start(Journalist(disk, librarian))

    def deps(me: Address[Any]) -> SessionDeps:
        fresh = lambda: f"n{next(names)}"  # noqa: E731  # a field of what follows
        return SessionDeps(
            me, journalist, librarian, Agents(), tenants.switchboard, clock, fresh, Limits(), tenants.deps.start
        )

    directory = start(Directory(disk))
    registry = tenants.deps.start(Registry(deps, directory))
    force_setattr(tenants.deps, "registry", registry)
    yield tenants
    tenants.leave()
    assert all(ref.stop(PATIENCE_S) for ref in (registry, directory, journalist, librarian))


def read_turn(tenant: Tenant, answer: bytes) -> list[str]:
    """The types of the events before this answer; checks that the client sees no gap."""
    types = []
    while (line := tenant.reads.line()) != answer:
        types.append(json.loads(line)["type"])
    return types


def test_every_event_of_a_turn_comes_before_its_result_however_fast_the_client_reads(
    lively: Tenants, door: Door
) -> None:
    tenant = lively.enter(door, speak)
    for word, answer in (
        (b"create 1\n", b"answer 1: StartedConversation"),
        (b"attach 2\n", b"answer 2: AttachedReader"),
    ):
        tenant.peer.send(word)
        assert tenant.reads.line() == answer
    for turn in range(TURNS):
        tenant.peer.send(b"send %d\n" % (10 + turn))
        types = read_turn(tenant, b"answer %d: TurnResult" % (10 + turn))
        assert types.count("agent_message") == MESSAGES
        assert types[-1] == "task_complete"
