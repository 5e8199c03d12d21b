"""Bytes to whole lines with their newline: every byte is looked at once. Standard library only."""

LIMIT = 64 << 20  # bytes of one line; the daemon takes 16 MiB, unless its config says otherwise, and refuses more


class LineReader:
    """Splits bytes into lines. `skipped` counts the dropped lines over the limit."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.skipped = 0
        self._limit = limit
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that these bytes complete."""
        end = data.rfind(b"\n") + 1
        whole = self._complete_lines(data[:end]) if end else []
        self._keep(data[end:] if end else data)
        return whole

    def end(self) -> list[bytes]:
        """End the input: a last line without a newline gets one."""
        last, self._rest = bytes(self._rest), bytearray()
        return [last + b"\n"] if last else []

    def _complete_lines(self, data: bytes) -> list[bytes]:
        if self._skipping:
            self._skipping = False
            data = data[data.index(b"\n") + 1 :]
        whole, self._rest = self._rest + data, bytearray()
        return [bytes(line) + b"\n" for line in whole.split(b"\n")[:-1]]

    def _keep(self, rest: bytes) -> None:
        if self._skipping:
            return
        self._rest += rest
        if len(self._rest) > self._limit:
            self._rest, self._skipping = bytearray(), True
            self.skipped += 1
