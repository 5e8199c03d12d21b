"""The search program: matches as ripgrep writes them, bounds, and files that are left out."""

import io
import os
from pathlib import Path

import pytest

from supervisor.work.files import searching
from supervisor.work.files.searching import BAD_PATTERN, SearchOrder, search
from tests.support.git_folder import as_work_tree


def query(top: Path, pattern: str, **more: object) -> SearchOrder:
    plain: SearchOrder = {
        "pattern": pattern, "path": str(top), "base": str(top), "glob": "", "ignore_case": False, "context": 0,
        "matches": 100, "bytes": 10_000, "hidden": [], "hidden_files": [],
    }  # fmt: skip
    return {**plain, **more}  # type: ignore[typeddict-item]  # the test names its keys


def found(top: Path, pattern: str, **more: object) -> list[str]:
    out = io.StringIO()
    assert search(query(top, pattern, **more), out) == 0
    return out.getvalue().splitlines()


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("one\nTwo\nthree\nfour\ntwo\n")
    (tmp_path / "sub" / "b.md").write_text("two\r\n")
    return tmp_path


def test_matches_have_file_line_and_text_and_are_counted(top: Path) -> None:
    assert found(top, "two") == ["a.py:5:two", "sub/b.md:1:two", "[2 matches in 2 files]"]
    assert found(top, "two", ignore_case=True)[0] == "a.py:2:Two"
    assert found(top, "nothing") == ["[0 matches in 0 files]"]


def test_context_is_shown_once_and_gaps_are_marked(top: Path) -> None:
    shown = found(top, "(?i)two", context=1, path=str(top / "a.py"))
    assert shown[:-1] == ["a.py-1-one", "a.py:2:Two", "a.py-3-three", "a.py-4-four", "a.py:5:two"]
    (top / "far").write_text("x\n\n\n\n\nx\n")
    assert found(top, "x", context=1, path=str(top / "far"))[:-1] == [
        "far:1:x", "far-2-", "--", "far-5-", "far:6:x",
    ]  # fmt: skip


@pytest.mark.parametrize(("glob", "files"), [("*.py", 1), ("sub/*.md", 1), ("**/*.md", 1), ("*.{", 0), ("sub", 0)])
def test_a_glob_chooses_files(top: Path, glob: str, files: int) -> None:
    assert f"in {files} files" in found(top, "two", glob=glob)[-1]


def test_the_number_of_matches_and_bytes_is_bounded_and_said(top: Path) -> None:
    (top / "many").write_text("two\n" * 1000)
    assert found(top, "two", matches=3)[-1].startswith("[3 matches in 2 files, and there are more: narrow")
    shown = found(top, "two", bytes=100)
    assert "there are more" in shown[-1]
    assert sum(len(line) + 1 for line in shown[:-1]) <= 100


def test_ignored_binary_large_and_special_files_are_left_out(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "FILE_BYTES", 1000)
    as_work_tree(top)
    (top / ".git" / "config").write_text("two\n")
    (top / ".gitignore").write_text("skipped\n")
    (top / "skipped").write_text("two\n")
    (top / "binary").write_bytes(b"two\0")
    (top / "large").write_text("two\n" * 1000)
    (top / "link").symlink_to("a.py")
    os.mkfifo(top / "pipe")
    assert found(top, "two")[-1] == "[2 matches in 2 files; 2 binary or very large files were left out]"
    assert found(top, "two", path=str(top / "skipped"))[0] == "skipped:1:two"  # named, so it is wanted


def test_hidden_folders_are_left_out(top: Path) -> None:
    assert found(top, "two", hidden=[str(top / "sub")])[-1] == "[1 matches in 1 files]"


def test_a_pattern_that_is_none_is_said_to_be_so(top: Path) -> None:
    out = io.StringIO()
    assert search(query(top, "(unclosed"), out) == BAD_PATTERN
    assert out.getvalue().startswith("the pattern can't be used: missing )")


def test_names_and_lines_that_are_no_text_are_shown_as_text(top: Path) -> None:
    (top / os.fsdecode(b"caf\xe9")).write_bytes(b"two \xe9\x07" + b"x" * 1000)
    line = found(top, "two")[1]
    assert line.startswith("caf\\xe9:1:two \ufffd\ufffdxxx")
    assert line.endswith("x…")


def test_a_very_deep_tree_is_searched_to_its_end(top: Path) -> None:
    at = os.open(top, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("end", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)
    assert found(top, "two")[-1] == "[2 matches in 2 files]"
