"""Nothing that a command leaves in a project leads an agent or an editor that is started there later."""

import signal
import subprocess
import sys
from itertools import cycle, islice, product
from pathlib import Path

import pytest

from supervisor.work.reach.found_settings import MOST_CLOSED, find_settings
from supervisor.work.reach.project_settings import HELD_FOLDERS
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.place import CLOSED, Place, git, on_linux
from tests.supervisor.work.reach.settings_attack import BEFORE, DEPTHS, OURS, WAYS, argv, contents, placed, prepare

ROUNDS = 2


@on_linux
@pytest.mark.parametrize(("before", "shift"), list(product(BEFORE, range(len(DEPTHS)))))
def test_no_way_of_a_command_changes_a_setting(place: Place, before: str, shift: int) -> None:
    """Each name at each depth, as it was before in each way; and in each round another way to change it."""
    paths = list(placed(shift))
    for path, folder in paths:
        prepare(place.workspace, path, before, folder=folder)
    was = {path: contents(place.workspace / path) for path, _ in paths}
    talk = place.talk()
    for first in range(ROUNDS * shift, ROUNDS * (shift + 1)):
        ways = islice(cycle(WAYS), first, None)
        attacks = [(way, path, folder) for way, (path, folder) in zip(ways, paths, strict=False)]
        talk.place.run(*argv(attacks), policy=talk.policy, pins=talk.pins)
        now = {path: contents(place.workspace / path) for path, _ in paths}
        assert [(way, path, now[path]) for way, path, _ in attacks if now[path] != was[path]] == []
        assert [path for path in was if in_capitals(place.workspace / path)] == []


KILLED = """
import os, signal, subprocess, sys
from pathlib import Path
from actors.vocabulary.settings import WorkspaceWrite
from supervisor.work.sandbox import settings_watch
from supervisor.work.sandbox.sandbox import Sandbox
settings_watch.LOOK_S = 1e6  # it is killed before it has looked
policy = WorkspaceWrite(exclude_slash_tmp=True, exclude_tmpdir_env_var=True)
with Sandbox(ledgers=Path(sys.argv[2])).confine(policy, Path(sys.argv[1]), sys.argv[3:], dict(os.environ)) as inside:
    subprocess.run(inside.argv, env=inside.env, pass_fds=inside.pass_fds, check=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@on_linux
@pytest.mark.parametrize("before", BEFORE)
def test_settings_that_a_killed_daemon_left_unchecked_are_set_aside_when_the_next_begins(
    place: Place, tmp_path: Path, before: str
) -> None:
    paths = list(placed(shift=1))
    for path, folder in paths:
        prepare(place.workspace, path, before, folder=folder)
    was = {path: contents(place.workspace / path) for path, _ in paths}
    attacks = [(way, path, folder) for way, (path, folder) in zip(cycle(WAYS), paths, strict=False)]
    told = (sys.executable, "-c", KILLED, str(place.workspace), str(tmp_path / "ledgers"), *argv(attacks))
    done = subprocess.run(told, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = [path for path in was if (contents(place.workspace / path) or None) != was[path]]
    assert left or before == "there", "without what was left this proves nothing"
    Sandbox(ledgers=tmp_path / "ledgers").begin()
    assert [path for path in was if contents(place.workspace / path) != was[path]] == []
    assert list((tmp_path / "ledgers").iterdir()) == []


@on_linux
def test_folders_that_a_command_makes_do_not_crowd_the_known_ones_out(place: Place) -> None:
    (place.workspace / "known/pkg").mkdir(parents=True)
    talk = place.talk()
    talk.sh("for i in $(seq 500); do mkdir -p a$i; done")
    talk.sh("mkdir known/pkg/.claude; echo x > known/pkg/.claude/settings.json; echo x > known/.mcp.json")
    assert contents(place.workspace / "known/pkg/.claude") is None
    assert contents(place.workspace / "known/.mcp.json") is None


@on_linux
@pytest.mark.parametrize("many", ["files", "links"])
def test_a_project_with_more_settings_than_can_be_closed_is_not_written_at_all(place: Place, many: str) -> None:
    (place.workspace / ".claude").mkdir()
    for number in range(MOST_CLOSED + 1):
        if many == "files":
            (place.workspace / f"{number}.code-workspace").write_text(OURS)
        else:
            (place.workspace / f"{number}.txt").write_text(OURS)
            (place.workspace / f".claude/{number}").symlink_to(f"../{number}.txt")
    did = place.talk().sh("echo x > 7.code-workspace; echo x > 7.txt; echo x > new.txt")
    assert did.exit_code != 0
    assert "obey more in it than can be closed" in did.said[0]
    assert not (place.workspace / "new.txt").exists()
    assert all(path.read_text() == OURS for path in place.workspace.glob("7.*"))


@on_linux
def test_folders_in_folders_do_not_make_the_search_endless(place: Place) -> None:
    """Names of two parts go on below their first."""
    chain = "/".join([".config", ".github"] * 60)
    (place.workspace / chain).mkdir(parents=True)
    assert len(find_settings(place.workspace).folders) < 10


@on_linux
def test_packed_folders_of_others_can_be_replaced_and_a_new_folder_is_judged_by_its_content(
    place: Place,
) -> None:
    package = place.workspace / "node_modules/one"
    (package / ".vscode").mkdir(parents=True)
    (package / ".vscode/settings.json").write_text("theirs")
    did = place.talk().sh("rm -rf node_modules/one && mkdir -p clone/.claude && echo x > clone/.claude/settings.json")
    assert did.exit_code == 0
    assert not package.exists()
    assert (place.workspace / "clone/.claude/settings.json").exists()
    assert place.talk().sh("echo y > clone/.claude/settings.json").exit_code != 0


@on_linux
def test_held_settings_stand_as_empty_folders_that_git_does_not_list(place: Place) -> None:
    git(place.workspace, "init")
    with place.sandbox.confine(CLOSED, place.workspace, ("true",), {}):
        assert {path.name for path in place.workspace.iterdir()} == {".git", *HELD_FOLDERS}
        assert all(not list((place.workspace / name).iterdir()) for name in HELD_FOLDERS)
        listed = subprocess.run(
            ["git", "status", "--porcelain"], cwd=place.workspace, check=True, capture_output=True, text=True
        )
        assert listed.stdout == ""
        (place.workspace / ".claude/settings.local.json").write_text("their person's, in another window")
        (place.workspace / ".claude/settings.local.json").touch()
    assert [path.name for path in place.workspace.iterdir() if path.name != ".git"] == [".claude"]
    assert (place.workspace / ".claude/settings.local.json").exists()


def in_capitals(path: Path) -> bool:
    return path.name.upper() != path.name and path.with_name(path.name.upper()).exists()
