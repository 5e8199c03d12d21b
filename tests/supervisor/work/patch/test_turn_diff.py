"""The diff of a turn's patches, as git shows it: git itself reads it and computes the same ids."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from supervisor.work.patch.apply import apply_plan
from supervisor.work.patch.files import FileState
from supervisor.work.patch.grammar import parse
from supervisor.work.patch.plan import plan_patch
from supervisor.work.patch.turn_diff import TurnChanges, blob_id, git_diff_lines, git_root
from supervisor.work.reach.readable import Reach
from tests.support.file_tree import file_tree
from tests.support.git_folder import as_work_tree

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def git(cwd: Path, *arguments: str, text: str | None = None) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=cwd,
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
        env=ENVIRONMENT,
    )
    return done.stdout


def patched(changes: TurnChanges, cwd: Path, *lines: str) -> None:
    plan = plan_patch(parse("\n".join(["*** Begin Patch", *lines, "*** End Patch"])), Reach(cwd))
    apply_plan(plan)
    changes.remember(plan)


def test_the_diff_of_a_turn_is_exactly_this(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1\n2\n3\n4\n5\n6\n")
    (tmp_path / "gone").write_text("x\n")
    (tmp_path / "gone").chmod(0o755)
    changes = TurnChanges(tmp_path)
    patched(changes, tmp_path, "*** Update File: f", "-5", "+V", "*** Delete File: gone")
    patched(changes, tmp_path, "*** Add File: new", "+n")
    assert changes.diff() == (
        "diff --git a/f b/f\n"
        "index b414108e81e5091fe0974a1858b4d0d22b107f70..90ff3cb457188f89ae1d745531d7fc463c98342c\n"
        "--- a/f\n+++ b/f\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+V\n 6\n"
        "diff --git a/gone b/gone\n"
        "deleted file mode 100755\n"
        "index 587be6b4c3f93f93c489c0111bba5596147a26cb..0000000000000000000000000000000000000000\n"
        "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/new b/new\n"
        "new file mode 100644\n"
        "index 0000000000000000000000000000000000000000..8ba3a16384aacc37d01564b28401755ce8053f51\n"
        "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"
    )


def test_git_applies_the_diff_to_the_first_state_and_gets_the_last(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    (work / "sub/with blank").write_text("a\nb")
    (work / 'tab\t"q"é\\').write_text("a\n")
    (work / "run").write_text("#!/bin/sh\n" + "".join(f"{n}\n" for n in range(40)))
    (work / "run").chmod(0o755)
    (work / "gone").write_text("x\n")
    (work / "moves").write_text("m\nn\n")
    git(work, "init", "-q")
    first = tmp_path / "first"
    shutil.copytree(work, first)
    changes = TurnChanges(work / "sub")
    patched(
        changes,
        work / "sub",
        *("*** Update File: with blank", "-b", "+c", '*** Update File: ../tab\t"q"é\\', "-a", "+b"),
        *("*** Update File: ../run", "@@", "-3", "@@", "-30", "+XXX", "*** Delete File: ../gone"),
        *("*** Update File: ../moves", "*** Move to: deep/moved", "-m", "+M", "*** Add File: empty"),
    )
    assert "\n--- a/sub/with blank\t\n+++ b/sub/with blank\t\n" in changes.diff()
    git(first, "apply", "--whitespace=nowarn", "-", text=changes.diff())
    shutil.rmtree(work / ".git")
    shutil.rmtree(first / ".git")
    assert file_tree(first) == file_tree(work)


def test_blob_ids_are_those_of_git(tmp_path: Path) -> None:
    for data in (b"", b"x\n", "é\r\n".encode(), b"\0\xff"):
        (tmp_path / "f").write_bytes(data)
        assert blob_id(FileState(data, 0o644)) == git(tmp_path, "hash-object", "--no-filters", "f").strip()


def test_a_file_that_was_changed_back_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    changes = TurnChanges(tmp_path)
    patched(changes, tmp_path, "*** Update File: f", "-a", "+b", "*** Add File: g", "+x")
    patched(changes, tmp_path, "*** Update File: f", "-b", "+a", "*** Delete File: g")
    assert changes.diff() == ""


def test_the_first_state_is_that_before_the_first_patch(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    changes = TurnChanges(tmp_path)
    patched(changes, tmp_path, "*** Update File: f", "-a", "+b")
    patched(changes, tmp_path, "*** Update File: f", "-b", "+c")
    assert changes.diff().endswith("-a\n+c\n")


def test_paths_are_relative_to_the_repository_and_absolute_outside(tmp_path: Path) -> None:
    work = tmp_path / "repo/sub"
    work.mkdir(parents=True)
    as_work_tree(tmp_path / "repo")
    assert git_root(work) == tmp_path / "repo"
    changes = TurnChanges(work)
    patched(changes, work, "*** Add File: f", "+x", "*** Add File: ../../out", "+x")
    assert "diff --git a/sub/f b/sub/f\n" in changes.diff()
    assert f"diff --git a{tmp_path}/out b{tmp_path}/out\n" in changes.diff()


def test_without_a_repository_paths_are_relative_to_the_working_directory(tmp_path: Path) -> None:
    if git_root(tmp_path):
        pytest.skip("the temporary directory lies in a repository")
    changes = TurnChanges(tmp_path)
    patched(changes, tmp_path, "*** Add File: d/f", "+x")
    assert changes.diff().startswith("diff --git a/d/f b/d/f\n")


def test_a_mode_that_changed_is_shown() -> None:
    old, new = FileState(b"x\n", 0o644), FileState(b"x\n", 0o755)
    assert "".join(git_diff_lines("f", old, new)) == "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"


def test_a_binary_file_is_only_said_to_differ() -> None:
    diff = "".join(git_diff_lines("f", FileState(b"\xff\n", 0o644), None))
    assert diff.endswith("\nBinary files a/f and /dev/null differ\n")


def test_a_file_that_became_something_else_is_left_out(tmp_path: Path) -> None:
    changes = TurnChanges(tmp_path)
    patched(changes, tmp_path, "*** Add File: f", "+x")
    (tmp_path / "f").unlink()
    (tmp_path / "f").mkdir()
    assert changes.diff() == ""
