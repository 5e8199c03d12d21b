"""A module that is loaded at its first use, by threads that want it at the same moment."""

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from supervisor.daemon import lazy_modules

NAME = "module_that_a_test_loads_late"
WAIT_S = 20.0
SOURCE = """
import sys
loading, go_on = sys.late_gates
loading.set()
assert go_on.wait(20)
from module_that_a_test_loads_late import go_on as its_own
def late(): return "loaded"
"""


class Gates(NamedTuple):
    loading: threading.Event
    go_on: threading.Event


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, Gates]]:
    """The module, not loaded yet, and gates in the middle of its code."""
    (tmp_path / f"{NAME}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    loading, go_on = threading.Event(), threading.Event()
    monkeypatch.setattr(sys, "late_gates", (loading, go_on), raising=False)
    lazy_modules._load_late(NAME, None, ("late",))
    yield sys.modules[NAME], Gates(loading, go_on)
    del sys.modules[NAME]


def test_threads_that_ask_a_module_for_names_while_one_loads_it_wait_for_it(
    late: tuple[ModuleType, Gates],
) -> None:
    module, gates = late
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(lambda: module.its_own)
        assert gates.loading.wait(WAIT_S)
        threading.Timer(0.05, gates.go_on.set).start()  # behind what is asked now; who comes later finds it loaded
        others = [pool.submit(lambda: module.its_own), pool.submit(module.late), pool.submit(module.late)]
        assert first.result(WAIT_S) is others[0].result(WAIT_S)
        assert [one.result(WAIT_S) for one in others[1:]] == ["loaded", "loaded"]
    assert type(module) is ModuleType
