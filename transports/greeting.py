"""A client that has not sent its hello yet. Lives on the loop; an actor is started only after a valid hello.

Owns the wire until then, and hands it over together with the lines that followed the hello.
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
from transports.peer_credentials import Peer
from transports.wire import InputEnded, LinesArrived, Parcel, Wire, WireNews

log = structlog.get_logger()

HELLO_S = 10.0  # clients say hello with their first write; the time is for a machine that swaps


class GreetingDeps(Struct, frozen=True):
    """The dependencies of a greeting: our identity, the dialects, and the dependencies of a connection."""

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
        """News of the wire, on the wire's thread."""
        if self._over or not isinstance(message, WireNews):
            return
        if isinstance(message, LinesArrived):
            self._listen(message)
        elif isinstance(message, InputEnded):
            self._end()
            self._wire.hang_up("the client sent no hello")
        else:
            self._end()

    def _listen(self, arrived: LinesArrived) -> None:
        first, lines = arrived.lines[0], arrived.lines[1:]
        greeting = hello.read(first, self._deps.dialects)
        if isinstance(greeting, GreenroomError):
            self._refuse(greeting)
            return
        try:
            connection = self._introduce(greeting)
        except GreenroomError as error:
            self._refuse(error)
        except (OSError, ImportError) as error:  # no descriptor was left to load the dialect's module
            log.warning("hello.unloaded", dialect=greeting.dialect, reason=str(error))
            self._refuse(Overloaded("the daemon can't load what it needs for this now; try again"))
        except Exception:  # a dialect that can't be made must not end the listener
            log.exception("hello.failed", dialect=greeting.dialect)
            self._refuse(GreenroomError("the dialect could not be started"))
        else:
            self._hand_over(connection, lines)

    def _introduce(self, greeting: hello.Hello) -> Connection:
        deps = self._deps
        env = deps.environments.take(greeting.env)
        if isinstance(env, GreenroomError):
            raise env
        client = Client(
            deps.fresh_id(),
            greeting.name,
            greeting.version,
            self._peer.pid,
            self._peer.uid,
            cwd=greeting.cwd,
            env=env,
            umask=greeting.umask,
        )
        dialect = deps.dialects[greeting.dialect](client, greeting.options)
        return Connection(client, dialect, self._wire, deps.connection)

    def _hand_over(self, connection: Connection, lines: tuple[Line, ...]) -> None:
        """Write the welcome before the actor starts, so that none of its lines can precede it."""
        self._wire.write([Parcel(hello.welcome(self._deps.identity))])
        try:
            ref = connection.begin()
        except GreenroomError as error:
            self._refuse(error)
            return
        self._end()
        self._wire.hand_to(ref)
        if lines:
            ref.tell(LinesArrived(lines))
        else:
            self._wire.write([], take_more=True)

    def _too_late(self) -> None:
        self.turn_away(DeadlineExceeded(f"no hello within {self._deps.hello_s:g} s"))

    def turn_away(self, why: GreenroomError) -> None:
        """Refuse the client and ignore all further input."""
        if not self._over:
            self._refuse(why)

    def _refuse(self, error: GreenroomError) -> None:
        self._end()
        log.info("hello.refused", reason=error.code, uid=self._peer.uid, pid=self._peer.pid)
        self._wire.write([Parcel(jsonrpc.refusal_line(None, error))])
        self._wire.hang_up(error.message)

    def _end(self) -> None:
        self._over = True
        self._deadline.cancel()
        if self._on_over is not None:
            self._on_over(self)
