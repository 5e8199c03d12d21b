"""`notifications/message`: what the client's person should know, from the level they chose. Never a prompt."""

from collections.abc import Iterable

from transports import jsonrpc
from transports.dialect import Action, Write

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
DEFAULT = "notice"  # before the client chose
LOGGER = "greenroom"
SAID_KEPT = 64  # what was said once is not said again, as long as we remember


class Loudness:
    def __init__(self) -> None:
        self._from = LEVELS.index(DEFAULT)
        self._said: list[str] = []

    def choose(self, level: str) -> None:
        self._from = LEVELS.index(level)

    def say(self, level: str, text: str) -> Iterable[Action]:
        if LEVELS.index(level) >= self._from:
            params = {"level": level, "logger": LOGGER, "data": text}
            yield Write(jsonrpc.notification("notifications/message", params))

    def once(self, level: str, text: str) -> Iterable[Action]:
        if text not in self._said:
            self._said = [*self._said, text][-SAID_KEPT:]
            yield from self.say(level, text)
