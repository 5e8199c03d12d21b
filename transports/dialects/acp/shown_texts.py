"""The length that a client has of each unfinished text, so that no text is sent twice. Pure.

A subscription that begins anew gets an unfinished text from its beginning, and a finished text whole.
"""

from collections.abc import Mapping

from transports.dialects.kit.bounded import Bounded

SECTION = "#"  # separates the id of a text from the number of its part
UNSURE = -1  # pieces are missing: the rest comes with the finished text


class ShownTexts:
    def __init__(self, shown: Mapping[str, int]) -> None:
        """`shown`: the number of characters of each message that the client has from an earlier connection."""
        self._told: Bounded[str, int] = Bounded()
        self._heard: Bounded[str, int] = Bounded()  # characters received by this subscription
        for message, count in shown.items():
            name, _, part = message.partition(SECTION)
            name = name if part.isdecimal() else message
            self._told[name] = self._told.get(name, 0) + count

    def begin_anew(self) -> None:
        """Begin a subscription: unfinished texts come from their beginning."""
        self._heard.clear()

    def lose(self, name: str) -> None:
        """Note that part of the text did not come."""
        self._heard[name] = UNSURE

    def piece(self, name: str, text: str) -> str:
        """The part of the next piece that is new to the client."""
        heard, known = self._heard.get(name, 0), self._told.get(name, 0)
        if heard == UNSURE:
            return ""
        self._heard[name] = heard + len(text)
        self._told[name] = max(known, heard + len(text))
        return text[max(0, known - heard) :]

    def rest(self, name: str, whole: str, begin: int = 0) -> str:
        """The part of a finished text that is new to the client; `begin`: where this text begins in its item."""
        known = self._told.get(name, 0)
        self._heard.pop(name, None)
        self._told[name] = max(known, begin + len(whole))
        return whole[max(0, known - begin) :]
