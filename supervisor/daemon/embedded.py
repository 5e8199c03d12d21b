"""`--embedded`: engine, connection and dialect in one process, over stdin and stdout, without a daemon.

The process owns its home as a daemon does, so that one journal has one writer. Its turns end with it; its
conversations stay in the journal. Main thread.
"""

import os
import secrets
import signal
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import structlog

from actors.runtime.base import Ref
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import ConnectionId
from supervisor.config.load import LoadedConfig, load
from supervisor.daemon.daemon_lock import AlreadyRunning, DaemonLock, take_lock
from supervisor.daemon.daemon_start import describe_error
from supervisor.daemon.dialects import dialects
from supervisor.daemon.home_watch import HomeWatch
from supervisor.disk.umask import own_umask
from supervisor.engine.engine import Engine
from supervisor.logs import setup as logs
from supervisor.loop.signal_wakeup import SignalFlag, SignalWakeup
from supervisor.paths import Paths, UnsafePath, locate, private_directory
from supervisor.services.services import Services
from supervisor.version import VERSION
from transports.connection import Connection, ConnectionDeps, Inbox
from transports.descriptors import DescriptorWire
from transports.dialect import Client
from transports.hello import Identity, MakeDialect
from transports.stdio import StandardStreams
from transports.switchboard import Switchboard

PATIENCE_S = 2.0  # for a daemon of this home that is just stopping
OPEN_S = 10.0  # more than enough: the loop has nothing else to do yet
GOODBYE_S = 2.0  # for the connection's actor, which is idle by then

log = structlog.get_logger()


def serve(said: Mapping[str, Any], dialect: str | MakeDialect = "mcp") -> int:
    """Serve until the input ends. `said`: options as in a bridge's hello. `dialect`: a name, or its maker."""
    name = f"greenroom {dialect if isinstance(dialect, str) else 'mcp'}"
    try:
        paths = locate()
        private_directory(paths.state)
        private_directory(paths.run)
        loaded = load()
        lock = take_lock(paths.lock_file, PATIENCE_S)
    except AlreadyRunning as error:
        sys.stderr.write(f"{name} --embedded: {error}; leave --embedded out, or set another GREENROOM_HOME\n")
        return 1
    except (GreenroomError, UnsafePath, OSError) as error:
        sys.stderr.write(f"{name} --embedded: {describe_error(error)}\n")
        return 1
    lock.tell_embedded()
    sinks = logs.configure(Path(paths.log_file), loaded.config.greenroom.log_level)
    try:
        Embedded(paths, loaded, lock).run(dialect, said)
    finally:
        sinks.close()
        lock.release()
    return 0


class Embedded:
    def __init__(self, paths: Paths, loaded: LoadedConfig, lock: DaemonLock) -> None:
        self._loaded = loaded
        self._over = False
        self._wakeup = SignalWakeup()
        self._switchboard = Switchboard()
        self._umask = own_umask()  # before another thread can make a file
        looks = (HomeWatch(paths.state, lock.home_is_here, self._end).look, lock.look)
        self._engine = Engine(loaded, paths, dict(os.environ), self._switchboard, self._switchboard.announce, looks)

    def run(self, dialect: str | MakeDialect, options: Mapping[str, Any]) -> None:
        for wanted in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(wanted, self._end_by_signal)
        self._wakeup.hear_signals()
        self._engine.start()
        self._switchboard.on_introduce = self._engine.load_ahead
        try:
            self._serve(dialect, options)
            self._engine.wind_down(0.0, self._wakeup, SignalFlag())
        finally:
            self._engine.stop()

    def _serve(self, dialect: str | MakeDialect, options: Mapping[str, Any]) -> None:
        engine = self._engine
        identity = Identity(VERSION, secrets.token_hex(8))
        services = Services(engine, self._switchboard, identity, lambda _: self._end())
        deps = ConnectionDeps(engine.registry, services, self._switchboard, engine.clock, engine.shared_thread.start)
        client = Client(
            ConnectionId(secrets.token_hex(8)),
            dialect if isinstance(dialect, str) else "mcp",
            VERSION,
            os.getpid(),
            cwd=str(Path.cwd()),
            env=dict(os.environ),
            umask=self._umask,
        )
        known = dialects(lambda: engine.config, engine.paths, identity.instance)
        spoken = (known[dialect] if isinstance(dialect, str) else dialect)(client, options)
        limits = self._loaded.config.greenroom.limits
        wire = DescriptorWire(
            StandardStreams(), engine.loop.loop, lambda _: self._end(), limits.frame_bytes, limits.message_values
        )
        connection = engine.loop.run(partial(_open_connection, Connection(client, spoken, wire, deps), wire), OPEN_S)
        while not self._over:
            self._wakeup.wait()
        engine.loop.run(lambda: self._switchboard.dismiss_all("the program ends"), GOODBYE_S)
        if not connection.wait_for_end(GOODBYE_S):
            log.error("embedded.connection_left")

    def _end_by_signal(self, signum: int, _: FrameType | None) -> None:
        log.info("embedded.signal", signal=signal.Signals(signum).name)
        self._end()

    def _end(self) -> None:
        """End `run`. From any thread."""
        self._over = True
        self._wakeup.wake()


def _open_connection(connection: Connection, wire: DescriptorWire) -> Ref[Inbox]:
    """Start the connection's actor and open its wire. On the loop, where the wire lives."""
    ref = connection.begin()
    wire.open(ref)
    return ref
