"""Dialects that are loaded after the daemon's start, when no descriptor is left to load them with."""

import errno
import importlib.abc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
from structlog.testing import capture_logs

from supervisor.daemon.dialects import load_the_rest

LATE = "transports.dialects.mcp.dialect"


class NoDescriptors(importlib.abc.MetaPathFinder):
    """An importer that fails as the system does when no descriptor is left."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        del path, target
        if name == LATE:
            raise OSError(errno.EMFILE, "Too many open files")
        return None


def test_a_daemon_without_descriptors_for_its_modules_goes_on_and_loads_them_when_they_are_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, LATE, raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoDescriptors(), *sys.meta_path])
    with capture_logs() as entries:
        load_the_rest()
    assert [entry["event"] for entry in entries] == ["dialects.loaded_later"]
    monkeypatch.undo()
    load_the_rest()
    assert LATE in sys.modules
