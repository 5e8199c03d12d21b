"""How much of each unfinished text a client has, so that a text that is sent in pieces is never said twice. Pure.

A subscription that begins anew gets an unfinished text from its beginning, and a finished one comes whole.
"""

from collections.abc import Mapping

from transports.dialects.kit.bounded import Bounded

SECTION = "#"  # between the name of a text and the number of a part of it
UNSURE = -1  # pieces are missing: the finished text says the rest


class ToldTexts:
    def __init__(self, told: Mapping[str, int]) -> None:
        """`told`: how many characters the client has of which messages, from an earlier connection."""
        self._told: Bounded[str, int] = Bounded()
        self._heard: Bounded[str, int] = Bounded()  # of what came by this subscription
        for message, count in told.items():
            name, _, part = message.partition(SECTION)
            name = name if part.isdecimal() else message
            self._told[name] = self._told.get(name, 0) + count

    def begin_anew(self) -> None:
        """A new subscription: unfinished texts come from their beginning."""
        self._heard.clear()

    def lose(self, name: str) -> None:
        """Some of the text did not come."""
        self._heard[name] = UNSURE

    def piece(self, name: str, text: str) -> str:
        """What is new to the client of the next piece."""
        heard, told = self._heard.get(name, 0), self._told.get(name, 0)
        if heard == UNSURE:
            return ""
        self._heard[name] = heard + len(text)
        self._told[name] = max(told, heard + len(text))
        return text[max(0, told - heard) :]

    def rest(self, name: str, whole: str, begin: int = 0) -> str:
        """What is new to the client of a finished text, or of a part of it that begins there."""
        told = self._told.get(name, 0)
        self._heard.pop(name, None)
        self._told[name] = max(told, begin + len(whole))
        return whole[max(0, told - begin) :]
