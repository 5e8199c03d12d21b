"""The output of a tool so far: keeps its head and its tail, and finds the new part of each report. Pure, bounded.

Some agents send the whole output again with every piece of it: the known part is compared and skipped. Others keep
only the end, so that their whole output has another beginning each time.
"""

OVERLAP = 256  # characters of the known end by which an output without its beginning is recognised


class OutputSoFar:
    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._head = ""
        self._tail: list[str] = []
        self._kept = 0  # characters in the tail
        self._length = 0  # characters of the whole output
        self._rewritten = 0  # characters of outputs that replaced the earlier one

    def __bool__(self) -> bool:
        return bool(self._length)

    def add(self, text: str) -> str:
        """Add a piece, and return it: all of it is new."""
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

    def take_whole(self, text: str) -> str:
        """Take the whole output as it is now, and return its new part."""
        if self.goes_on(text):
            return self.add(text[self._length :])
        if self._head.startswith(text) and len(text) <= len(self._head):
            return ""  # an older report, or its beginning alone
        new = self._after_overlap(text)
        if new is not None:
            return self.add(new)
        return self._start_over(text)

    @property
    def text(self) -> str:
        """The head and the tail, with a note between them of how much was left out."""
        tail = "".join(self._tail)
        left_out = self._length - len(self._head) - len(tail)
        return f"{self._head}\n[… {left_out:,} characters left out …]\n{tail}" if left_out else self._head + tail

    def _trim(self) -> None:
        """Cut the tail to its size once it is twice as long, so that no character is copied more than a few times."""
        if self._kept > 2 * self._half:
            kept = "".join(self._tail)[-self._half :]
            self._tail, self._kept = [kept], len(kept)

    def goes_on(self, text: str) -> bool:
        """Tell whether a text begins with the known output."""
        tail = "".join(self._tail)
        self._tail = [tail] if tail else []
        return (
            len(text) >= self._length
            and text.startswith(self._head)
            and text.startswith(tail, self._length - len(tail))
        )

    def _after_overlap(self, text: str) -> str | None:
        end = ("".join(self._tail) or self._head)[-OVERLAP:]
        at = text.rfind(end) if len(end) == OVERLAP else -1
        return text[at + OVERLAP :] if at >= 0 else None

    def _start_over(self, text: str) -> str:
        """Begin again with another text. It counts as new, until all such texts are longer than the kept output."""
        fits = self._rewritten + len(text) <= 2 * self._half
        self._rewritten += len(text)
        self._head, self._tail, self._kept, self._length = "", [], 0, 0
        self.add(text)
        return text if fits else ""
