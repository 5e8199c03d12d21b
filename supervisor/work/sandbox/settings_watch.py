"""Watches the settings of a project while a program that may write runs there: a look each second.

A single thread looks for all watches, and sleeps while there are none. Any thread begins and ends a watch; both may
wait for the disk.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from supervisor.work.reach.found_settings import FoundSettings
from supervisor.work.reach.project_settings import settings_in
from supervisor.work.sandbox.new_settings import set_aside

LOOK_S = 1.0  # between looks; each takes a millisecond
ENTRIES = 1_000  # of an approved folder of settings that are compared

State = tuple[tuple[str, int, int], ...]


class _Watch:
    """The settings of the watched projects, those that were approved since, and the findings."""

    def __init__(self, before: Mapping[Path, FoundSettings], findings: list[str]) -> None:
        self._before, self._findings = before, findings
        self._accepted: dict[Path, State | None] = {}  # None: it is being written
        self._goes_on = True
        self._lock = threading.Lock()  # held for a look

    def look(self) -> None:
        with self._lock:
            if self._goes_on:
                self._set_aside()

    def end(self) -> None:
        with self._lock:
            self._goes_on = False
            self._set_aside()

    def accept(self, paths: Iterable[Path], *, written: bool) -> None:
        with self._lock:
            self._accepted |= {path: _state(path) if written else None for path in paths}

    def _set_aside(self) -> None:
        """Look, but skip approved settings that are unchanged since."""
        accepted = {path for path, state in self._accepted.items() if state is None or state == _state(path)}
        self._findings.extend(set_aside(self._before, accepted))


class _Lookout:
    def __init__(self) -> None:
        self._watches: dict[_Watch, None] = {}
        self._changed = threading.Condition()  # guards the watches
        self._thread: threading.Thread | None = None

    @property
    def watches(self) -> tuple[_Watch, ...]:
        with self._changed:
            return tuple(self._watches)

    def begin(self, watch: _Watch) -> None:
        with self._changed:
            self._watches[watch] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="settings", daemon=True)
                self._thread.start()
            self._changed.notify()

    def end(self, watch: _Watch) -> None:
        with self._changed:
            del self._watches[watch]

    def _look(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._watches)
            time.sleep(LOOK_S)
            for watch in self.watches:
                watch.look()


_lookout = _Lookout()


@contextlib.contextmanager
def watch_settings(before: Mapping[Path, FoundSettings], findings: list[str]) -> Iterator[None]:
    """Set new settings aside until the context is left; `findings` has a text about each."""
    if not before:
        yield
        return
    watch = _Watch(before, findings)
    _lookout.begin(watch)
    try:
        yield
    finally:
        _lookout.end(watch)
        watch.end()


@contextlib.contextmanager
def allow_writes(paths: Iterable[Path]) -> Iterator[None]:
    """Allow our own writes to these resolved paths during watches: a person has approved them, as they will be."""
    settings = [Path(*path.parts[: at + 1]) for path in paths for at, _ in settings_in(path.parts)]
    watches = _lookout.watches if settings else ()
    for watch in watches:
        watch.accept(settings, written=False)
    try:
        yield
    finally:
        for watch in watches:
            watch.accept(settings, written=True)


def _state(path: Path) -> State:
    """Return the state of a setting's files: a change of any of them changes it."""
    inside = (Path(at, name) for at, folders, files in os.walk(path) for name in (*folders, *files))
    found = []
    for entry in (path, *islice(inside, ENTRIES)):
        with contextlib.suppress(OSError):
            stat = entry.lstat()
            found.append((str(entry), stat.st_ino, stat.st_ctime_ns))
    return tuple(sorted(found))
