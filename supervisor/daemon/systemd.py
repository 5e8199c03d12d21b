"""Messages to systemd: ready, alive, stopping. Without systemd nothing is sent.

Any thread. A datagram that can't be sent is lost, and systemd acts as if the daemon had been silent.
"""

import contextlib
import os
import socket
from collections.abc import Mapping

READY = "READY=1"
STOPPING = "STOPPING=1"
LONGER = "EXTEND_TIMEOUT_USEC=30000000"  # the start may take that long from now on
WELL = "WATCHDOG=1"
SAFETY = 3  # messages within the watchdog's limit, so that two may be lost


class Notifier:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._address = environ.get("NOTIFY_SOCKET", "")
        self.interval_s = _interval_s(environ)

    def tell(self, *lines: str) -> None:
        """Send lines like `STATUS=…` in one datagram."""
        if not self._address.startswith(("/", "@")):
            return
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as wire:
            wire.setblocking(False)
            wire.sendto("\n".join(lines).encode(), address)


def _interval_s(environ: Mapping[str, str]) -> float | None:
    """Seconds between messages to the watchdog; None if it is off or watches another process."""
    if environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    limit = environ.get("WATCHDOG_USEC", "")
    return int(limit) / 1e6 / SAFETY if limit.isdigit() and int(limit) > 0 else None
