"""The protocol of a dialect, the functional core of a connection. Wire lines and actor messages in, actions out.

A dialect translates and remembers what its client has open (request ids, subscriptions, questions asked of it). It
owns no conversation state, does no I/O and runs inside its connection's actor; the connection carries out what it
returns, in order.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct, field

from actors.messages.effects import Deliver, EndSubscription
from actors.messages.routing import RegistryInput
from actors.vocabulary.answers import Answer
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller, ConnectionId, SubscriptionId
from transports.requests import SupervisorAnswer, SupervisorRequest


class Client(Struct, frozen=True):
    """The program at the other end, as its hello said and as the kernel knows."""

    connection: ConnectionId
    name: str = ""
    version: str = ""
    pid: int | None = None  # from the kernel, not from the hello
    uid: int | None = None
    cwd: str = "/"
    env: Mapping[str, str] = field(default_factory=dict)  # kept in memory only, never logged
    umask: int | None = None

    @property
    def label(self) -> str:
        """The name for `by` in histories."""
        return f"{self.name or 'client'}[{self.pid}]" if self.pid else self.name or "client"


class Write(Struct, frozen=True):
    """Bytes for the client, whole lines with their newline.

    `ready`: the reader of this subscription has its slice once these bytes have left; the connection then says Ready.
    """

    data: bytes
    ready: SubscriptionId | None = None


class Tell(Struct, frozen=True):
    """A message for the registry."""

    message: RegistryInput


class Ask(Struct, frozen=True):
    """A request that only the supervisor can carry out (status, reload, down, export …). A caller is answered."""

    request: SupervisorRequest
    caller: Caller | None = None


class Wake(Struct, frozen=True):
    """Call `woken(name)` after a while."""

    name: str
    delay_s: float


class Introduce(Struct, frozen=True):
    """Note the client's name, which the hello of a bridge could not know: it speaks for another program."""

    client: Client


Action = Write | Tell | Ask | Wake | Introduce


class Dialect(Protocol):
    """A dialect that needs no more than some of these inherits the others."""

    def opened(self) -> Iterable[Action]:
        """The client is there. Nothing need be said before it says something."""
        return ()

    def arrived(self, line: bytes) -> Iterable[Action]:
        """One line from the client, without its newline. Never raises for what a client can send."""
        ...

    def skipped(self, reason: str) -> Iterable[Action]:
        """A line over a limit was not kept."""
        ...

    def answered(self, caller: Caller, answer: Answer | SupervisorAnswer | GreenroomError) -> Iterable[Action]:
        """The answer of a conversation, the registry or the supervisor to a Tell or an Ask."""
        ...

    def delivered(self, deliver: Deliver) -> Iterable[Action]:
        """A slice for one of our subscriptions. At most one returned Write carries `ready`.

        If none does, there was nothing to say and the reader is ready at once.
        """
        ...

    def ended(self, end: EndSubscription) -> Iterable[Action]: ...

    def woken(self, name: str) -> Iterable[Action]:  # noqa: ARG002  # for dialects that wait for something
        """The end of a Wake; a dialect that asks for none has none."""
        return ()

    def reconfigured(self) -> Iterable[Action]:
        """The config was read again. A dialect whose settings are its client's for good does nothing."""
        return ()

    def announced(self, text: str) -> Iterable[Action]:
        """A text for every client of the daemon."""
        ...
