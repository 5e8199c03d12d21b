"""Memory used by the daemon and by the processes of conversations. Linux only; elsewhere it is unknown."""

import os
from contextlib import suppress
from pathlib import Path

from supervisor.paths import locate

MARKS = (b"GREENROOM_INSTANCE=", b"GREENROOM_CONVERSATION=")


def process_memory(pid: int) -> int:
    """Resident bytes; 0 if the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def conversation_memory() -> dict[str, int]:
    """Resident bytes by conversation; its processes carry its id in the environment they were started with."""
    home = os.fsencode(locate().state)
    found: dict[str, int] = {}
    pids: list[str] = []
    with suppress(OSError):
        pids = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  # far faster than Path
    for pid in map(int, pids):
        with suppress(OSError):
            environ = Path(f"/proc/{pid}/environ").read_bytes()
            marks = [entry for entry in environ.split(b"\0") if entry.startswith(MARKS)]
            marked = dict(entry.split(b"=", 1) for entry in marks)
            if marked.get(b"GREENROOM_INSTANCE") == home and b"GREENROOM_CONVERSATION" in marked:
                conversation = os.fsdecode(marked[b"GREENROOM_CONVERSATION"])
                found[conversation] = found.get(conversation, 0) + process_memory(pid)
    return found
