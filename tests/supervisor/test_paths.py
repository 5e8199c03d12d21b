import os
import pwd
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from supervisor.daemon.connecting import dial
from supervisor.daemon.daemon_lock import DaemonLock
from supervisor.paths import UnsafePath, addresses, config_files, locate, private_directory, remember, socket_path
from transports.address import PATH_LIMIT, use_short_path

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
    assert (found.config, found.state, found.run) == ("/c/greenroom", "/s/greenroom", "/s/greenroom/run")


def test_a_bare_environment_gets_the_directories_of_the_home() -> None:
    found = locate({"HOME": "/h"})
    assert (found.config, found.state) == ("/h/.config/greenroom", "/h/.local/state/greenroom")
    assert found.socket == "/h/.local/state/greenroom/run/greenroom.sock"


def test_relative_and_empty_xdg_variables_are_ignored() -> None:
    found = locate({"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": "r"})
    assert (found.config, found.state) == ("/h/.config/greenroom", "/h/.local/state/greenroom")


def test_a_home_by_another_name_is_the_same_home(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name in ("HOME", "GREENROOM_HOME"):
        by_link, by_name = (locate({"HOME": "/h", name: str(tmp_path / one)}) for one in ("link", "real"))
        assert (by_link.state, by_link.socket) == (by_name.state, by_name.socket)


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_the_users_own_is_taken(environ: dict[str, str]) -> None:
    assert locate(environ).state == f"{os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)}/.local/state/greenroom"


def test_a_user_without_a_home_anywhere_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    with pytest.raises(UnsafePath, match="set HOME or GREENROOM_HOME"):
        locate({})


# --- a home that XDG variables have moved ---------------------------------------------------------------------------


def moved_home(base: Path) -> dict[str, str]:
    """A HOME whose daemon was started with variables that a later client may lack."""
    environ = {"HOME": str(base), "XDG_STATE_HOME": f"{base}/s", "XDG_CONFIG_HOME": f"{base}/c"}
    found = locate(environ)
    private_directory(found.state)
    private_directory(found.config)
    Path(found.journal_file).touch()
    remember(found)
    return environ


@pytest.mark.parametrize("lacks", [("XDG_STATE_HOME",), ("XDG_CONFIG_HOME",), ("XDG_STATE_HOME", "XDG_CONFIG_HOME")])
def test_a_client_without_the_xdg_variables_finds_what_they_have_moved(
    tmp_path: Path, lacks: tuple[str, ...]
) -> None:
    environ = moved_home(tmp_path)
    stripped = {name: value for name, value in environ.items() if name not in lacks}
    assert repr(locate(stripped)) == repr(locate(environ))


def test_a_journal_in_the_usual_place_goes_before_one_that_was_moved(tmp_path: Path) -> None:
    moved_home(tmp_path)
    usual = tmp_path / ".local" / "state" / "greenroom"
    (usual / "journal.sqlite3").touch()
    found = locate({"HOME": str(tmp_path)})
    assert (found.state, found.config) == (str(usual), f"{tmp_path}/.config/greenroom")


def test_a_moved_home_that_is_gone_is_followed_no_more(tmp_path: Path) -> None:
    environ = moved_home(tmp_path)
    Path(locate(environ).journal_file).unlink()
    assert locate({"HOME": str(tmp_path)}).state == str(tmp_path / ".local" / "state" / "greenroom")


def test_a_variable_that_names_an_empty_place_does_not_hide_the_journal_that_the_home_has(tmp_path: Path) -> None:
    """An editor without the variable was first: a terminal with it is to find the same daemon."""
    usual = locate({"HOME": str(tmp_path)})
    private_directory(usual.state)
    Path(usual.journal_file).touch()
    environ = {"HOME": str(tmp_path), "XDG_STATE_HOME": f"{tmp_path}/s"}
    assert locate(environ).state == usual.state
    named = tmp_path / "s" / "greenroom"
    named.mkdir(parents=True)
    (named / "journal.sqlite3").touch()
    assert locate(environ).state == str(named)  # a journal there is what the variable means


def test_a_home_in_its_usual_place_leaves_no_word(tmp_path: Path) -> None:
    remember(locate({"HOME": str(tmp_path)}))
    remember(locate({"GREENROOM_HOME": str(tmp_path / "g"), "XDG_STATE_HOME": str(tmp_path / "s")}))
    assert list(tmp_path.iterdir()) == []


def test_a_garbled_word_about_a_moved_home_is_no_word(tmp_path: Path) -> None:
    environ = moved_home(tmp_path)
    Path(tmp_path / ".local/state/greenroom/moved").write_bytes(b"\xff\0 one line")
    assert locate({"HOME": str(tmp_path)}).state == str(tmp_path / ".local" / "state" / "greenroom")
    assert locate(environ).state == f"{tmp_path}/s/greenroom"


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("home", ["g", "./g", "~/g"])
def test_a_relative_home_is_refused_because_each_directory_would_have_a_daemon_of_its_own(home: str) -> None:
    with pytest.raises(UnsafePath, match="GREENROOM_HOME must be an absolute path"):
        locate({"GREENROOM_HOME": home})


def test_our_files_are_looked_for_in_the_home_and_then_where_xdg_says() -> None:
    environ = {"GREENROOM_HOME": "/g", "XDG_CONFIG_HOME": "/c", "HOME": "/h"}
    assert config_files(environ) == ["/g/config.toml", "/c/greenroom/config.toml"]
    assert config_files({"HOME": "/h"}) == ["/h/.config/greenroom/config.toml"]


@pytest.mark.usefixtures("narrow_umask")
def test_a_directory_with_the_files_of_others_is_not_closed_to_them(tmp_path: Path) -> None:
    theirs = tmp_path / "run"
    theirs.mkdir(mode=0o755)
    theirs.chmod(0o755)
    (theirs / "something.pid").touch()
    with pytest.raises(UnsafePath, match="holds files of others"):
        private_directory(str(theirs))
    assert mode(theirs) == 0o755
    (theirs / "daemon.lock").touch()
    private_directory(str(theirs))
    assert mode(theirs) == 0o700


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
def test_a_home_that_is_no_directory_is_refused(tmp_path: Path, kind: str) -> None:
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


def test_every_directory_that_has_the_socket_is_hidden_and_whatever_is_ours_is_protected() -> None:
    found = locate({"HOME": "/h", "XDG_STATE_HOME": "/s"})
    assert found.hidden_directories == ("/s/greenroom", "/s/greenroom/run")
    assert set(found.protected_directories) == {
        *("/s/greenroom", "/s/greenroom/run", "/h/.config/greenroom", "/h/.local/state/greenroom")
    }
    assert found.listening_at("/t/x/s.sock").hidden_directories == ("/s/greenroom", "/s/greenroom/run", "/t/x")


def test_a_daemon_that_listens_elsewhere_is_found_by_what_its_lock_says(tmp_path: Path) -> None:
    found = locate({"GREENROOM_HOME": str(tmp_path)})
    assert list(addresses(found)) == [found.socket]
    private_directory(found.state)
    lock = DaemonLock(found.lock_file)
    lock.tell(f"{tmp_path}/elsewhere.sock")
    assert list(addresses(found)) == [found.socket, f"{tmp_path}/elsewhere.sock"]
    Path(f"{tmp_path}/elsewhere.sock").touch()
    assert socket_path(found) == f"{tmp_path}/elsewhere.sock"
    lock.release()
    assert socket_path(found) == found.socket


@pytest.mark.parametrize("more", [-1, 0, 1, 400])
def test_a_client_reaches_a_socket_however_deep_its_home_lies(tmp_path: Path, more: int) -> None:
    """By a path that just fits into an address, and by those that don't."""
    room = PATH_LIMIT - len(f"{tmp_path}//run/greenroom.sock") + more
    home = tmp_path / ("a" * room if room < 200 else "a" * 200 + "/" + "a" * (room - 201))
    found = locate({"GREENROOM_HOME": str(home)})
    assert len(found.socket) == PATH_LIMIT + more
    private_directory(found.run)
    assert dial(found, lambda: socket.socket(socket.AF_UNIX)) is None
    with socket.socket(socket.AF_UNIX) as listener:
        use_short_path(found.socket, listener.bind)
        listener.listen()
        client = dial(found, lambda: socket.socket(socket.AF_UNIX))
        assert client is not None
        client.close()


@pytest.mark.parametrize("kind", ["file", "directory", "link", "fifo"])
def test_whatever_lies_in_the_sockets_place_is_named_with_the_remedy(tmp_path: Path, kind: str) -> None:
    found = locate({"GREENROOM_HOME": str(tmp_path)})
    private_directory(found.run)
    make: dict[str, Callable[[Path], object]] = {
        "file": Path.touch,
        "directory": Path.mkdir,
        "link": lambda at: at.symlink_to("/no"),
        "fifo": os.mkfifo,
    }
    make[kind](Path(found.socket))
    with pytest.raises(UnsafePath, match=f"{found.socket} is in the way.*remove it"):
        dial(found, lambda: socket.socket(socket.AF_UNIX))


def test_nobody_is_greeted_in_a_directory_of_somebody_else(tmp_path: Path) -> None:
    found = locate({"GREENROOM_HOME": str(tmp_path / "g")})
    private_directory(found.state)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    theirs.chmod(0o777)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(theirs / "s"))
        listener.listen()
        Path(found.lock_file).write_text(f"pid 1, socket {theirs}/s")
        assert dial(found, lambda: socket.socket(socket.AF_UNIX)) is None
        private_directory(found.run)
        Path(found.run).chmod(0o777)
        with pytest.raises(UnsafePath):
            dial(found, lambda: socket.socket(socket.AF_UNIX))


def test_root_by_sudo_makes_nothing_in_the_home_of_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", str(SOMEBODY_ELSE))
    monkeypatch.setattr(os, "getuid", lambda: 0)
    real = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path: os.stat_result((*real(path)[:4], SOMEBODY_ELSE, *real(path)[5:])))
    with pytest.raises(UnsafePath, match="leave sudo out"):
        private_directory(str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_the_way_to_a_daemon_loads_nothing_that_costs_time() -> None:
    imports = "import socket, json, sys, __future__; before = set(sys.modules); import supervisor.daemon.connecting"
    program = f"{imports}; print(*set(sys.modules) - before)"
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root)
    assert set(run.stdout.split()) == {
        "supervisor",
        "supervisor.paths",
        "supervisor.daemon",
        "supervisor.daemon.connecting",
    }
