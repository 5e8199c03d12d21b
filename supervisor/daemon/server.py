"""The daemon: the engine behind a unix socket, one per home. Start order is written out here; stop reverses it.

Runs on the main thread, which waits for signals and for a request to stop. program.py begins it.
"""

import contextlib
import faulthandler
import os
import resource
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import structlog

from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import ConnectionId
from supervisor.config.load import LoadedConfig
from supervisor.daemon import systemd as notify
from supervisor.daemon.daemon_lock import DaemonLock, remove_pid, write_pid
from supervisor.daemon.dialects import dialects, load_the_rest
from supervisor.daemon.home_watch import HomeWatch
from supervisor.daemon.socket_place import remove_own_directory
from supervisor.daemon.systemd import Notifier
from supervisor.engine.engine import Engine
from supervisor.logs import setup as logs
from supervisor.loop.signal_wakeup import SignalFlag, SignalWakeup
from supervisor.paths import Paths
from supervisor.services.services import Services
from supervisor.version import VERSION
from transports.connection import ConnectionDeps
from transports.environments import EnvironmentPool
from transports.greeting import GreetingDeps
from transports.hello import Identity
from transports.listener import Listener, ListenerLimits
from transports.switchboard import Switchboard

log = structlog.get_logger()

DESCRIPTORS = 65_536  # one per client, and three per running command
GOODBYE_S = 2.0  # for the last answers to leave
WELL_S = 5.0  # for an answer of the loop, none of whose steps takes as long


class Daemon:
    """The daemon. Each step of `start` has its undo; `stop` runs them backwards, each failure with a log line."""

    def __init__(
        self,
        loaded: LoadedConfig,
        paths: Paths,
        reread: Callable[[], LoadedConfig],
        lock: DaemonLock,
        busy: Callable[[str], None],
    ) -> None:
        """`lock` is held already, and is released last. `busy` gets reports of a start that takes long."""
        self._lock = lock
        self._paths = paths
        self._loaded = loaded
        self._reread = reread
        self._busy = busy
        self._undo: list[tuple[str, Callable[[], object]]] = []
        self.wakeup = SignalWakeup()
        self._wanted_down = SignalFlag()
        self._hurry = SignalFlag()
        self.drain_s: float = loaded.config.greenroom.drain_seconds
        self.socket = paths.socket
        self.identity = Identity(VERSION, os.urandom(8).hex())

    def start(self) -> None:
        try:
            self._start()
        except BaseException:
            self._unwind()
            raise

    def _start(self) -> None:
        self._undo.append(("lock", self._lock.release))
        self._undo.append(("place", lambda: remove_own_directory(self._paths)))
        raise_descriptor_limit()
        self._switchboard = Switchboard()
        self._engine = Engine(
            self._loaded,
            self._paths,
            dict(os.environ),
            self._switchboard,
            self._switchboard.announce,
            (HomeWatch(self._paths.state, self._lock.home_is_here, self._leave_a_lost_home).look, self._lock.look),
            self._starts_slowly,
        )
        self._engine.start()
        self._undo.append(("engine", self._engine.stop))
        self._switchboard.on_introduce = self._engine.load_ahead
        self._services = Services(self._engine, self._switchboard, self.identity, self.ask_down, self._reread)
        connection_deps = ConnectionDeps(
            self._engine.registry,
            self._services,
            self._switchboard,
            self._engine.clock,
            self._engine.shared_thread.start,
        )
        limits = self._loaded.config.greenroom.limits
        deps = GreetingDeps(
            self.identity,
            dialects(lambda: self._engine.config, self._paths, self.identity.instance),
            connection_deps,
            lambda: ConnectionId(os.urandom(8).hex()),
            environments=EnvironmentPool(limits.environment_bytes, limits.environments_bytes * 2),
        )
        self._listener = Listener(
            Path(self.socket),
            deps,
            self._engine.loop.loop,
            ListenerLimits(
                clients=limits.connections,
                line=limits.frame_bytes,
                values=limits.message_values,
            ),
            self._lock.home_is_here,
        )
        loop, dismiss = self._engine.loop, partial(self._switchboard.dismiss_all, "the daemon is stopping")
        # After the listener, so that the client accepted last is among them.
        self._undo.append(("clients", lambda: loop.run(dismiss, GOODBYE_S)))
        loop.run(partial(self._listener.open, lock_held=True), GOODBYE_S)
        self._undo.append(("listener", lambda: loop.run(self._listener.close, GOODBYE_S * 2)))
        write_pid(self._paths.pid_file)
        self._undo.append(("pid file", lambda: remove_pid(self._paths.pid_file)))
        self._lock.tell(self.socket)
        self._undo.append(("address", self._lock.tell))  # from here on a starter waits until we are gone
        log.info("daemon.started", pid=os.getpid(), socket=self.socket, version=VERSION)

    def _starts_slowly(self, text: str) -> None:
        self._lock.tell_busy(text)
        self._busy(text)

    def is_well(self) -> bool:
        """Whether the loop still runs; nothing works without it."""
        try:
            self._engine.loop.run(lambda: None, WELL_S)
        except Exception:
            log.exception("daemon.unwell")
            return False
        return True

    def reload(self) -> None:
        """Read the config again. A broken config is logged, and the old config stays in force."""
        try:
            self._engine.reload(self._reread())
        except GreenroomError as error:
            log.warning("daemon.reload_refused", reason=error.message)

    # --- stopping -------------------------------------------------------------------------------------------------

    def ask_down(self, drain_s: float | None = None) -> None:
        """Ask for the stop, from any thread or signal. The first call lets turns drain; the second ends them now."""
        if self._wanted_down.is_set():
            self._hurry.set()
        self.drain_s = self._engine.config.greenroom.drain_seconds if drain_s is None else drain_s
        self._wanted_down.set()
        self.wakeup.wake()

    def _leave_a_lost_home(self) -> None:
        """Stop without a drain: nothing that turns still did could be stored."""
        self.ask_down(0.0)

    def wait(self, notifier: Notifier) -> None:
        """Wait on the main thread until a stop is asked for, and meanwhile tell systemd that the loop runs."""
        while not self._wanted_down.is_set():
            self.wakeup.wait(notifier.interval_s)
            if notifier.interval_s is not None and self.is_well():
                notifier.tell(notify.WELL)

    def stop(self) -> None:
        """Refuse new work, let turns drain, interrupt the rest, then stop everything in reverse order."""
        log.info("daemon.stopping", drain_s=self.drain_s)
        self._engine.wind_down(self.drain_s, self.wakeup, self._hurry)
        self._unwind()
        log.info("daemon.stopped")

    def _unwind(self) -> None:
        while self._undo:
            name, undo = self._undo.pop()
            try:
                undo()
            except Exception:
                log.exception("daemon.stop_failed", part=name)


def raise_descriptor_limit() -> None:
    """Raise the limit of open files as far as permitted; the daemon serves under a low limit too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


# --- the process ---------------------------------------------------------------------------------------------------


def serve(
    loaded: LoadedConfig,
    paths: Paths,
    reread: Callable[[], LoadedConfig],
    lock: DaemonLock,
    busy: Callable[[str], None],
    ready: Callable[[], None],
    *,
    foreground: bool,
    expects_editors: bool,
) -> None:
    """Run a daemon from start to stop. `ready` is called once, when clients can be served; before that `busy`.

    `expects_editors`: a bridge has started the daemon, so the editors' dialects are loaded ahead.
    """
    settings = loaded.config.greenroom
    sinks = logs.configure(
        Path(paths.log_file),
        settings.log_level,
        terminal=sys.stderr if foreground else None,
        max_bytes=settings.log_file_bytes,
        backups=settings.log_backups,
    )
    notifier = Notifier(os.environ)

    def tell(text: str) -> None:
        busy(text)
        notifier.tell(notify.LONGER, f"STATUS={text}")

    daemon = Daemon(loaded, paths, reread, lock, tell)
    try:
        daemon.start()
        _listen_to_signals(daemon)
        _show_stacks_when_asked(None if foreground else paths.stacks_file)
        ready()
        notifier.tell(notify.READY, f"STATUS=listening at {daemon.socket}")
        if expects_editors:
            load_the_rest()
        daemon.wait(notifier)
        notifier.tell(notify.STOPPING)
        daemon.stop()
    except BaseException:  # the process that waits for the start gets it too, by the raise
        log.exception("daemon.failed")
        raise
    finally:
        daemon.wakeup.close()
        sinks.close()


def _listen_to_signals(daemon: Daemon) -> None:
    def stop(signum: int, _: object) -> None:
        log.info("daemon.signal", signal=signal.Signals(signum).name)
        daemon.ask_down()

    for wanted in (signal.SIGTERM, signal.SIGINT):
        signal.signal(wanted, stop)
    daemon.wakeup.hear_signals()
    signal.signal(signal.SIGHUP, lambda *_: daemon.reload())


def _show_stacks_when_asked(path: str | None) -> None:
    """Write all stacks on SIGUSR1: to this file, which stays open, or to the terminal if there is no path."""
    if path is None:
        faulthandler.register(signal.SIGUSR1)
        return
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    faulthandler.register(signal.SIGUSR1, file=handle)
