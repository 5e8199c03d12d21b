"""What the daemon tells systemd: that it is ready, that it is well, that it stops. Says nothing where nobody listens.

Any thread. A datagram that can't be sent is lost, and systemd will draw its own conclusions.
"""

import contextlib
import os
import socket
from collections.abc import Mapping

READY = "READY=1"
STOPPING = "STOPPING=1"
WELL = "WATCHDOG=1"
SAFETY = 3  # times within the limit that we say we are well


class Notifier:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._address = environ.get("NOTIFY_SOCKET", "")
        self.interval_s = _interval_s(environ)

    def tell(self, *lines: str) -> None:
        """`STATUS=…` and the like, one datagram for all."""
        if not self._address.startswith(("/", "@")):
            return
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as wire:
            wire.setblocking(False)
            wire.sendto("\n".join(lines).encode(), address)


def _interval_s(environ: Mapping[str, str]) -> float | None:
    """How often the watchdog wants to hear of us; None if it does not, or means another process."""
    if environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    limit = environ.get("WATCHDOG_USEC", "")
    return int(limit) / 1e6 / SAFETY if limit.isdigit() and int(limit) > 0 else None
