"""The protocol of a dialect, the functional core of a connection: lines and actor messages in, actions out.

A dialect translates and remembers what is open for its client: request ids, subscriptions, questions. It owns no
conversation state, does no I/O and runs inside its connection's actor, which carries out the actions in order.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct, field

from actors.messages.effects import Deliver, EndSubscription
from actors.messages.routing import RegistryInput
from actors.vocabulary.answers import Answer
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller, ConnectionId, SubscriptionId
from transports.supervisor_answers import SupervisorAnswer
from transports.supervisor_requests import SupervisorRequest


class Client(Struct, frozen=True):
    """The program at the other end, by its hello and by the kernel."""

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
        """The client's name in histories, for `by`."""
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
    """A request that only the supervisor can carry out (status, reload, down, export …). `caller` gets the answer."""

    request: SupervisorRequest
    caller: Caller | None = None


class Wake(Struct, frozen=True):
    """Wake the dialect with this name after `delay_s`."""

    name: str
    delay_s: float


class Introduce(Struct, frozen=True):
    """Record the name of the client that uses a bridge, which the bridge's hello could not know."""

    client: Client


Action = Write | Tell | Ask | Wake | Introduce


class Dialect(Protocol):
    """The methods that a connection calls. A dialect inherits those that it does not need."""

    def start(self) -> Iterable[Action]:
        """The client has connected. Nothing need be sent yet."""
        return ()

    def receive_line(self, line: bytes) -> Iterable[Action]:
        """One line from the client, without its newline. Never raises for any input of a client."""
        ...

    def refuse_line(self, reason: str) -> Iterable[Action]:
        """A line over a limit was dropped."""
        ...

    def take_answer(self, caller: Caller, answer: Answer | SupervisorAnswer | GreenroomError) -> Iterable[Action]:
        """The answer of a conversation, the registry or the supervisor to a Tell or an Ask."""
        ...

    def take_slice(self, deliver: Deliver) -> Iterable[Action]:
        """A slice for one of our subscriptions. At most one returned Write carries `ready`.

        If none does, nothing was to be sent, and the reader is ready at once.
        """
        ...

    def end_subscription(self, end: EndSubscription) -> Iterable[Action]: ...

    def wake(self, name: str) -> Iterable[Action]:  # noqa: ARG002  # for dialects that wait for something
        """The end of a Wake."""
        return ()

    def reconfigure(self) -> Iterable[Action]:
        """The config was read again. A dialect with settings fixed by its client does nothing."""
        return ()

    def announce(self, text: str) -> Iterable[Action]:
        """A text for every client of the daemon."""
        ...
