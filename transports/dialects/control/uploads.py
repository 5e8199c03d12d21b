"""Lines that come in several requests, put together. One client's, in memory: they go with its connection."""

from actors.errors import InvalidInput

MOST_BYTES = 512 << 20  # of all that is under way; a conversation of a hundred thousand events is a tenth of it


class Uploads:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._under_way: dict[str, list[str]] = {}
        self._bytes = 0

    def add(self, name: str, lines: tuple[str, ...]) -> int | InvalidInput:
        """How many there are now. What is too much is forgotten from its beginning."""
        gathered = self._under_way.setdefault(name, [])
        gathered.extend(lines)
        self._bytes += _size(lines)
        if self._bytes > self._most:
            self.take(name)
            return InvalidInput(f"an upload of more than {self._most} bytes")
        return len(gathered)

    def take(self, name: str) -> tuple[str, ...]:
        """All of it; from here on there is no such upload."""
        lines = tuple(self._under_way.pop(name, ()))
        self._bytes -= _size(lines)
        return lines


def _size(lines: tuple[str, ...]) -> int:
    return sum(map(len, lines))
