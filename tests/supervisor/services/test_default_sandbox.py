"""The sandbox where nobody named one: a directory that is plainly the user's may be written, no other."""

import os
from pathlib import Path

import pytest

from actors.vocabulary.settings import SandboxMode
from supervisor.services.default_sandbox import DefaultSandbox, DirectoryFacts, choose, look_at
from tests.support.git_folder import as_work_tree

HOME = Path("/home/ada")
OPEN, SHUT = SandboxMode.WORKSPACE_WRITE, SandboxMode.READ_ONLY


def ground(path: str, repository: str | None = None, *, owned: bool = True, shared: bool = False) -> DirectoryFacts:
    return DirectoryFacts(Path(path), HOME, owned, shared, None if repository is None else Path(repository))


@pytest.mark.parametrize(
    "where",
    [
        ground("/home/ada/notes"),
        ground("/home/ada/src/shop/web", "/home/ada/src/shop"),
        ground("/home/ada/.dotfiles", "/home/ada/.dotfiles"),
        ground("/srv/shop", "/srv/shop"),
        ground("/tmp/try", "/tmp/try"),
    ],
)
def test_a_repository_and_a_directory_of_the_users_own_may_be_written(where: DirectoryFacts) -> None:
    assert choose(where).mode is OPEN


@pytest.mark.parametrize(
    ("where", "because"),
    [
        (ground("/home/ada"), "it is your home directory"),
        (ground("/home/ada", "/home/ada"), "it is your home directory"),
        (ground("/home"), "/home holds your home directory"),
        (ground("/"), "/ holds the whole system"),
        (ground("/home/ada/.config/nvim"), "/home/ada/.config/nvim holds settings of programs"),
        (ground("/etc", "/etc"), "/etc belongs to the system"),
        (ground("/usr/local/lib/x", "/usr/local/lib/x"), "/usr/local/lib/x belongs to the system"),
        (ground("/home/eve/shop", "/home/eve/shop", owned=False), "/home/eve/shop is another user's"),
        (ground("/home/ada/drop", shared=True), "every user of this machine may write in /home/ada/drop"),
        (ground("/tmp", "/tmp", shared=True), "every user of this machine may write in /tmp"),
        (ground("/srv/data"), "/srv/data is neither a repository nor below your home directory"),
        (DirectoryFacts(None, HOME), "the directory does not exist"),
    ],
)
def test_every_other_directory_is_only_read_and_it_is_said_why(where: DirectoryFacts, because: str) -> None:
    assert choose(where).mode is SHUT
    assert choose(where).reason == because


def test_a_home_of_a_system_user_may_have_directories_of_its_own() -> None:
    assert choose(DirectoryFacts(Path("/var/lib/ci/job"), Path("/var/lib/ci"), is_owned=True)).mode is OPEN


def test_a_directory_is_judged_by_where_it_really_is(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    outside.mkdir()
    (home / "link").symlink_to(outside)
    assert look_at(home / "link", home).path == outside
    assert choose(look_at(home / "link", home)).mode is SHUT
    as_work_tree(outside)
    assert choose(look_at(home / "link", home)).mode is OPEN


def test_a_folder_in_a_repository_is_part_of_it_and_an_empty_git_makes_none(tmp_path: Path) -> None:
    as_work_tree(tmp_path / "a")
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "d/.git").mkdir(parents=True)
    home = tmp_path / "home"
    assert look_at(tmp_path / "a/b/c", home).repository == tmp_path / "a"
    assert look_at(tmp_path / "d", home).repository is None


def test_a_home_under_version_control_makes_no_workspace_of_what_is_in_it(tmp_path: Path) -> None:
    as_work_tree(tmp_path)
    (tmp_path / ".config").mkdir()
    (tmp_path / "notes").mkdir()
    assert choose(look_at(tmp_path / ".config", tmp_path)).mode is SHUT
    assert choose(look_at(tmp_path / "notes", tmp_path)).mode is OPEN


def test_a_directory_that_everybody_may_write_to_is_seen(tmp_path: Path) -> None:
    (tmp_path / "drop").mkdir()
    (tmp_path / "drop").chmod(0o1777)
    assert look_at(tmp_path / "drop", tmp_path).is_shared


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a directory away")
def test_a_repository_of_another_user_is_none(tmp_path: Path) -> None:
    as_work_tree(tmp_path / "theirs")
    (tmp_path / "theirs/mine").mkdir()
    os.chown(tmp_path / "theirs", 12345, 12345)
    assert look_at(tmp_path / "theirs/mine", tmp_path / "home").repository is None
    assert not look_at(tmp_path / "theirs", tmp_path / "home").is_owned


def test_a_client_whose_ceiling_is_reading_gets_no_more_by_the_rule(tmp_path: Path) -> None:
    rule = DefaultSandbox(tmp_path / "home", SHUT)
    assert rule.mode_for(as_work_tree(tmp_path / "own")) is SHUT
    assert rule.choice is not None
    assert rule.choice.reason == "greenroom.mcp.max_sandbox says so"
