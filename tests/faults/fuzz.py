"""Three parsers of what others send, fuzzed with coverage by atheris: the model's stream, patches, framing.

Each target raises AssertionError for what must never happen; anything but its declared refusals counts too.

    pip install atheris
    python -m tests.faults.fuzz sse -max_total_time=60
"""

import contextlib
import importlib
import sys
from collections.abc import Callable

from supervisor.agents.own.model.sse import EventTooLarge, SseParser
from supervisor.work.patch.errors import PatchError
from supervisor.work.patch.grammar import parse
from tests.support.lines import fed
from transports import jsonrpc
from transports.framing import Line, LineSplitter, LineTooLong, TooMany

SMALL = 64  # a limit that is reached quickly


def pieces(data: bytes) -> tuple[bytes, list[bytes]]:
    """The rest of the data, whole and in pieces; its first byte decides the cuts."""
    step, rest = (data[0] % 7 + 1 if data else 1), data[1:]
    return rest, [rest[at : at + step] for at in range(0, len(rest), step)]


def sse(data: bytes) -> None:
    """Assert the same events however the stream is cut."""
    whole, cut = pieces(data)
    parser = SseParser()
    assert SseParser().feed(whole) == [event for piece in cut for event in parser.feed(piece)]
    with contextlib.suppress(EventTooLarge):
        small = SseParser(SMALL)
        for piece in cut:
            small.feed(piece)


def patch(data: bytes) -> None:
    """Assert that a text parses to operations or is refused in words."""
    with contextlib.suppress(PatchError):
        for operation in parse(data.decode(errors="replace")):
            assert operation.path


def framing(data: bytes) -> None:
    """Assert the same lines however they are cut, none over the limit, each a message or malformed."""
    whole, cut = pieces(data)
    together, apart = LineSplitter(SMALL), LineSplitter(SMALL)
    lines: list[Line] = [*fed(together, whole), *together.end()]
    others: list[Line] = [one for piece in cut for one in fed(apart, piece)]
    assert lines == [*others, *apart.end()]
    for line in lines:
        if isinstance(line, LineTooLong):
            assert line.size > SMALL
        elif isinstance(line, TooMany):
            assert line.size > line.limit
        else:
            assert 0 < len(line) <= SMALL
            assert b"\n" not in line
            jsonrpc.read(line)


TARGETS: dict[str, Callable[[bytes], None]] = {"sse": sse, "patch": patch, "framing": framing}


def main() -> None:
    target = TARGETS[sys.argv[1]]
    atheris = importlib.import_module("atheris")
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
