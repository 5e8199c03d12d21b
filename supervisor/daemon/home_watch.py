"""A watch over the home: a process whose home was removed, moved or replaced must end, for nothing it stores is kept.

Each look is one system call. The journalist's thread looks, see `engine.health`.
"""

from collections.abc import Callable

import structlog

LOOKS = 5  # 2 s apart: time to put back a home that was only moved aside

log = structlog.get_logger()


class HomeWatch:
    """Call `leave` once, after `here` was false LOOKS times in a row."""

    def __init__(self, home: str, here: Callable[[], bool], leave: Callable[[], None]) -> None:
        self._home = home
        self._here = here
        self._leave = leave
        self._missed = 0

    def look(self) -> str | None:
        """Look at the home; return a complaint while it is missing."""
        self._missed = 0 if self._here() else self._missed + 1
        if not self._missed:
            return None
        if self._missed == LOOKS:
            log.error("home.gone", home=self._home)
            self._leave()
        ends = "so it ends now" if self._missed >= LOOKS else "so it ends in some seconds unless it is put back"
        return f"its home {self._home} was removed, moved or replaced, {ends}"
