"""Nothing of what keeps names from existing is left: not by two commands at once, not by a killed daemon."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.disk.folders import open_folder
from supervisor.work.reach.project_settings import HELD_FOLDERS
from supervisor.work.sandbox.leftovers import LINES, LeftoverLedger, clear, entry_in
from supervisor.work.sandbox.roots import Protection
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.place import CLOSED, Place, on_linux

NAMES = (".git", "HEAD", "config.toml", *HELD_FOLDERS)
KILLED = """
import os, signal, sys
from pathlib import Path
from actors.vocabulary.settings import WorkspaceWrite
from supervisor.work.sandbox.roots import Protection
from supervisor.work.sandbox.sandbox import Sandbox
workspace, ledgers = Path(sys.argv[1]), Path(sys.argv[2])
sandbox = Sandbox(Protection(closed=(workspace / ".codex",), files=(workspace / "config.toml",)), ledgers)
policy = WorkspaceWrite(exclude_slash_tmp=True, exclude_tmpdir_env_var=True)
with sandbox.confine(policy, workspace, ("true",), {}):
    print(sorted(os.listdir(workspace)), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def sandbox_of(place: Place, ledgers: Path | None = None) -> Sandbox:
    workspace = place.workspace
    return Sandbox(Protection(closed=(workspace / ".codex",), files=(workspace / "config.toml",)), ledgers)


def listed(place: Place) -> list[str]:
    return sorted(path.name for path in place.workspace.iterdir())


@contextlib.contextmanager
def confined(place: Place, sandbox: Sandbox) -> Iterator[None]:
    with sandbox.confine(CLOSED, place.workspace, ("true",), {}):
        yield


def killed(place: Place, ledgers: Path) -> str:
    argv = (sys.executable, "-c", KILLED, str(place.workspace), str(ledgers))
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout


@on_linux
def test_leftovers_of_a_killed_daemon_are_removed_when_the_next_begins(place: Place, tmp_path: Path) -> None:
    stood = killed(place, tmp_path / "ledgers")
    assert all(name in stood for name in NAMES)
    assert listed(place) == sorted(NAMES), "without what was left this proves nothing"
    sandbox_of(place, tmp_path / "ledgers").begin()
    assert listed(place) == []
    assert list((tmp_path / "ledgers").iterdir()) == []


@on_linux
def test_a_leftover_that_somebody_has_filled_stays(place: Place, tmp_path: Path) -> None:
    killed(place, tmp_path / "ledgers")
    (place.workspace / ".codex/prompts").mkdir()
    (place.workspace / "config.toml").write_text("a person's")
    sandbox_of(place, tmp_path / "ledgers").begin()
    assert listed(place) == [".codex", "config.toml"]


@on_linux
def test_a_folder_that_was_moved_away_is_not_looked_for_elsewhere(place: Place, tmp_path: Path) -> None:
    killed(place, tmp_path / "ledgers")
    place.workspace.rename(tmp_path / "moved")
    (place.workspace / ".git").mkdir(parents=True)
    sandbox_of(place, tmp_path / "ledgers").begin()
    assert (place.workspace / ".git").exists()


@on_linux
@pytest.mark.parametrize("first", [0, 1])
def test_two_commands_in_one_directory_do_not_remove_each_others(place: Place, first: int) -> None:
    """Two daemons' commands overlap; all of it stands until the last has ended, and no longer."""
    stacks = [contextlib.ExitStack(), contextlib.ExitStack()]
    for stack in stacks:
        stack.enter_context(confined(place, sandbox_of(place)))
    assert listed(place) == sorted(NAMES)
    stacks[first].close()
    assert listed(place) == sorted(NAMES)
    stacks[1 - first].close()
    assert listed(place) == []


@on_linux
def test_a_daemon_that_begins_leaves_what_another_ones_command_stands_on(place: Place, tmp_path: Path) -> None:
    killed(place, tmp_path / "ledgers")
    with confined(place, sandbox_of(place)):
        sandbox_of(place, tmp_path / "ledgers").begin()
        assert listed(place) == sorted(NAMES)
    assert listed(place) == []


@on_linux
def test_an_ordinary_command_leaves_nothing_and_no_ledger(place: Place, tmp_path: Path) -> None:
    sandbox = sandbox_of(place, tmp_path / "ledgers")
    with confined(place, sandbox):
        (ledger,) = (tmp_path / "ledgers").iterdir()
        assert ledger.stat().st_size > 0
    assert listed(place) == []
    assert ledger.stat().st_size == 0
    sandbox.end()
    assert not ledger.exists()


@on_linux
def test_a_directory_of_the_users_own_stays_even_if_it_is_empty(place: Place) -> None:
    (place.workspace / ".codex").mkdir()
    with confined(place, sandbox_of(place)):
        pass
    assert listed(place) == [".codex"]


@pytest.mark.skipif(sys.platform != "linux", reason="placeholders are of the Linux sandbox")
def test_a_ledger_does_not_grow_with_what_comes_and_goes(tmp_path: Path) -> None:
    folder = open_folder(tmp_path)
    ledger = LeftoverLedger(tmp_path / "ledgers")
    lasting, passing = entry_in(folder, "lasting"), entry_in(folder, "passing")
    (tmp_path / "lasting").mkdir()
    ledger.note(lasting)
    for _ in range(LINES):
        ledger.note(passing)
        ledger.note_removed(passing)
    (file,) = (tmp_path / "ledgers").iterdir()
    assert len(file.read_bytes().splitlines()) <= LINES
    assert clear(tmp_path / "ledgers") == 1
    assert not (tmp_path / "lasting").exists()
    os.close(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="placeholders are of the Linux sandbox")
def test_a_ledger_that_is_torn_or_foreign_removes_nothing_that_it_does_not_name(tmp_path: Path) -> None:
    ledgers = tmp_path / "ledgers"
    ledgers.mkdir()
    (tmp_path / "kept").mkdir()
    (ledgers / "1.a").write_bytes(b'{"what": "made"\nnull\n[]\n{"what": "made", "entry": {"folder": 1}}\n\xff{"what')
    clear(ledgers)
    assert (tmp_path / "kept").exists()
    assert not (ledgers / "1.a").exists()
