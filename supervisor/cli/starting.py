"""`greenroom up` and `down`: return only when the daemon answers, or when it has ended."""

import os
import sys
import time
from argparse import Namespace
from contextlib import suppress
from typing import NoReturn, Self

from actors.vocabulary.visible_text import visible
from greenroom.daemon import daemon_answers, start_daemon
from supervisor.cli.kit.client import HUNG_ADVICE, Control, DaemonLost, NoDaemon, as_problems
from supervisor.cli.kit.formatting import plural
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.problems import Problem
from supervisor.cli.running_jobs import jobs_notice
from supervisor.daemon.launch import START_S
from supervisor.paths import locate, socket_path

GONE_S = 20.0  # beyond the drain time: for commands to end, and for the last messages
PATIENCE_S = 10.0  # for an answer of a daemon that is well, however busy
POLL_S = 0.02


def up(chosen: Namespace) -> int:
    if chosen.foreground:
        _foreground(chosen)
    if chosen.force:
        from supervisor.cli.hung_daemon import end_silent_daemon

        end_silent_daemon()
    with as_problems():
        running = daemon_answers()
    if not running:
        start(_arguments(chosen))
    elif _arguments(chosen):
        print(
            "greenroom: the daemon already runs and keeps its settings; run `greenroom down` first to change them",
            file=sys.stderr,
        )
    with Control("up") as control:
        daemon = control.status()
    for warning in daemon.warnings if not running else ():
        print(f"greenroom: {visible(warning)}", file=sys.stderr)
    if chosen.json:
        print(json_text({"pid": daemon.pid, "socket": socket_path(locate()), "started": not running}))
        return 0
    known = daemon.registry["conversations"] or 0
    print(f"{'already up' if running else 'up'}: pid {daemon.pid}, {plural(known, 'conversation')}")
    return 0


def start(arguments: tuple[str, ...] = ()) -> None:
    """Start the daemon, and return when it answers, also if another program started it at the same time."""
    with as_problems(), StartProgress() as slow:
        start_daemon(arguments, slow.tell)


class StartProgress:
    """Notices of a slow start on standard error: a line that changes, or without a terminal the first notice."""

    def __init__(self) -> None:
        self._in_place = sys.stderr.isatty()
        self._told = False

    def __enter__(self) -> Self:
        return self

    def tell(self, text: str) -> None:
        if self._in_place:
            print(f"\r\x1b[Kgreenroom: {visible(text)}", end="", file=sys.stderr, flush=True)
        elif not self._told:
            print(f"greenroom: {visible(text)}", file=sys.stderr, flush=True)
        self._told = True

    def __exit__(self, *_: object) -> None:
        if self._told and self._in_place:
            print(file=sys.stderr)


def connect_or_start(verb: str, *, environment: bool = False) -> Control:
    """Connect to the daemon, and start it if none runs. Only for verbs that may start a daemon."""
    try:
        return Control(verb, environment=environment)
    except NoDaemon:
        start()
        print("greenroom: the daemon was not running; it was started", file=sys.stderr)
        return Control(verb, environment=environment)


def down(chosen: Namespace) -> int:
    running = _bring_down_now() if chosen.now else _bring_down(chosen.drain)
    print("down" if running else "already down")
    return 0


def _bring_down_now() -> bool:
    """Bring the daemon down without a drain, or end it if it does not answer or a signal has stopped it."""
    from supervisor.cli.hung_daemon import end_silent_daemon, is_stopped
    from supervisor.daemon.daemon_lock import lock_holder

    try:
        if not is_stopped(lock_holder(locate().lock_file)):
            return _bring_down(0.0)
    except Problem as problem:
        if problem.code != "timed_out":
            raise
    return end_silent_daemon() or _bring_down(0.0)  # it may have been busy, and answer now


def _bring_down(drain_s: float | None) -> bool:
    """Bring the daemon down after its drain time; return False if none runs."""
    control = _connect_to_running()
    if control is None:
        return False
    with control:
        pid = control.status().pid
        if words := jobs_notice(control):
            print(f"greenroom: {words}", file=sys.stderr)
        granted_s = control.stop_daemon(drain_s=drain_s).drain_s
        _wait_for_the_end(control, pid, granted_s)
    return True


def _connect_to_running() -> Control | None:
    """Connect to the daemon; None if none runs.

    A daemon that still starts, or was told to end by another client, is waited for as long as it has the lock.
    """
    deadline = time.monotonic() + START_S
    while True:
        try:
            return Control("down", answer_s=PATIENCE_S)
        except NoDaemon:
            from supervisor.daemon.daemon_lock import is_alive, lock_holder

            holder = lock_holder(locate().lock_file)
            if holder is None or holder.is_embedded or not is_alive(holder.pid):
                return None
            if time.monotonic() > deadline:
                raise Problem(
                    f"the daemon (pid {holder.pid}) does not answer",
                    HUNG_ADVICE,
                    "timed_out",
                ) from None
        time.sleep(POLL_S)


def _foreground(chosen: Namespace) -> NoReturn:
    command = [sys.executable, "-m", "supervisor", "--foreground", *_arguments(chosen)]
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606  # our own module, our own arguments


def _arguments(chosen: Namespace) -> tuple[str, ...]:
    found = ["--config", os.path.abspath(chosen.config)] if chosen.config else []  # noqa: PTH100  # pathlib is slow
    found += ["--profile", chosen.profile] if chosen.profile else []
    return (*found, *(word for override in chosen.overrides for word in ("-c", override)))


def _wait_for_the_end(control: Control, pid: int, drain_s: float) -> None:
    deadline = time.monotonic() + drain_s + GONE_S
    hint = time.monotonic() + 1.0
    with suppress(DaemonLost):
        while time.monotonic() < deadline:
            control.messages(POLL_S)
            if time.monotonic() > hint:
                hint = float("inf")
                print(
                    f"waiting up to {drain_s:g} s for running turns; `greenroom down --now` interrupts them",
                    file=sys.stderr,
                )
    from supervisor.daemon.daemon_lock import is_alive

    path = socket_path(locate())
    while os.path.exists(path) or is_alive(pid):  # noqa: PTH110  # as above
        if time.monotonic() > deadline:
            raise Problem(f"the daemon (pid {pid}) has not ended", "`greenroom down --now` ends it", "timed_out")
        time.sleep(POLL_S)
