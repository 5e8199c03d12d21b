"""The processes of a trial, found in /proc by its home: in their environment, or as the place where they work."""

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

GONE_S = 5.0


def of_home(home: Path, *words: str) -> dict[int, str]:
    """Live processes by pid, with their command lines; with words, those that have one of them."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (line := _line(entry, home)) is not None:
            found[int(entry.name)] = line
    return {pid: line for pid, line in found.items() if not words or any(word in line for word in words)}


def _line(entry: Path, home: Path) -> str | None:
    try:
        if (entry / "stat").read_bytes().rpartition(b")")[2].split()[0] in b"ZX":
            return None
        belongs = str((entry / "cwd").readlink()).startswith(str(home))
        if belongs or os.fsencode(home) in (entry / "environ").read_bytes():
            return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None  # gone meanwhile, or another user's
    return None


def descends(pid: int, ancestors: Iterable[int]) -> bool:
    """Whether one of these is above it, or it itself."""
    sought = set(ancestors)
    while pid > 1 and pid not in sought:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
        except OSError:
            return False  # gone meanwhile
    return pid in sought


def kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_all(home: Path) -> None:
    """Kill until nothing of this home is left: what is killed may start something meanwhile."""
    deadline = time.monotonic() + GONE_S
    while (found := of_home(home)) and time.monotonic() < deadline:
        kill(found)
        time.sleep(0.01)


def below(pids: Iterable[int], ancestor: int) -> list[int]:
    return [pid for pid in pids if pid != ancestor and descends(pid, [ancestor])]
