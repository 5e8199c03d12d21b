"""Places that are not as they should be: one line that says what is wrong and where, and no traceback."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from supervisor.cli.verbs import VERBS
from tests.supervisor.cli.place import PROGRAM, Place

NEEDS = {  # a verb's words beyond its name; none of them is to begin a daemon or wait for a terminal
    **dict.fromkeys(
        ("attach", "logs", "inspect", "restart", "archive", "interrupt", "wait", "export", "fork"), ("x",)
    ),
    **dict.fromkeys(("send", "rename", "events"), ("x", "y")),
    "unarchive": ("x",),
    "rm": ("x",),
    "import": ("nowhere.json",),
    "config": ("check",),
    "service": ("status",),
    "approve": ("x",),
    "deny": ("x",),
    "completion": ("bash",),
}
LEFT_OUT = {"mcp", "demo", "run", "up", "new", "man"}  # of these the next tests have those that start a daemon
STARTERS = (("up",), ("run", "hello"))
Spoil = Callable[[Place], None]


def words_of_every_verb() -> Iterator[tuple[str, ...]]:
    for verb in VERBS:
        if verb.name not in LEFT_OUT:
            yield (verb.name, *NEEDS.get(verb.name, ()))


def no_home(place: Place) -> None:
    place.env["HOME"] = place.env["GREENROOM_HOME"] = "/proc/nowhere"


def a_home_that_is_a_file(place: Place) -> None:
    (place.base / "file").touch()
    place.env["HOME"] = place.env["GREENROOM_HOME"] = str(place.base / "file")


def a_relative_home(place: Place) -> None:
    place.env["GREENROOM_HOME"] = "here"


def home_unset(place: Place) -> None:
    del place.env["HOME"]


def xdg_that_is_a_file(place: Place) -> None:
    del place.env["GREENROOM_HOME"]
    (place.base / "file").touch()
    place.env["XDG_STATE_HOME"] = place.env["XDG_CONFIG_HOME"] = str(place.base / "file")


def a_config_that_is_a_directory(place: Place) -> None:
    (place.home / "config.toml").unlink()
    (place.home / "config.toml").mkdir()


def a_state_that_others_may_write(place: Place) -> None:
    for name in ("state", "run"):
        (place.home / name).mkdir()
        (place.home / name).chmod(0o777)


def a_dumb_terminal(place: Place) -> None:
    place.env.pop("TERM")
    place.env.update(LC_ALL="C", LANG="C", COLUMNS="0")


SPOILT: list[Spoil] = [
    *(no_home, a_home_that_is_a_file, a_relative_home, home_unset, xdg_that_is_a_file),
    *(a_config_that_is_a_directory, a_state_that_others_may_write, a_dumb_terminal),
]
STARTS_ALL_THE_SAME = (home_unset, a_dumb_terminal)


@pytest.mark.parametrize("spoil", SPOILT)
def test_no_verb_ends_in_a_traceback(quiet: Place, spoil: Spoil) -> None:
    spoil(quiet)
    for words in words_of_every_verb():
        done = quiet.run(*words, code=None)
        assert "Traceback" not in done.stderr, words
        assert done.returncode == 0 or done.stderr or words[0] in {"doctor", "service"}, words


@pytest.mark.parametrize("words", STARTERS)
@pytest.mark.parametrize("spoil", [one for one in SPOILT if one not in STARTS_ALL_THE_SAME])
def test_a_daemon_that_can_not_start_says_where_it_is_stuck(
    quiet: Place, spoil: Spoil, words: tuple[str, ...]
) -> None:
    spoil(quiet)
    done = quiet.run(*words, code=None)
    assert done.returncode in {1, 2, 4}
    (line,) = done.stderr.splitlines()
    assert "[Errno" not in line
    assert any(place in line for place in ("GREENROOM_HOME", str(quiet.base), "/proc/nowhere"))


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], check=False)
    if mounted.returncode != 0:
        pytest.skip("this system does not let us mount")
    (disk / "home").mkdir(mode=0o700)
    with (disk / "rest").open("wb", buffering=0) as rest:
        while True:
            try:
                rest.write(bytes(4096))
            except OSError:
                break
    yield disk / "home"
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
@pytest.mark.parametrize("words", [("up",), ("mcp", "--embedded")])
def test_a_full_disk_is_named_with_its_place(quiet: Place, full_disk: Path, words: tuple[str, ...]) -> None:
    quiet.env["GREENROOM_HOME"] = str(full_disk)
    done = subprocess.run([*PROGRAM, *words], env=quiet.env, capture_output=True, text=True, check=False, input="")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert str(full_disk) in line
    assert "No space left on device; make room there" in line


# --- where the output goes ------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
@pytest.mark.parametrize("words", [("ls",), ("version",), ("status", "--json"), ("help",), ("df",), ("socket",)])
def test_output_that_can_not_be_written_is_an_error_in_a_line(place: Place, words: tuple[str, ...]) -> None:
    for redirection, why in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
        command = ["sh", "-c", f'"$@" {redirection}', "sh", *PROGRAM, *words]
        done = subprocess.run(command, env=place.env, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1, (words, redirection)
        (line,) = done.stderr.splitlines()
        assert f"the output can't be written: {why}" in line


def test_a_closed_standard_error_or_input_changes_nothing(place: Place) -> None:
    for redirection, code in (("2>&-", 0), ("<&-", 0), ("2>/dev/full", 0)):
        command = ["sh", "-c", f'"$@" {redirection}', "sh", *PROGRAM, "status"]
        assert subprocess.run(command, env=place.env, stdout=subprocess.PIPE, check=False).returncode == code
    command = ["sh", "-c", '"$@" 2>/dev/full', "sh", *PROGRAM, "inspect", "nobody"]
    assert subprocess.run(command, env=place.env, check=False).returncode == 5


def test_letters_that_the_terminal_lacks_are_shown_as_escapes(place: Place) -> None:
    place.new("hello", "--name", "größe")
    env = {**place.env, "LC_ALL": "C", "PYTHONIOENCODING": "ascii:strict"}
    done = subprocess.run([*PROGRAM, "ls"], env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert rb"gr\xf6\xdfe" in done.stdout


def test_a_directory_that_was_deleted_is_no_obstacle(place: Place) -> None:
    gone = place.base / "gone"
    gone.mkdir()
    command = ["sh", "-c", f'rmdir "{gone}"; "$@"', "sh", *PROGRAM, "status"]
    done = subprocess.run(command, env=place.env, cwd=gone, capture_output=True, text=True, check=False)
    shutil.rmtree(gone, ignore_errors=True)
    assert (done.returncode, done.stderr) == (0, "")
