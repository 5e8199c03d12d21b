"""Starting the daemon from outside: standard library only, because the bridge and everyday verbs import it.

The daemon gets one end of a pipe and says there, once, that it is ready or why it is not. Then it is on its own.
"""

import os
import select
import sys
import time

START_S = 20.0  # a repair of the journal is the longest; an ordinary start takes a fraction of a second
READY = b"ready\n"


class StartFailed(Exception):
    """The daemon did not come up. The text is its own, for the person who wanted it."""


def launch(arguments: tuple[str, ...] = (), timeout_s: float = START_S) -> None:
    """Returns when a daemon answers at the socket; one that was there before is as good. Raises StartFailed."""
    import subprocess  # costs more than the rest; only who really starts one pays

    reader, writer = os.pipe()
    try:
        command = [sys.executable, "-m", "supervisor", "--ready-fd", str(writer), *arguments]
        with subprocess.Popen(  # noqa: S603  # our own module, our own arguments
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(writer,),
            start_new_session=True,
            cwd="/",
        ) as daemon:
            os.close(writer)
            writer = -1
            said = _said(reader, timeout_s)
            daemon.returncode = 0  # it is nobody's child to wait for: whoever starts it goes on
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    if said != READY:
        raise StartFailed(said.decode(errors="replace").strip() or "the daemon ended without a word; see its log")


def _said(reader: int, timeout_s: float) -> bytes:
    deadline, said = time.monotonic() + timeout_s, b""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return said or b"the daemon was not ready in time; see its log"
        piece = os.read(reader, 65536)
        if not piece:
            return said
        said += piece
