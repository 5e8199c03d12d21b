"""A command's output, bounded: head and tail are kept, the middle is counted. Doesn't know the bytes' source."""

from collections.abc import Awaitable, Callable
from typing import Literal

Stream = Literal["stdout", "stderr"]
Take = Callable[[Stream, bytes], Awaitable[None]]

KEEP_BYTES = 128 * 1024  # per stream, for history and model: more than either needs
LIVE_BYTES = 1024 * 1024  # per stream, shown while it runs; a watcher can't read more


class Capture:
    """The first and the last half of `keep` bytes. Costs the same for ten lines and for ten gigabytes."""

    def __init__(self, keep: int = KEEP_BYTES) -> None:
        self._head_room = keep - keep // 2
        self._tail_room = keep // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        if room := self._head_room - len(self._head):
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_room:  # twice, so that most pieces are appended without moving the rest
            del self._tail[: len(self._tail) - self._tail_room]

    @property
    def omitted_bytes(self) -> int:
        """The number of bytes that are left out from the middle."""
        return max(0, self.total - self._head_room - self._tail_room)

    def text(self) -> str:
        """Decode, with replacements for bytes that aren't UTF-8, no character cut in two, and the size of the gap."""
        if not self.omitted_bytes:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = self._head[: whole_length(self._head)]
        tail = self._tail[len(self._tail) - self._tail_room :]
        while tail and tail[0] & 0xC0 == 0x80 and len(tail) > self._tail_room - 3:
            del tail[0]
        left_out = self.total - len(head) - len(tail)
        return (
            f"{head.decode('utf-8', 'replace')}\n[… {left_out} bytes left out …]\n{tail.decode('utf-8', 'replace')}"
        )


class Output:
    """The target of a command's output: pieces go to `take` while it runs, one at a time, and all to the captures.

    It belongs to the caller, so that output from before an interrupt is kept.
    """

    def __init__(self, take: Take, *, keep_bytes: int = KEEP_BYTES, live_bytes: int = LIVE_BYTES) -> None:
        self.take = take
        self.live_bytes = live_bytes
        self.stdout = Capture(keep_bytes)
        self.stderr = Capture(keep_bytes)


def whole_length(data: bytes | bytearray) -> int:
    """Return the length without a character that is cut at the end. Binary data counts as whole."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needs = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return len(data) - back if needs > back else len(data)
    return len(data)
