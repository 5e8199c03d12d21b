"""The C parts of a few standard modules: loading the Python parts around them takes longer than Python itself.

Their names are private to CPython. Where they are missing, the whole modules are loaded.
"""

try:
    from _collections import deque  # type: ignore[import-not-found]
    from _json import encode_basestring_ascii as quoted
    from _signal import SIGHUP, SIGINT, SIGTERM, set_wakeup_fd, signal  # type: ignore[import-not-found]
    from _socket import AF_UNIX, SOCK_STREAM, socket
except ImportError:
    from collections import deque
    from json.encoder import encode_basestring_ascii as quoted
    from signal import SIGHUP, SIGINT, SIGTERM, set_wakeup_fd, signal
    from socket import AF_UNIX, SOCK_STREAM, socket  # type: ignore[assignment]

__all__ = [
    "AF_UNIX",
    "SIGHUP",
    "SIGINT",
    "SIGTERM",
    "SOCK_STREAM",
    "deque",
    "quoted",
    "set_wakeup_fd",
    "signal",
    "socket",
]
