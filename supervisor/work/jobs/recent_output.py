"""The newest output of a job, by its place in the whole output. No I/O."""

from msgspec import Struct

from supervisor.work.processes.output import whole_length


class OutputPart(Struct, frozen=True):
    """Text from one place to the next. `lost` bytes before it were written and are not kept any more."""

    text: str
    next: int
    lost: int = 0


class RecentOutput:
    def __init__(self, keep_bytes: int) -> None:
        self._keep_bytes = keep_bytes
        self._kept = bytearray()
        self.end = 0  # the number of bytes written so far

    def add(self, data: bytes) -> None:
        self._kept += data
        self.end += len(data)
        if len(self._kept) > 2 * self._keep_bytes:  # twice, so that most pieces are added without moving the rest
            del self._kept[: len(self._kept) - self._keep_bytes]

    def read_from(self, place: int, most_bytes: int) -> OutputPart:
        """Return up to so many bytes from a place on, as text that cuts no character."""
        first = self.end - min(len(self._kept), self._keep_bytes)
        begin = max(first, min(place, self.end))
        offset = begin - (self.end - len(self._kept))
        data = bytes(self._kept[offset : offset + most_bytes])
        size = whole_length(data) if begin + len(data) < self.end else len(data)
        return OutputPart(data[:size].decode("utf-8", "replace"), begin + size, max(0, begin - place))

    def read_last(self, most_bytes: int) -> str:
        """Return the end of the output."""
        part = self.read_from(max(0, self.end - most_bytes), most_bytes)
        return part.text.lstrip("\ufffd")
