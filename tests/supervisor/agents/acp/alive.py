"""Processes that carry a number in their command line, so that a test finds its own and no others."""

import secrets
import time
from pathlib import Path

GONE_S = 5.0


def odd_seconds() -> str:
    """A time to sleep that no other process of this machine sleeps."""
    return f"{3000 + secrets.randbelow(900)}.{secrets.randbelow(10**9):09}"


def alive(word: str) -> list[int]:
    """The processes that have the word in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line, stat = (entry / "cmdline").read_bytes(), (entry / "stat").read_text()
        except OSError:
            continue
        if word.encode() in line and stat[stat.rindex(")") + 2] != "Z":
            found.append(int(entry.name))
    return found


def wait_alive(word: str) -> list[int]:
    deadline = time.monotonic() + GONE_S
    while not (found := alive(word)):
        assert time.monotonic() < deadline, f"no process has {word!r} in its command line"
        time.sleep(0.01)
    return found


def wait_gone(word: str, within_s: float = GONE_S) -> None:
    deadline = time.monotonic() + within_s
    while found := alive(word):
        assert time.monotonic() < deadline, f"{found} with {word!r} in their command line live on"
        time.sleep(0.01)
