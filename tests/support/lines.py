"""Bytes to lines in one go."""

from transports.framing import Line, LineSplitter


def fed(splitter: LineSplitter, chunk: bytes) -> list[Line]:
    """The lines that this chunk completes, in order."""
    splitter.put(chunk)
    return splitter.take(len(chunk) + 1)
