"""An index that a command wrote: every one that git writes is taken, and none that would lead git elsewhere."""

import os
import struct
import subprocess
from pathlib import Path

import pytest

from supervisor.work.reach import git_index
from supervisor.work.reach.git_index import UnfitIndex, check
from tests.supervisor.work.place import git
from tests.supervisor.work.reach.crafted_index import entry, index

OUTSIDE = [
    *(b".git/hooks/post-checkout", b".GIT/config", b"sub/.git/config", b".git", b"git~1/config", b".git. /config"),
    *(b"../evil", b"a/../../evil", b"/home/you/.bashrc", b"a//b", b"./a", b".git::$INDEX_ALLOCATION/config"),
]


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("version", [2, 4])
def test_a_path_that_leads_out_of_the_work_trees_files_is_refused(path: bytes, version: int) -> None:
    with pytest.raises(UnfitIndex, match="it names"):
        check(index(entry(b"a" * 5, version=version), entry(path, version=version, stripped=5), version=version), 20)


def test_a_path_that_is_only_whole_with_the_one_before_it_is_refused() -> None:
    crafted = entry(b".gix", version=4), entry(b"t/config", version=4, stripped=1, length=11)
    with pytest.raises(UnfitIndex, match=r"'\.git/config'"):
        check(index(*crafted, version=4), 20)


@pytest.mark.parametrize("path", [b".gitignore", b".github/x", b"a.git/b", b"\xff", b"..a/b", b"d/" + b"x" * 4090])
def test_a_path_like_them_is_taken(path: bytes) -> None:
    check(index(entry(path)), 20)


def test_an_index_that_git_would_read_differently_is_refused() -> None:
    hidden = entry(b".git/hooks/x", version=4)
    block = struct.pack(">4sIIII", b"IEOT", 12, 1, 300, 1)
    crafted = {
        "not an index": b"DIRC" + struct.pack(">II", 5, 0) + bytes(20),
        "cut off": index(entry(b"a"))[:60],
        "two ways": index(entry(b"a"), extensions=block + b"UNTR" + struct.pack(">I", len(hidden)) + hidden),
        "another length": index(entry(b"a", length=3)),
        "not known": index(entry(b"a"), extensions=b"evil" + bytes(4)),
    }
    for why, data in crafted.items():
        with pytest.raises(UnfitIndex, match=why):
            check(data, 20)


def test_every_shortened_index_is_refused_without_another_error() -> None:
    whole = index(entry(b"a"), entry(b"dir/b"), extensions=b"TREE" + struct.pack(">I", 4) + bytes(4))
    check(whole, 20)
    for size in range(len(whole)):
        try:
            check(whole[:size], 20)
        except UnfitIndex:
            continue
        assert size >= len(whole) - 20 - 12, size  # its extension is a cache, and may be missing


@pytest.mark.parametrize(
    "settings",
    [
        *((), ("index.version=4",), ("index.threads=3",), ("index.version=4", "index.threads=3")),
        ("core.splitIndex=true",),
        ("core.untrackedCache=true", "index.version=3"),
    ],
)
@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_an_index_of_gits_own_is_taken(tmp_path: Path, settings: tuple[str, ...], form: str) -> None:
    git(tmp_path, "init", f"--object-format={form}")
    for number in range(40):
        (tmp_path / f"folder{number % 3}").mkdir(exist_ok=True)
        (tmp_path / f"folder{number % 3}" / f"file{number}é").touch()
    given = [part for setting in settings for part in ("-c", setting)]
    git(tmp_path, *given, "add", ".")
    git(tmp_path, *given, "commit", "-m", "x")
    (tmp_path / "late").touch()
    git(tmp_path, *given, "add", "--intent-to-add", "late")
    written = [tmp_path / ".git/index", *(tmp_path / ".git").glob("sharedindex.*")]
    for file in written:
        check(file.read_bytes(), 32 if form == "sha256" else 20)


def test_folders_that_are_not_checked_out_are_taken_and_none_that_lead_elsewhere(tmp_path: Path) -> None:
    git(tmp_path, "init")
    for name in ("a/b/x", "c/y", "e/z"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "x")
    git(tmp_path, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(tmp_path, "sparse-checkout", "set", "e")
    data = (tmp_path / ".git/index").read_bytes()
    assert b"sdir" in data
    check(data, 20)
    for path in (b".git/hooks/", b"../", b"a//"):
        folder = entry(path).replace(struct.pack(">I", 0o100755), struct.pack(">I", 0o040000), 1)
        with pytest.raises(UnfitIndex, match="it names"):
            check(index(folder), 20)


def test_our_own_index_is_read_as_git_lists_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paths that are checked are those that git shows, of a large index."""
    here = Path(__file__).parents[4]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=here, capture_output=True, check=True).stdout
    where = subprocess.run(["git", "rev-parse", "--git-path", "index"], cwd=here, capture_output=True, check=True)
    seen: list[bytes] = []
    monkeypatch.setattr(git_index, "_check_name", lambda name, _: seen.append(name))
    check((here / os.fsdecode(where.stdout.strip())).read_bytes(), 20)
    assert seen == listed.split(b"\0")[:-1]
