"""The numbers that a daemon's commands inherit, on disk: an empty file for each life, whose name holds everything.

An empty file can't be torn and needs no repair. Nothing is synced: after a kill the kernel still has the page cache,
and after a power cut nothing runs any more.
"""

from pathlib import Path

SPAN = "span"


class ProcessLedger:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def claim(self, boot: str, top: int) -> None:
        """Record the numbers of this life's commands, see tags.py, for the daemon that follows after a kill."""
        (self._directory / f"{SPAN}.{top}.{boot}").touch()

    def claims(self) -> list[tuple[str, int]]:
        """Read the numbers; other files are left alone."""
        names = (path.name.split(".", 2) for path in self._directory.glob(f"{SPAN}.*.*"))
        return [(boot, int(top)) for _, top, boot in names if top.isdigit()]

    def withdraw(self, boot: str, top: int) -> None:
        (self._directory / f"{SPAN}.{top}.{boot}").unlink(missing_ok=True)
