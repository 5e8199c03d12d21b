"""How the daemon begins: what can be wrong is looked at before anything large is loaded, and said to whoever waits.

Loading the daemon itself takes most of the second in which a start that fails must have said why.
"""

import argparse
import contextlib
import errno
import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence

from actors.vocabulary.errors import GreenroomError
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
    """A path in it may be no text."""
    return f"{text}\n".encode(errors="backslashreplace")


def told(error: Exception) -> str:
    """For a person: what and where, without the system's number for it."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
    room = "; make room there" if error.errno in FULL else ""
    return f"{where}{error.strerror}{room}"


def only_one(paths: Paths) -> DaemonLock:
    """The directories are ours alone, and so is the home."""
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
    options.add_argument("--foreground", action="store_true", help="log to the terminal too")
    return options


def _run(chosen: argparse.Namespace, paths: Paths, lock: DaemonLock, ready: Callable[[], None]) -> None:
    gc.disable()  # what is loaded stays: to look through it for rubbish, again and again, is a tenth of a start
    from supervisor.config import LoadedConfig, load, parse_overrides

    overrides = parse_overrides(chosen.overrides)

    def read() -> LoadedConfig:
        return load(chosen.config, overrides, chosen.profile)

    loaded = read()
    from supervisor.daemon.server import serve

    def settle() -> None:
        ready()
        gc.set_threshold(
            2_000, 10, 100
        )  # all that lives is looked through seldom: with a thousand readers it takes 15 ms
        gc.freeze()  # nor is it ever looked through later, which would be a pause for everybody
        gc.enable()

    serve(loaded, paths, read, lock, settle, foreground=chosen.foreground)


@contextlib.contextmanager
def _teller(ready_fd: int | None) -> Iterator[Callable[[bytes], None]]:
    """Says one thing to whoever waits for us, and lets go of it. Without a pipe it is the terminal."""
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
        with contextlib.suppress(OSError):  # whoever waited has gone
            os.write(ready_fd, text)
        os.close(ready_fd)

    yield tell
    if ready_fd is not None and not said:
        os.close(ready_fd)
