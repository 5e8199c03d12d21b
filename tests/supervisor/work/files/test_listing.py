"""Names below a folder: their order, depth and bounds, and folders that are not looked into."""

import os
from pathlib import Path

import pytest

from supervisor.disk.ordinary_files import NotReadable
from supervisor.work.files import listing
from supervisor.work.files.listing import FolderListing, list_folder
from supervisor.work.reach.readable import Reach


def listed(
    top: Path, name: str = ".", depth: int = 1, entries: int = 500, hidden: tuple[Path, ...] = ()
) -> FolderListing:
    return list_folder(Reach(top, hidden=hidden), name, depth, entries, lambda: None)


def made(top: Path, *names: str) -> Path:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return top


def test_names_are_sorted_and_hidden_ones_are_shown(tmp_path: Path) -> None:
    made(tmp_path, "b", ".hidden", "a/inside")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    assert listed(tmp_path) == FolderListing(
        (".hidden", "a/", "b", "link -> a", "pipe (pipe)"), 0, unseen=False, unread=()
    )


def test_depth_goes_below_folders_but_not_through_links_nor_into_git(tmp_path: Path) -> None:
    made(tmp_path, "a/b/c/d", ".git/config", "sub/.git/config")
    (tmp_path / "a" / "up").symlink_to("..")
    names = listed(tmp_path, depth=3).names
    assert names == (".git/", "a/", "a/b/", "a/b/c/", "a/up -> ..", "sub/", "sub/.git/")


def test_the_shallow_names_come_first_when_not_all_fit(tmp_path: Path) -> None:
    made(tmp_path, *(f"a/{number}" for number in range(10)), "x", "y", "b/deep/down")
    found = listed(tmp_path, depth=3, entries=6)
    assert found.names == ("a/", "a/0", "a/1", "b/", "x", "y")
    assert (found.left_out, found.unseen) == (8, True)


def test_a_folder_of_a_hundred_thousand_names_is_listed_in_part(tmp_path: Path) -> None:
    made(tmp_path, *(f"n{number}" for number in range(2_000)))
    found = listed(tmp_path, entries=500)
    assert (len(found.names), found.left_out) == (500, 1_500)
    assert found.names[0] == "n0"


def test_a_folder_of_too_many_names_is_read_as_far_as_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "NAMES", 10)
    made(tmp_path, *(f"n{number}" for number in range(50)))
    assert len(listed(tmp_path).names) == 10


def test_greenrooms_own_folders_are_named_but_not_looked_into(tmp_path: Path) -> None:
    made(tmp_path, "own/journal", "other/file")
    assert listed(tmp_path, depth=2, hidden=(tmp_path / "own",)).names == ("other/", "other/file", "own/")
    with pytest.raises(NotReadable, match="belongs to Greenroom"):
        listed(tmp_path, "own", hidden=(tmp_path / "own",))


def test_the_root_is_listed_without_the_kernels_folders(tmp_path: Path) -> None:
    names = listed(tmp_path, "/", depth=2, entries=100_000).names
    assert "usr/" in names
    assert not [name for name in names if name.startswith(("proc/", "sys/", "dev/")) and not name.endswith("/")]


@pytest.mark.skipif(os.getuid() == 0, reason="root may list everything")
def test_a_folder_that_may_not_be_listed_is_said_to_be_so(tmp_path: Path) -> None:
    made(tmp_path, "closed/file", "open/file")
    (tmp_path / "closed").chmod(0)
    found = listed(tmp_path, depth=2)
    assert (found.names, found.unread) == (("closed/", "open/", "open/file"), ("closed",))


def test_names_that_are_no_text_are_shown_in_escapes(tmp_path: Path) -> None:
    made(tmp_path, os.fsdecode(b"caf\xe9"), "two\nlines", "\x1b[31mred", "ünï")
    assert listed(tmp_path).names == ("\\x1b[31mred", "caf\\xe9", "two\\nlines", "ünï")


def test_a_file_is_not_listed(tmp_path: Path) -> None:
    made(tmp_path, "file")
    with pytest.raises(NotReadable, match="read it with read_file"):
        listed(tmp_path, "file")
    with pytest.raises(NotReadable, match="there is no nothing"):
        listed(tmp_path, "nothing")
