"""Keeps a name from being created: an empty directory stands there for as long as a command runs, to mount on.

A mount needs something to cover. git doesn't take an empty `.git` for a repository, and goes on looking above it.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path


class Placeholders:
    def __init__(self) -> None:
        self._held: Counter[Path] = Counter()  # commands beside each other may hold the same one

    @contextlib.contextmanager
    def held(self, paths: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
        """Yields those that are there now. Where we may not create one, the command may not either."""
        standing = tuple(path for path in paths if self._put(path))
        self._held.update(standing)
        try:
            yield standing
        finally:
            self._held.subtract(standing)
            for path in standing:
                if not self._held[path]:
                    del self._held[path]
                    with contextlib.suppress(OSError):  # somebody outside has made a repository of it meanwhile
                        path.rmdir()

    def _put(self, path: Path) -> bool:
        with contextlib.suppress(OSError):
            path.mkdir()
        return path.is_dir()
