"""Connections for tests, with probes for everybody they talk to. Those left at the end are named."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from actors.messages.conversation import Address, Ready
from actors.messages.effects import Deliver, ReplyTo, Slice
from actors.runtime.base import Ref
from actors.runtime.shared import SharedThread
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId, SubscriptionId
from actors.vocabulary.records import Record
from tests.fakes.dialect import EchoDialect, Script, echo_all
from tests.transports.doors import Door, Peer, Reading
from tests.transports.house import PATIENCE_S, LoopThread, ManualClock, Probe, eventually
from transports.connection import Connection, ConnectionDeps, Inbox
from transports.dialect import Client, Dialect
from transports.framing import LINE_LIMIT
from transports.switchboard import Switchboard
from transports.wire import Wire

CONVERSATION = ConversationId("conversation")
SUBSCRIPTION = SubscriptionId("subscription")


@dataclass(frozen=True)
class Tenant:
    """A connection and its client's end."""

    id: ConnectionId
    peer: Peer
    reads: Reading
    wire: Wire
    connection: Connection
    ref: Ref[Inbox]

    def caller(self, request: int) -> Caller:
        return Caller(self.id, request)

    def slice(self, *bodies: bytes, seq: int = 1) -> Deliver:
        records = tuple(Record(seq + at, 0.0, None, "agent_message", body) for at, body in enumerate(bodies))
        return Deliver(self.id, SUBSCRIPTION, Slice(CONVERSATION, records, live=True))


class Tenants:
    def __init__(self, loop: LoopThread) -> None:
        self.loop = loop
        self.registry, self.supervisor, self.session = Probe(), Probe(), Probe()
        self.clock = ManualClock()
        self.switchboard = Switchboard()
        start = SharedThread(loop.loop).start
        self.deps = ConnectionDeps(self.registry, self.supervisor, self.switchboard, self.clock, start)
        self._tenants: list[Tenant] = []

    def enter(
        self,
        door: Door,
        script: Script = echo_all,
        limit: int = LINE_LIMIT,
        dialect: Callable[[Client], Dialect] | None = None,
    ) -> Tenant:
        wire, peer = door(self.loop, limit)
        client = Client(ConnectionId(f"client-{len(self._tenants)}"), "test")
        made = dialect(client) if dialect else EchoDialect(client, script)
        connection = Connection(client, made, wire, self.deps)
        ref = self.loop.call(connection.begin)
        self.loop.call(lambda: wire.open(ref))
        tenant = Tenant(client.connection, peer, Reading(peer), wire, connection, ref)
        self._tenants.append(tenant)
        eventually(lambda: client in self.switchboard.clients(), "it never joined the switchboard")
        return tenant

    def post(self, tenant: Tenant, message: ReplyTo | Deliver) -> None:
        if isinstance(message, Deliver):
            self.deliver(message, self.session)
        else:
            self.loop.call(lambda: self.switchboard.post(tenant.id, message))

    def deliver(self, message: Deliver, session: Address[Ready]) -> None:
        self.loop.call(lambda: self.switchboard.deliver(message, session))

    def leave(self) -> None:
        for tenant in self._tenants:
            self.loop.call(partial(tenant.wire.cut_off, "the test is over"))
        left = [tenant.ref for tenant in self._tenants if not tenant.ref.wait_for_end(PATIENCE_S)]
        for tenant in self._tenants:
            tenant.peer.close()
        assert not left, f"these connections would not end: {left}"
        assert not self.switchboard.clients()
