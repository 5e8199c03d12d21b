import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from supervisor import paths
from supervisor.paths import UnsafePath, config_files, locate, private_directory, socket_path

SOMEBODY_ELSE = os.getuid() + 1


@pytest.fixture
def narrow_umask() -> Iterator[None]:
    before = os.umask(0o277)
    yield
    os.umask(before)


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def test_greenroom_home_puts_everything_under_one_root() -> None:
    found = locate({"GREENROOM_HOME": "/g", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/", "HOME": "/h"})
    assert (found.config, found.state, found.run) == ("/g", "/g/state", "/g/run")
    assert found.config_file == "/g/config.toml"


def test_without_it_the_xdg_directories_are_used(tmp_path: Path) -> None:
    runtime = str(tmp_path)
    found = locate({"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": runtime, "HOME": "/h"})
    assert (found.config, found.state, found.run) == ("/c/greenroom", "/s/greenroom", f"{runtime}/greenroom")


def test_a_bare_environment_gets_the_directories_of_the_home() -> None:
    found = locate({"HOME": "/h"}, temp_root="/t")
    assert (found.config, found.state) == ("/h/.config/greenroom", "/h/.local/state/greenroom")
    assert found.run == f"/t/greenroom-{os.getuid()}"


def test_relative_and_empty_xdg_variables_are_ignored() -> None:
    found = locate(
        {"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": "r"}, temp_root="/t"
    )
    assert (found.config, found.state) == ("/h/.config/greenroom", "/h/.local/state/greenroom")
    assert found.run == f"/t/greenroom-{os.getuid()}"


@pytest.mark.parametrize("home", ["g", "./g", "~/g"])
def test_a_relative_home_is_refused_because_each_directory_would_have_a_daemon_of_its_own(home: str) -> None:
    with pytest.raises(UnsafePath, match="GREENROOM_HOME must be an absolute path"):
        locate({"GREENROOM_HOME": home})


def test_a_runtime_directory_that_is_gone_or_not_ours_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = {"HOME": "/h", "XDG_RUNTIME_DIR": str(tmp_path / "gone")}
    assert locate(gone, temp_root="/t").run == f"/t/greenroom-{os.getuid()}"
    monkeypatch.setattr(os, "getuid", lambda: SOMEBODY_ELSE)
    foreign = {"HOME": "/h", "XDG_RUNTIME_DIR": str(tmp_path)}
    assert locate(foreign, temp_root="/t").run == f"/t/greenroom-{SOMEBODY_ELSE}"


def test_our_files_are_looked_for_in_the_home_and_then_where_xdg_says() -> None:
    environ = {"GREENROOM_HOME": "/g", "XDG_CONFIG_HOME": "/c", "HOME": "/h"}
    assert config_files(environ) == ["/g/config.toml", "/c/greenroom/config.toml"]
    assert config_files({"HOME": "/h"}) == ["/h/.config/greenroom/config.toml"]


@pytest.mark.usefixtures("narrow_umask")
def test_a_private_directory_is_made_with_its_parents_whatever_the_umask(tmp_path: Path) -> None:
    made = private_directory(str(tmp_path / "a" / "b" / "c"))
    assert [mode(tmp_path / part) for part in ("a", "a/b", "a/b/c")] == [0o700] * 3
    Path(made, "inside").touch()


def test_a_directory_that_others_can_only_read_is_closed_to_them(tmp_path: Path) -> None:
    ours = tmp_path / "state"
    ours.mkdir()
    ours.chmod(0o755)
    private_directory(str(ours))
    assert mode(ours) == 0o700


@pytest.mark.parametrize("open_to", [0o770, 0o707, 0o777])
def test_a_directory_that_others_could_write_is_refused_with_the_remedy(tmp_path: Path, open_to: int) -> None:
    planted = tmp_path / "run"
    planted.mkdir()
    planted.chmod(open_to)
    with pytest.raises(UnsafePath, match=f"chmod 700 {planted}"):
        private_directory(str(planted))
    assert mode(planted) == open_to


def test_a_foreign_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = tmp_path / "run"
    foreign.mkdir(0o700)
    monkeypatch.setattr(os, "getuid", lambda: SOMEBODY_ELSE)
    with pytest.raises(UnsafePath, match="belongs to uid"):
        private_directory(str(foreign))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a link away")
def test_a_foreign_link_to_a_directory_of_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir(0o700)
    link = tmp_path / "run"
    link.symlink_to(tmp_path / "ours")
    private_directory(str(link))  # a link of our own is our own business
    os.lchown(link, 12345, 12345)
    with pytest.raises(UnsafePath, match="belongs to uid 12345"):
        private_directory(str(link))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
def test_a_link_of_ours_to_a_foreign_directory_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir(0o700)
    os.chown(foreign, 12345, 12345)
    link = tmp_path / "run"
    link.symlink_to(foreign)
    with pytest.raises(UnsafePath, match="leads to a directory of uid 12345"):
        private_directory(str(link))


@pytest.mark.parametrize("kind", ["file", "dangling link", "file above"])
def test_what_is_not_a_directory_is_refused(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "run"
    match kind:
        case "file":
            target.touch()
        case "dangling link":
            target.symlink_to(tmp_path / "nowhere")
        case _:
            (tmp_path / "above").touch()
            target = tmp_path / "above" / "run"
    with pytest.raises(UnsafePath, match="can't be used"):
        private_directory(str(target))


def test_checking_alone_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnsafePath):
        private_directory(str(tmp_path / "run"), create=False)
    assert not list(tmp_path.iterdir())


def test_many_at_once_all_get_the_same_directory(tmp_path: Path) -> None:
    gate = Barrier(16)

    def enter(_: int) -> str:
        gate.wait(timeout=10)  # bounded, so that a thread that never starts is seen here
        return private_directory(str(tmp_path / "a" / "b" / "run"))

    with ThreadPoolExecutor(16) as threads:
        assert set(threads.map(enter, range(16))) == {str(tmp_path / "a" / "b" / "run")}
    assert mode(tmp_path / "a" / "b" / "run") == 0o700


def test_a_short_socket_path_is_taken_as_it_is() -> None:
    assert socket_path(locate({"GREENROOM_HOME": "/g"})) == "/g/run/greenroom.sock"


def test_a_long_socket_path_becomes_a_short_one_that_depends_on_the_home_alone() -> None:
    home, other = "/" + "g" * 120, "/" + "g" * 121
    short = socket_path(locate({"GREENROOM_HOME": home}), temp_root="/t")
    assert str(Path(short).parent) == f"/t/greenroom-{os.getuid()}"
    assert len(os.fsencode(short)) < 104  # the smallest limit of the systems we know
    assert short == socket_path(locate({"GREENROOM_HOME": home, "TMPDIR": "/x"}), temp_root="/t")
    assert short != socket_path(locate({"GREENROOM_HOME": other}), temp_root="/t")


def test_the_longest_path_kept_is_the_longest_that_the_system_binds(tmp_path: Path) -> None:
    filler = paths.SOCKET_PATH_BYTES - 1 - len(f"{tmp_path}//run/greenroom.sock")
    home = tmp_path / ("ü" * (filler // 2) + "x" * (filler % 2))
    longest = socket_path(locate({"GREENROOM_HOME": str(home)}))
    assert longest == f"{home}/run/greenroom.sock"
    assert len(os.fsencode(longest)) == paths.SOCKET_PATH_BYTES - 1
    private_directory(str(Path(longest).parent))
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(longest)
    one_more = socket_path(locate({"GREENROOM_HOME": f"{home}x"}))
    assert str(Path(one_more).parent) == f"{paths.TEMP_ROOT}/greenroom-{os.getuid()}"


def test_importing_paths_loads_nothing_that_costs_time() -> None:
    imports = "import socket, json, sys, __future__; before = set(sys.modules); import supervisor.paths"
    program = f"{imports}; print(*set(sys.modules) - before)"
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root)
    assert set(run.stdout.split()) == {"supervisor", "supervisor.paths"}
