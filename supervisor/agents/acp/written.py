"""Output of a tool, as far as it was written: its head and its tail, and what is new in each report. Pure, bounded.

Some agents send the whole output again with every piece of it. That costs what is new: the part that was there is
compared and passed over. Others keep the end alone, so that their whole output has another beginning each time.
"""

OVERLAP = 256  # characters of the end by which an output that lost its beginning is recognised


class Written:
    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._head = ""
        self._tail: list[str] = []
        self._kept = 0  # characters in the tail
        self._length = 0  # of all that was written
        self._rewritten = 0  # characters that took the place of others and were told as new

    def __bool__(self) -> bool:
        return bool(self._length)

    def more(self, text: str) -> str:
        """Add a piece, and return what is new: all of it."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += text[:room]
        beyond = text[room:] if room > 0 else text
        if beyond:
            self._tail.append(beyond)
            self._kept += len(beyond)
            self._trim()
        self._length += len(text)
        return text

    def whole(self, text: str) -> str:
        """Take the whole output as it is now, and return what is new in it."""
        if self.goes_on(text):
            return self.more(text[self._length :])
        if self._head.startswith(text) and len(text) <= len(self._head):
            return ""  # an older report, or its beginning alone
        new = self._behind_the_overlap(text)
        if new is not None:
            return self.more(new)
        return self._instead(text)

    @property
    def text(self) -> str:
        """The head and the tail, and between them how much was left out."""
        tail = "".join(self._tail)
        left_out = self._length - len(self._head) - len(tail)
        return f"{self._head}\n[… {left_out:,} characters left out …]\n{tail}" if left_out else self._head + tail

    def _trim(self) -> None:
        """Cut the tail to its size once it is twice as long: so each character is copied a few times at most."""
        if self._kept > 2 * self._half:
            kept = "".join(self._tail)[-self._half :]
            self._tail, self._kept = [kept], len(kept)

    def goes_on(self, text: str) -> bool:
        """Tell whether a text is what was written, and maybe more."""
        tail = "".join(self._tail)
        self._tail = [tail] if tail else []
        return (
            len(text) >= self._length
            and text.startswith(self._head)
            and text.startswith(tail, self._length - len(tail))
        )

    def _behind_the_overlap(self, text: str) -> str | None:
        end = ("".join(self._tail) or self._head)[-OVERLAP:]
        at = text.rfind(end) if len(end) == OVERLAP else -1
        return text[at + OVERLAP :] if at >= 0 else None

    def _instead(self, text: str) -> str:
        """Begin anew with another text. Readers get it as long as such texts are not longer than what is kept."""
        told = self._rewritten + len(text) <= 2 * self._half
        self._rewritten += len(text)
        self._head, self._tail, self._kept, self._length = "", [], 0, 0
        self.more(text)
        return text if told else ""
