"""Exports and imports of a client in a test: their lines, by a file that is gone afterwards."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol


class Calls(Protocol):
    def call(self, method: str, **params: Any) -> Any: ...


@contextmanager
def file_of(lines: Iterable[str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "lines.jsonl")
        file.write_bytes("".join(f"{line}\n" for line in lines).encode())
        yield str(file)


def exported(client: Calls, conversation: str) -> list[str]:
    with file_of(()) as file:
        count = client.call("conversation/export", conversation=conversation, file=file)["lines"]
        lines = Path(file).read_bytes().decode().split("\n")
    assert lines.pop() == ""
    assert len(lines) == count
    return lines


def imported(client: Calls, lines: Iterable[str], **params: Any) -> dict[str, Any]:
    with file_of(lines) as file:
        made: dict[str, Any] = client.call("conversation/import", file=file, **params)
        return made
