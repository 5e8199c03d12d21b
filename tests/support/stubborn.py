"""Commands that don't want to end: `python stubborn.py KIND TOKEN` behaves as told and says `ready` when it does.

TOKEN stays in the command line of everything it becomes, so that a test can look for it in all of /proc.
"""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LONG_S = "300"
MANY = 50


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    cooperative: bool  # ends at TERM
    argv: tuple[str, ...]  # TOKEN is put in place of {token}
    says_ready: bool = True


def _ready() -> None:
    os.write(1, b"ready\n")


def _ignore(*signals: signal.Signals) -> None:
    for one in signals:
        signal.signal(one, signal.SIG_IGN)


def _pause() -> None:
    while True:
        time.sleep(float(LONG_S))


def ignores_everything(_: str) -> None:
    _ignore(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)
    _ready()
    _pause()


def _daemon(*, session: bool, deaf: bool, token: str, env: dict[str, str] | None = None) -> None:
    if os.fork() == 0:
        if session:
            os.setsid()
        if os.fork() == 0:
            if deaf:
                _ignore(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
            _ready()
            if env is not None:
                os.execvpe("sleep", [f"sleep-{token}", LONG_S], env)
            _pause()
        os._exit(0)
    os.wait()


def double_fork(token: str) -> None:
    _daemon(session=False, deaf=False, token=token)
    _pause()


def double_fork_session_deaf(token: str) -> None:
    _daemon(session=True, deaf=True, token=token)
    _pause()


def daemon_without_marks(token: str) -> None:
    _daemon(session=True, deaf=True, token=token, env={"PATH": os.environ["PATH"]})
    _pause()


def false_marks(token: str) -> None:
    """The marks of a turn that never was."""
    marks = {"GREENROOM_TURN": "x", "GREENROOM_COMMAND": "x", "GREENROOM_CONVERSATION": "x"}
    _daemon(session=True, deaf=True, token=token, env={**os.environ, **marks})
    _pause()


def marks_of_others(token: str) -> None:
    """The marks of another running command, if one can be read; else false marks."""
    mine = os.environ.get("GREENROOM_TURN", "")
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            entries = path.read_bytes().split(b"\0")
        except OSError:
            continue
        env = dict(entry.decode("utf-8", "replace").split("=", 1) for entry in entries if b"=" in entry)
        same = env.get("GREENROOM_INSTANCE") == os.environ.get("GREENROOM_INSTANCE")
        if same and env.get("GREENROOM_TURN", mine) != mine:
            marks = {name: value for name, value in env.items() if name.startswith("GREENROOM_")}
            _daemon(session=True, deaf=True, token=token, env={**os.environ, **marks})
            _pause()
    false_marks(token)


def respawns(_: str) -> None:
    """Start the next child as soon as one has ended; all ignore TERM."""
    _ignore(signal.SIGTERM)
    _ready()
    while True:
        if os.fork() == 0:
            time.sleep(0.005)
            os._exit(0)
        os.wait()


def runs_away(_: str) -> None:
    """Fork into a new session every few milliseconds and end the old process."""
    _ignore(signal.SIGTERM)
    _ready()
    if os.fork() != 0:
        _pause()
    while True:
        if os.fork() != 0:
            os._exit(0)
        os.setsid()
        time.sleep(0.002)


def many(_: str) -> None:
    for number in range(MANY):
        if os.fork() == 0:
            if number % 2:
                os.setsid()
            _pause()
    _ready()
    _pause()


def threads_catch(_: str) -> None:
    """Swallow signals in handlers, and go on in threads."""
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, lambda *_: None)
    for _n in range(4):
        threading.Thread(target=_pause, daemon=True).start()
    _ready()
    _pause()


def main_thread_ends(_: str) -> None:
    """End the main thread: the process table then shows a zombie, though another thread runs."""

    def goes_on() -> None:
        _ready()
        _pause()

    _ignore(signal.SIGTERM)
    threading.Thread(target=goes_on).start()
    ctypes.CDLL(None).pthread_exit(None)


def changes_group(_: str) -> None:
    if os.fork() == 0:
        os.setpgid(0, 0)
        _ignore(signal.SIGTERM)
        _ready()
        _pause()
    _pause()


def closes_everything(_: str) -> None:
    if os.fork() == 0:
        _ignore(signal.SIGTERM)
        _ready()
        os.closerange(0, 1024)
        _pause()
    _pause()


def stops_itself(_: str) -> None:
    _ready()
    os.kill(os.getpid(), signal.SIGSTOP)
    _pause()


def stops_itself_deaf(_: str) -> None:
    _ignore(signal.SIGTERM)
    stops_itself(_)


SCRIPTED: dict[str, tuple[bool, Callable[[str], None]]] = {
    "ignores_everything": (False, ignores_everything),
    "double_fork": (True, double_fork),
    "double_fork_session_deaf": (False, double_fork_session_deaf),
    "daemon_without_marks": (False, daemon_without_marks),
    "false_marks": (False, false_marks),
    "marks_of_others": (False, marks_of_others),
    "respawns": (False, respawns),
    "runs_away": (False, runs_away),
    "many": (True, many),
    "threads_catch": (False, threads_catch),
    "main_thread_ends": (False, main_thread_ends),
    "changes_group": (False, changes_group),
    "closes_everything": (False, closes_everything),
    "stops_itself": (True, stops_itself),
    "stops_itself_deaf": (False, stops_itself_deaf),
}

# `: {token}` keeps the token in the shell's command line, the variable in its children's environment.
SHELL: dict[str, tuple[bool, str]] = {
    "bash_child": (True, "echo ready; sleep 300; true"),
    "ignores_term": (False, "trap '' TERM; echo ready; sleep 300; sleep 300"),
    "nohup": (True, "nohup sleep 300 & echo ready; wait"),
    "setsid_with_false_marks": (True, "(GREENROOM_TURN=x setsid sleep 300 &) ; echo ready; sleep 300"),
    "setsid": (True, "setsid sleep 300 & echo ready; wait"),
    "pipe_held_by_grandchild": (False, "(trap '' TERM; echo ready; sleep 300) & exec sleep 300"),
    "exec_chain": (True, "exec bash -c 'echo ready; exec sleep 300'"),
}


def kinds() -> list[Kind]:
    here = str(Path(__file__).resolve())
    return [
        Kind("sleep", cooperative=True, argv=("sleep", LONG_S), says_ready=False),
        Kind("yes", cooperative=True, argv=("yes", "{token}")),
        *(
            Kind(name, cooperative, ("bash", "-c", f"TOKEN={{token}}; export TOKEN; {script}"))
            for name, (cooperative, script) in SHELL.items()
        ),
        *(
            Kind(name, cooperative, (sys.executable, "-SE", here, name, "{token}"))
            for name, (cooperative, _) in SCRIPTED.items()
        ),
    ]


if __name__ == "__main__":
    SCRIPTED[sys.argv[1]][1](sys.argv[2])
