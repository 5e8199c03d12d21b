"""The sandbox of an engine: made once, by the first that needs it, also to remove what a killed daemon left."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from supervisor.config.load import LoadedConfig, load
from supervisor.engine.late_sandbox import LateSandbox
from supervisor.paths import Paths, locate
from supervisor.work.sandbox.leftover_folders import is_anything_left, views_folder
from supervisor.work.sandbox.sandbox import Sandbox


def paths_in(home: Path) -> Paths:
    return locate({"HOME": str(home), "GREENROOM_HOME": str(home)})


def loaded_with(home: Path, instructions: str) -> LoadedConfig:
    file = home / "config.toml"
    file.write_text(f'experimental_instructions_file = "{home / instructions}"\n', encoding="utf-8")
    return load(str(file))


def test_several_threads_that_need_it_at_once_get_the_same(tmp_path: Path) -> None:
    late = LateSandbox(lambda: loaded_with(tmp_path, "a"), paths_in(tmp_path), {"HOME": str(tmp_path)})
    together = threading.Barrier(4, timeout=10)

    def got() -> Sandbox:
        together.wait()
        return late.get()

    with ThreadPoolExecutor(4) as pool:
        found = [one.result(10) for one in [pool.submit(got) for _ in range(4)]]
    assert all(one is found[0] for one in found)


def test_a_start_loads_it_only_where_an_earlier_life_left_something(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    late = LateSandbox(lambda: loaded_with(tmp_path, "a"), paths, {"HOME": str(tmp_path)})
    views = views_folder(Path(paths.leftovers))
    views.mkdir(parents=True)
    late.begin()
    late.end()
    assert views.exists(), "it was made, though there was nothing to remove"
    (views / "of a command" / "objects").mkdir(parents=True)
    assert is_anything_left(Path(paths.leftovers))
    late.begin()
    assert not is_anything_left(Path(paths.leftovers))


def test_a_config_that_was_read_again_counts_whether_it_is_made_by_then_or_not(tmp_path: Path) -> None:
    loaded = loaded_with(tmp_path, "first")
    late = LateSandbox(lambda: loaded, paths_in(tmp_path), {"HOME": str(tmp_path)})
    loaded = loaded_with(tmp_path, "second")
    late.reload()
    assert tmp_path / "second" in late.get().protection.files
    loaded = loaded_with(tmp_path, "third")
    late.reload()
    assert tmp_path / "third" in late.get().protection.files
    assert tmp_path / "second" not in late.get().protection.files
