"""The daemon's start: check for failures before anything large is loaded, and report them to the waiting client.

A start that fails must say why within a second, and loading the daemon itself takes most of that. Main thread.
"""

import argparse
import errno
import gc
import os
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress

from actors.vocabulary.errors import GreenroomError
from supervisor.daemon.daemon_lock import AlreadyRunning, DaemonLock, take_lock
from supervisor.daemon.launch import BUSY, READY, START_S
from supervisor.daemon.lean_imports import import_leanly
from supervisor.daemon.socket_place import place_for
from supervisor.paths import Paths, UnsafePath, locate, private_directory

FULL = {errno.ENOSPC, errno.EDQUOT}


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = parser().parse_args(arguments)
    with closing(StartReporter(chosen.ready_fd)) as tell:
        try:
            paths = locate()
            lock = take_home(paths, tell.busy)
            _run(chosen, place_for(paths), lock, tell)
        except AlreadyRunning as error:
            tell(READY if chosen.ready_fd is not None and error.socket else _line(error.message))
            return 0 if error.socket else 1
        except (GreenroomError, UnsafePath, OSError, ImportError) as error:
            tell(_line(f"greenroom: the daemon could not start: {describe_error(error)}"))
            return 1
    return 0


def _line(text: str) -> bytes:
    """The text as a line of bytes; a path in it may not be encodable."""
    return f"{text}\n".encode(errors="backslashreplace")


def describe_error(error: Exception) -> str:
    """An error's text for a person: path and reason, without the errno."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
    room = "; make room there" if error.errno in FULL else ""
    return f"{where}{error.strerror}{room}"


def take_home(paths: Paths, busy: Callable[[str], None]) -> DaemonLock:
    """Take the home's lock, in directories that are ours alone. `busy` gets reports of another holder's start."""
    for directory in (paths.state, paths.run):
        private_directory(directory)
    return take_lock(paths.lock_file, START_S, busy)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog="python -m supervisor",
        description="The Greenroom daemon.",
        formatter_class=lambda prog: argparse.HelpFormatter(
            prog, width=100
        ),  # argparse would load shutil to measure the terminal
    )
    options.add_argument("--config", help="config file instead of the one that would be found")
    options.add_argument("-c", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    options.add_argument("--profile")
    options.add_argument(
        "--ready-fd", type=int, help="where to say what takes long, and once `ready` or what went wrong"
    )
    options.add_argument("--detach", action="store_true", help="leave whoever started us; see __main__")
    options.add_argument("--for-editor", action="store_true", help="load at once what the first editor needs")
    options.add_argument("--foreground", action="store_true", help="log to the terminal too")
    return options


def _run(chosen: argparse.Namespace, paths: Paths, lock: DaemonLock, tell: "StartReporter") -> None:
    gc.disable()  # modules stay for good: collecting garbage among them takes a tenth of a start
    import_leanly()
    from supervisor.config.load import LoadedConfig, load
    from supervisor.config.overrides import parse_overrides

    overrides = parse_overrides(chosen.overrides)

    def read() -> LoadedConfig:
        return load(chosen.config, overrides, chosen.profile)

    loaded = read()
    from supervisor.daemon.server import serve

    def settle() -> None:
        tell(READY)
        gc.set_threshold(2_000, 10, 100)  # measured, see docs/decisions.md: its longest stops are 7 to 13 ms
        gc.freeze()  # the loaded modules are not scanned later either: that would pause everything
        gc.enable()

    serve(
        loaded, paths, read, lock, tell.busy, settle, foreground=chosen.foreground, expects_editors=chosen.for_editor
    )


class StartReporter:
    """Reports to the process that waits for the start; without a pipe, to the terminal."""

    def __init__(self, ready_fd: int | None) -> None:
        self._ready_fd = ready_fd
        self._said = False

    def __call__(self, text: bytes) -> None:
        """Report the end of the start. Only the first call counts."""
        if self._said:
            return
        self._said = True
        if self._ready_fd is not None:
            _write(self._ready_fd, text)
            self.close()
        elif text != READY:
            sys.stderr.write(text.decode())

    def busy(self, text: str) -> None:
        """Report the work that takes so long, unless the pipe is full."""
        if self._ready_fd is not None and select.select([], [self._ready_fd], [], 0)[1]:
            _write(self._ready_fd, BUSY + _line(text))

    def close(self) -> None:
        if self._ready_fd is not None:
            os.close(self._ready_fd)
            self._ready_fd = None


def _write(ready_fd: int, text: bytes) -> None:
    with suppress(OSError):  # the waiting process has gone
        os.write(ready_fd, text)
