"""Connecting to the daemon of a home, for its clients. Standard library only: everyday verbs import this."""

# ruff: noqa: PTH112, PTH120 # pathlib alone takes a third of the time that the bridge may take

from __future__ import annotations

import os
import stat

from supervisor.paths import UnsafePath, addresses, private_directory

SHORT = 100  # bytes of a path that every system accepts for a socket
TYPE_CHECKING = False  # loading typing costs more than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    from supervisor.paths import Paths

    class Socket(Protocol):
        def connect(self, address: str, /) -> object: ...

        def close(self) -> object: ...

    S = TypeVar("S", bound=Socket)


def dial(paths: Paths, make: Callable[[], S]) -> S | None:
    """A connected socket, made by `make`; None if no daemon listens. Raises UnsafePath and OSError.

    A hello carries all of our environment, so no connection is made in a directory that others can enter. In the home
    itself that is an error; anywhere else another user has taken the place of a daemon that is gone.
    """
    for address in addresses(paths):
        directory = os.path.dirname(address)
        if not os.path.isdir(directory):
            continue
        try:
            private_directory(directory, create=False)
        except UnsafePath:
            if address == paths.socket:
                raise
            continue
        found = make()
        try:
            _connect(found, address)
        except (FileNotFoundError, ConnectionRefusedError):
            found.close()
            _insist_that_nothing_is_in_the_way(address)
        except OSError:
            found.close()
            raise
        else:
            return found
    return None


def _insist_that_nothing_is_in_the_way(address: str) -> None:
    """Raise if something else is at the socket's path: the daemon may be well, but no client can reach it."""
    try:
        mode = os.lstat(address).st_mode
    except OSError:
        return
    if not stat.S_ISSOCK(mode):
        raise UnsafePath(f"{address} is in the way of the daemon's socket; remove it")


def _connect(found: Socket, address: str) -> None:
    if len(os.fsencode(address)) < SHORT:
        found.connect(address)
        return
    from transports.address import use_short_path  # imported here, because almost no path is so long

    use_short_path(address, found.connect)
