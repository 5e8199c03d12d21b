"""The daemon's start: check what can be wrong before anything large is loaded, and report it to the waiting client.

A start that fails must say why within a second, and loading the daemon itself takes most of that.
"""

import argparse
import contextlib
import errno
import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence

from actors.vocabulary.errors import GreenroomError
from supervisor.daemon.late_imports import load_late, use_no_plugins
from supervisor.daemon.launch import READY, START_S
from supervisor.daemon.listening import place_for
from supervisor.daemon.single import AlreadyRunning, DaemonLock, take_lock
from supervisor.paths import Paths, UnsafePath, locate, private_directory

FULL = {errno.ENOSPC, errno.EDQUOT}


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = parser().parse_args(arguments)
    with _teller(chosen.ready_fd) as tell:
        try:
            paths = locate()
            lock = only_one(paths)
            _run(chosen, place_for(paths), lock, lambda: tell(READY))
        except AlreadyRunning as error:
            tell(READY if chosen.ready_fd is not None and error.socket else _line(error.message))
            return 0 if error.socket else 1
        except (GreenroomError, UnsafePath, OSError, ImportError) as error:
            tell(_line(f"greenroom: the daemon could not start: {told(error)}"))
            return 1
    return 0


def _line(text: str) -> bytes:
    """The text of an error, in which a path may not be decodable."""
    return f"{text}\n".encode(errors="backslashreplace")


def told(error: Exception) -> str:
    """An error's text for a person: what and where, without its errno."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
    room = "; make room there" if error.errno in FULL else ""
    return f"{where}{error.strerror}{room}"


def only_one(paths: Paths) -> DaemonLock:
    """Take the home's lock, in directories that are ours alone."""
    for directory in (paths.state, paths.run):
        private_directory(directory)
    return take_lock(paths.lock_file, START_S)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m supervisor", description="The Greenroom daemon.")
    options.add_argument("--config", help="config file instead of the one that would be found")
    options.add_argument("-c", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    options.add_argument("--profile")
    options.add_argument("--ready-fd", type=int, help="where to say, once, `ready` or what went wrong")
    options.add_argument("--detach", action="store_true", help="leave whoever started us; see __main__")
    options.add_argument("--for-editor", action="store_true", help="load at once what the first editor needs")
    options.add_argument("--foreground", action="store_true", help="log to the terminal too")
    return options


def _run(chosen: argparse.Namespace, paths: Paths, lock: DaemonLock, ready: Callable[[], None]) -> None:
    gc.disable()  # what is loaded stays: collecting garbage in it takes a tenth of a start
    load_late()
    use_no_plugins()
    from supervisor.config.load import LoadedConfig, load
    from supervisor.config.overrides import parse_overrides

    overrides = parse_overrides(chosen.overrides)

    def read() -> LoadedConfig:
        return load(chosen.config, overrides, chosen.profile)

    loaded = read()
    from supervisor.daemon.server import serve

    def settle() -> None:
        ready()
        gc.set_threshold(2_000, 10, 100)  # full collections are rare: with a thousand readers one takes 15 ms
        gc.freeze()  # nor are the loaded modules scanned later, which would pause everything
        gc.enable()

    serve(loaded, paths, read, lock, settle, foreground=chosen.foreground, expects_editors=chosen.for_editor)


@contextlib.contextmanager
def _teller(ready_fd: int | None) -> Iterator[Callable[[bytes], None]]:
    """Report once to the process that waits for the start, and close the pipe. Without a pipe: the terminal."""
    said = False

    def tell(text: bytes) -> None:
        nonlocal said
        if said:
            return
        said = True
        if ready_fd is None:
            if text != READY:
                sys.stderr.write(text.decode())
            return
        with contextlib.suppress(OSError):  # the waiting process has gone
            os.write(ready_fd, text)
        os.close(ready_fd)

    yield tell
    if ready_fd is not None and not said:
        os.close(ready_fd)
