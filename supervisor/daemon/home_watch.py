"""The end of a process whose home was removed, moved or replaced: what it stores is lost, and nobody can reach it.

A look at the home's directory is one system call. The journalist's thread looks, see `engine.health`.
"""

from collections.abc import Callable

import structlog

LOOKS = 5  # of health, 2 s apart: time to put a home back that was only moved aside

log = structlog.get_logger()


class HomeWatch:
    """`leave` is called once, when `here` was false so often in a row."""

    def __init__(self, home: str, here: Callable[[], bool], leave: Callable[[], None]) -> None:
        self._home = home
        self._here = here
        self._leave = leave
        self._missed = 0

    def look(self) -> str | None:
        """Look at the home; a complaint while it is not there."""
        self._missed = 0 if self._here() else self._missed + 1
        if not self._missed:
            return None
        if self._missed == LOOKS:
            log.error("home.gone", home=self._home)
            self._leave()
        ends = "so it ends now" if self._missed >= LOOKS else "so it ends in some seconds unless it is put back"
        return f"its home {self._home} was removed, moved or replaced, {ends}"
