"""Ending a daemon that does not answer: wait, make sure which process it is, say so, kill it.

Only the process that holds the lock of this home is ever ended, and only if the system itself confirms that it does.
"""

import os
import select
import signal
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from supervisor.cli.kit.client import Control, NoDaemon
from supervisor.cli.kit.problems import Problem
from supervisor.daemon.daemon_lock import AlreadyRunning, is_alive, life_of, lock_holder, state_of
from supervisor.paths import Paths, locate

PATIENCE_S = 10.0  # a daemon that is merely busy answers in this time: nothing that it does takes a second
STOPPED_S = 1.5  # for one that a signal stopped: it answers nothing until somebody continues it
COMING_UP_S = 20.0  # for a daemon that is starting or stopping, without a socket; repairing a journal takes longest
SOON_S = 1.0  # before a line announces the wait
STACKS_S = 0.5  # for the daemon to write down the stacks of its threads, if it still can
GONE_S = 10.0  # for a killed process to be gone
POLL_S = 0.05
STATE_WORDS = {"T": "it is stopped, by a signal or a debugger", "D": "it is waiting for a disk", "R": "it is busy"}


class HungDaemon(NamedTuple):
    pid: int
    handle: int | None  # a pidfd, where the system has them

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if self.handle is None:
                os.kill(self.pid, number)
            else:
                signal.pidfd_send_signal(self.handle, number)

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)


def end_silent_daemon() -> bool:
    """End the daemon of this home if it does not answer. Return False if none runs, or it is well."""
    paths = locate()
    holder, before = lock_holder(paths.lock_file), None
    while holder is not None and (holder.pid, holder.life) != before:  # another program may replace it meanwhile
        if _answers(paths, holder):
            return False
        before = (holder.pid, holder.life)
        holder = lock_holder(paths.lock_file)
    if holder is None:
        return False
    if holder.is_embedded:
        raise Problem(f"pid {holder.pid} serves this home by itself (`--embedded`)", "end that program")
    with closing(_proven_holder(paths, holder)) as hung:
        _end(paths, hung)
    return True


def _answers(paths: Paths, holder: AlreadyRunning) -> bool:
    """Whether the daemon answers after a wait, which is announced. True also if it ends by itself meanwhile."""
    began, announced = time.monotonic(), False
    while lock_holder(paths.lock_file) is not None:
        limit_s = _patience_s(holder)
        left = began + limit_s - time.monotonic()
        try:
            Control("up", timeout_s=max(POLL_S, left if announced else SOON_S)).close()
        except NoDaemon:
            time.sleep(POLL_S)  # it has no socket: it is starting or stopping
        except Problem as problem:
            if problem.code not in {"timed_out", "failed"}:
                raise
        else:
            return True
        if time.monotonic() - began > _patience_s(holder):
            return False
        if not announced and time.monotonic() - began >= SOON_S:
            announced = True
            _say(f"pid {holder.pid} does not answer; waiting up to {limit_s:g} s for it")
    return True


def _patience_s(holder: AlreadyRunning) -> float:
    if is_stopped(holder):
        return STOPPED_S
    return PATIENCE_S if holder.socket else COMING_UP_S


def is_stopped(holder: AlreadyRunning | None) -> bool:
    """True if the process that holds the lock was stopped by a signal, as far as can be seen from here."""
    return holder is not None and holder.pid is not None and state_of(holder.pid) == "T"


def _proven_holder(paths: Paths, holder: AlreadyRunning) -> HungDaemon:
    """The process that holds the lock, proved by its entry there or by the kernel; a Problem without proof."""
    pid = holder.pid
    if pid is None or not is_alive(pid):
        raise Problem(
            f"{paths.lock_file} is held by a process on another machine or in another container",
            "end it there",
            "not_allowed",
        )
    # First the handle: it means this process, even if its pid is used again later.
    handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    hung = HungDaemon(pid, handle)
    if holder.life == life_of(pid) if holder.life else _listens(holder.socket, pid):
        return hung
    hung.close()
    raise Problem(
        f"it can't be shown that pid {pid} is the daemon, so it is left alone",
        f"check with `ps -p {pid}`, and end it yourself if it is",
        "not_allowed",
    )


def _listens(address: str, pid: int) -> bool:
    """Whether this process listens at the address. The kernel knows, even if the process is stopped."""
    import socket

    from transports.address import use_short_path
    from transports.peer_credentials import peer_of

    with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(SOON_S)
        use_short_path(address, probe.connect)
        return peer_of(probe).pid == pid
    return False


def _end(paths: Paths, hung: HungDaemon) -> None:
    doing = STATE_WORDS.get(state_of(hung.pid), "the reason is unknown")
    _say(f"the daemon (pid {hung.pid}{_up_since(hung.pid)}) does not answer: {doing}")
    _say("ending it now; running turns are lost, everything that was stored is kept")
    if state_of(hung.pid) != "T":
        hung.send(signal.SIGUSR1)
        time.sleep(STACKS_S)
        _say(f"the stacks of its threads are in {paths.stacks_file}")
    hung.send(signal.SIGKILL)
    deadline = time.monotonic() + GONE_S
    while not _is_gone(hung):
        if time.monotonic() > deadline:
            raise Problem(f"pid {hung.pid} can't be ended: {doing}", "check its disk, or restart the machine")
        time.sleep(POLL_S)


def _is_gone(hung: HungDaemon) -> bool:
    if hung.handle is not None:
        return bool(select.select([hung.handle], [], [], 0)[0])
    return not is_alive(hung.pid)


def _up_since(pid: int) -> str:
    try:
        started = int(life_of(pid).partition(":")[2]) / os.sysconf("SC_CLK_TCK")
        up_s = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0]) - started
    except (OSError, ValueError):
        return ""
    return f", up since {time.strftime('%Y-%m-%d %H:%M', time.localtime(time.time() - up_s))}"


def _say(text: str) -> None:
    print(f"greenroom: {text}", file=sys.stderr, flush=True)
