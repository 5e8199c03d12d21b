"""The running processes, and the numbers they have inherited, on disk: empty files, whose names hold everything.

An empty file can't be torn and needs no repair. Nothing is synced: after a kill the kernel still has the page cache,
and after a power cut nothing runs any more.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path

SPAN = "span"


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    boot: str
    pid: int
    start: int

    @property
    def name(self) -> str:
        return f"{self.pid}.{self.start}.{self.boot}"


class ProcessLedger:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def add(self, entry: ProcessEntry) -> None:
        (self._directory / entry.name).touch()

    def remove(self, entry: ProcessEntry) -> None:
        (self._directory / entry.name).unlink(missing_ok=True)

    def claim(self, boot: str, top: int) -> None:
        """Record the numbers of this life's commands, see tags.py, for the daemon that follows after a kill."""
        (self._directory / f"{SPAN}.{top}.{boot}").touch()

    def claims(self) -> list[tuple[str, int]]:
        names = (path.name.split(".", 2) for path in self._directory.glob(f"{SPAN}.*.*"))
        return [(boot, int(top)) for _, top, boot in names if top.isdigit()]

    def withdraw(self, boot: str, top: int) -> None:
        (self._directory / f"{SPAN}.{top}.{boot}").unlink(missing_ok=True)

    def entries(self) -> list[ProcessEntry]:
        """Return the entries. Other files are left alone."""
        found = []
        for path in self._directory.iterdir():
            pid, _, rest = path.name.partition(".")
            start, _, boot = rest.partition(".")
            with contextlib.suppress(ValueError):
                found.append(ProcessEntry(boot, int(pid), int(start)))
        return found
