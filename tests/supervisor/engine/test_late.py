"""Parts that are made when they are first needed, and the sandbox of an engine."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from supervisor.config.load import LoadedConfig, load
from supervisor.engine.late import Late
from supervisor.paths import locate
from supervisor.work.sandbox.leftover_folders import is_anything_left, views_folder
from tests.support.engine_harness import EngineHarness

WAIT_S = 10.0


def environ_in(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "GREENROOM_HOME": str(home / "config")}


def loaded_with(home: Path, instructions: str) -> LoadedConfig:
    file = home / "config" / "config.toml"
    file.write_text(f'experimental_instructions_file = "{home / instructions}"\n', encoding="utf-8")
    return load(str(file))


def test_several_threads_that_need_a_part_at_once_get_the_same() -> None:
    late = Late(object)
    together = threading.Barrier(4, timeout=WAIT_S)

    def got() -> object:
        together.wait()
        return late.get()

    with ThreadPoolExecutor(4) as pool:
        found = [got_by.result(WAIT_S) for got_by in [pool.submit(got) for _ in range(4)]]
    assert all(part is found[0] for part in found)


def test_a_part_that_could_not_be_made_is_made_by_the_next_who_needs_it() -> None:
    outcomes = [OSError("no descriptor left"), None]

    def make() -> str:
        if failure := outcomes.pop(0):
            raise failure
        return "made"

    late = Late(make)
    with pytest.raises(OSError, match="no descriptor"):
        late.get()
    assert late.made is None
    assert late.get() == late.made == "made"


@pytest.mark.parametrize("left", [False, True])
def test_a_start_loads_the_sandbox_only_where_an_earlier_life_left_something(tmp_path: Path, left: bool) -> None:
    paths = locate(environ_in(tmp_path))
    leftovers = Path(paths.leftovers)
    (tmp_path / "config").mkdir()
    Path(paths.state).mkdir(mode=0o700)
    views = views_folder(leftovers)
    (views / "of a command" / "objects" if left else views).mkdir(parents=True)
    with EngineHarness(tmp_path) as harness:
        assert (harness.engine.sandbox.made is not None) == left
        assert not is_anything_left(leftovers)


def test_a_config_that_was_read_again_counts_whether_the_sandbox_is_made_by_then_or_not(tmp_path: Path) -> None:
    with EngineHarness(tmp_path) as harness:
        engine = harness.engine
        engine.reload(loaded_with(tmp_path, "first"))
        assert tmp_path / "first" in engine.sandbox.get().protection.files
        engine.reload(loaded_with(tmp_path, "second"))
        assert tmp_path / "second" in engine.sandbox.get().protection.files
        assert tmp_path / "first" not in engine.sandbox.get().protection.files


def test_a_part_in_the_making_is_changed_once_it_is_made() -> None:
    making, go_on = threading.Event(), threading.Event()

    def make() -> list[str]:
        making.set()
        assert go_on.wait(WAIT_S)
        return ["made"]

    late = Late(make)
    with ThreadPoolExecutor(2) as pool:
        got = pool.submit(late.get)
        assert making.wait(WAIT_S)
        changed = pool.submit(late.if_made, lambda part: part.append("changed"))
        go_on.set()
        changed.result(WAIT_S)
        assert got.result(WAIT_S) == ["made", "changed"]
