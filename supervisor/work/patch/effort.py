"""The cost of a patch, counted while it is planned: bytes, files, lines, comparisons. Pure."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.work.patch.errors import PatchTooLarge

Item = TypeVar("Item")

NOTES = 10
STRIDE = 1024  # lines between two calls of `go_on`


class Effort:
    """The cost so far. `go_on` is called between steps, and raises when the plan is not wanted any more."""

    def __init__(self, bounds: Bounds = DEFAULTS, go_on: Callable[[], None] = lambda: None) -> None:
        self.bounds = bounds
        self.go_on = go_on
        self.bytes_left = bounds.patch_bytes
        self._lines = 0
        self._compared = 0
        self._paths: set[Path] = set()
        self.notes: list[str] = []  # for the model, if the patch is applied

    def note(self, text: str) -> None:
        if len(self.notes) < NOTES:
            self.notes.append(text)

    def spend_bytes(self, size: int) -> None:
        """Count the bytes of a file that is read, or that will be written."""
        self.go_on()
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise self.refusal("patch_bytes", "the patch reads and writes too much")

    def spend_lines(self, count: int) -> None:
        self.go_on()
        self._lines += count
        if self._lines > self.bounds.patch_lines:
            raise self.refusal("patch_lines", "the patch and the files that it changes have too many lines")

    def spend_comparisons(self, count: int) -> None:
        self.go_on()
        self._compared += count
        if self._compared > self.bounds.patch_compared_lines:
            raise self.refusal("patch_compared_lines", "it takes too long to find where the patch belongs")

    def spend_path(self, path: Path) -> None:
        """Count a file, and the directories that lead to it."""
        for entry in (path, *path.parents):
            if entry in self._paths:
                break
            self._paths.add(entry)
        if len(self._paths) > self.bounds.patch_files:
            raise self.refusal("patch_files", "the patch names too many files and directories")

    def walk(self, items: Iterable[Item]) -> Iterator[Item]:
        for number, item in enumerate(items):
            if not number % STRIDE:
                self.go_on()
            yield item

    def refusal(self, key: str, problem: str) -> PatchTooLarge:
        return PatchTooLarge(self.bounds.describe_excess(key, problem) + "; use several smaller patches")
