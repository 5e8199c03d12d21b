"""A client that has not said its hello yet. Lives on the loop; an actor is started only after a hello in time.

It owns the wire until then, and hands it over together with the lines that came behind the hello.
"""

from asyncio import TimerHandle
from collections.abc import Callable

import structlog
from msgspec import Struct, field

from actors.vocabulary.errors import DeadlineExceeded, GreenroomError, Overloaded
from actors.vocabulary.ids import ConnectionId
from transports import hello, jsonrpc
from transports.connection import Connection, ConnectionDeps
from transports.dialect import Client
from transports.environments import EnvironmentPool
from transports.framing import Line
from transports.peer import Peer
from transports.wire import Arrived, NoMore, Parcel, Wire, WireNews

log = structlog.get_logger()

HELLO_S = 10.0  # a client says hello with its first write; this is for a machine that swaps


class GreetingDeps(Struct, frozen=True):
    """The dependencies of a greeting: our identity, the dialects, and those of a connection."""

    identity: hello.Identity
    dialects: hello.Dialects
    connection: ConnectionDeps
    fresh_id: Callable[[], ConnectionId]
    hello_s: float = HELLO_S
    environments: EnvironmentPool = field(default_factory=EnvironmentPool)


class Greeting:
    """An Address for the news of its wire."""

    def __init__(
        self,
        wire: Wire,
        peer: Peer,
        deps: GreetingDeps,
        later: Callable[[float, Callable[[], None]], TimerHandle],
        on_over: Callable[["Greeting"], None] | None = None,
    ) -> None:
        self._wire = wire
        self._peer = peer
        self._deps = deps
        self._on_over = on_over
        self._deadline = later(deps.hello_s, self._too_late)
        self._over = False
        wire.open(self)

    def tell(self, message: object) -> None:
        """News of the wire, on its thread."""
        if self._over or not isinstance(message, WireNews):
            return
        if isinstance(message, Arrived):
            self._listen(message)
        elif isinstance(message, NoMore):
            self._end()
            self._wire.hang_up("the client sent no hello")
        else:
            self._end()

    def _listen(self, arrived: Arrived) -> None:
        first, rest = arrived.lines[0], arrived.lines[1:]
        said = hello.read(first, self._deps.dialects)
        if isinstance(said, GreenroomError):
            self._refuse(said)
            return
        try:
            connection = self._introduce(said)
        except GreenroomError as error:
            self._refuse(error)
        except (OSError, ImportError) as error:  # a crowd left no descriptor to load the dialect with
            log.warning("hello.unloaded", dialect=said.dialect, reason=str(error))
            self._refuse(Overloaded("the daemon can't load what it needs for this now; try again"))
        except Exception:  # a dialect that can't be made must not end the listener
            log.exception("hello.failed", dialect=said.dialect)
            self._refuse(GreenroomError("the dialect could not be started"))
        else:
            self._hand_over(connection, rest)

    def _introduce(self, said: hello.Hello) -> Connection:
        deps = self._deps
        env = deps.environments.take(said.env)
        if isinstance(env, GreenroomError):
            raise env
        client = Client(
            deps.fresh_id(),
            said.name,
            said.version,
            self._peer.pid,
            self._peer.uid,
            cwd=said.cwd,
            env=env,
            umask=said.umask,
        )
        dialect = deps.dialects[said.dialect](client, said.options)
        return Connection(client, dialect, self._wire, deps.connection)

    def _hand_over(self, connection: Connection, rest: tuple[Line, ...]) -> None:
        """Write the welcome, then start the actor, so that none of its lines can come before the welcome."""
        self._wire.write([Parcel(hello.welcome(self._deps.identity))])
        try:
            ref = connection.begin()
        except GreenroomError as error:
            self._refuse(error)
            return
        self._end()
        self._wire.hand_to(ref)
        if rest:
            ref.tell(Arrived(rest))
        else:
            self._wire.write([], take_more=True)

    def _too_late(self) -> None:
        self.turn_away(DeadlineExceeded(f"no hello within {self._deps.hello_s:g} s"))

    def drop(self, why: GreenroomError) -> None:
        """Cut the client off, whether or not it reads why, because its place is needed."""
        if not self._over:
            self._refuse(why)
            self._wire.cut(why.message)

    def turn_away(self, why: GreenroomError) -> None:
        """Refuse the client; anything it still sends comes too late."""
        if not self._over:
            self._refuse(why)

    def _refuse(self, error: GreenroomError) -> None:
        self._end()
        log.info("hello.refused", reason=error.code, uid=self._peer.uid, pid=self._peer.pid)
        self._wire.write([Parcel(jsonrpc.refused(None, error))])
        self._wire.hang_up(error.message)

    def _end(self) -> None:
        self._over = True
        self._deadline.cancel()
        if self._on_over is not None:
            self._on_over(self)
