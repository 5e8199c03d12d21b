"""The sandbox, imported when a program is first to be confined: an idle daemon confines nothing.

Any thread: a status asks for it, or the worker thread that loads the agent. The first of them makes it, under a lock.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from supervisor.config.load import LoadedConfig
from supervisor.paths import Paths
from supervisor.work.sandbox.leftover_folders import is_anything_left

if TYPE_CHECKING:
    from supervisor.work.sandbox.roots import Protection
    from supervisor.work.sandbox.sandbox import Sandbox


class LateSandbox:
    def __init__(
        self,
        loaded: Callable[[], LoadedConfig],
        paths: Paths,
        environ: Mapping[str, str],
        given: Callable[[], Sequence[str]] = tuple,
        after_probe: Callable[[], object] = lambda: None,
    ) -> None:
        """`given`: the words of commands that clients gave, and that run outside of the sandbox.

        `after_probe` is called after the trial whether the sandbox works.
        """
        self._given = given
        self._after_probe = after_probe
        self._loaded = loaded
        self._paths = paths
        self._environ = environ
        self._leftovers = Path(paths.leftovers)
        self._made: Sandbox | None = None
        self._lock = threading.Lock()

    def get(self) -> "Sandbox":
        """Return the sandbox. Blocking at the first call, for as long as an import takes."""
        from supervisor.work.sandbox.sandbox import Sandbox

        with self._lock:
            if self._made is None:
                self._made = Sandbox(self._protection(), self._leftovers, self._after_probe)
            return self._made

    def works(self) -> bool:
        """Tell whether commands can be confined here. Blocking: it is tried out."""
        return self.get().availability.ok

    def begin(self) -> None:
        """Remove the files that commands of a killed daemon left on disk. Blocking; before the first command."""
        if is_anything_left(self._leftovers):
            self.get().begin()

    def reload(self) -> None:
        """Protect the files that the config names now. The lock keeps a sandbox in the making from missing them."""
        with self._lock:
            if self._made is not None:
                self._made.protection = self._protection()

    def end(self) -> None:
        with self._lock:
            if self._made is not None:
                self._made.end()

    def _protection(self) -> "Protection":
        from supervisor.engine.protection import protection

        return protection(self._loaded(), self._paths, self._environ, self._given())
