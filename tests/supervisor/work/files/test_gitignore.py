"""Patterns of `.gitignore`, compared with what git itself makes of them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from supervisor.work.files.gitignore import is_ignored, rules_above, rules_in
from tests.support.git_folder import as_work_tree

PATHS = ["a.log", "a.txt", "build/x", "sub/build/x", "sub/a.log", "sub/keep.log", "deep/er/file.o", "deep/file.c",
         "docs/a.md", "docs/sub/b.md", "x1", "x2", "xa", "#odd", "a b", "node_modules/m/i.js"]  # fmt: skip
PATTERNS = [
    "*.log", "*.log\n!keep.log", "build/", "/build", "build", "deep/**/file.o", "**/b.md", "docs/*.md", "docs/**",
    "x[0-9]", "x[!0-9]", "x?", "\\#odd", "# comment", "a b", "node_modules/", "sub/*\n!sub/a.log", "", "/*\n!docs",
    "[", "*.txt   ", "**",
]  # fmt: skip


def ours(top: Path, path: str) -> bool:
    """Ask as a walk does: what is below an ignored folder is never reached."""
    rules = ((str(top), rules_in(str(top))),)
    parts = path.split("/")
    above = ("/".join(parts[:end]) for end in range(1, len(parts)))
    in_a_folder = any(is_ignored(str(top / folder), rules, folder=True) for folder in above)
    return in_a_folder or is_ignored(str(top / path), rules, folder=False)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_same_files_are_ignored_as_git_ignores(tmp_path: Path, pattern: str) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / ".gitignore").write_text(f"{pattern}\n")
    told = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=tmp_path, input="\n".join(PATHS), capture_output=True, text=True, check=False,
    )  # fmt: skip
    git = {line.strip('"') for line in told.stdout.splitlines()}
    assert {path for path in PATHS if ours(tmp_path, path)} == git


def test_the_rules_of_a_repository_hold_in_its_folders_and_end_at_its_root(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("*.c\n")
    assert rules_above(str(inner)) == ()
    (tmp_path / "repo" / ".git").mkdir()
    assert rules_above(str(inner)) == ()  # to git an empty one is none; a sandbox may have put it there
    as_work_tree(tmp_path / "repo")
    (tmp_path / "repo" / ".gitignore").write_text("*.o\n")
    rules = rules_above(str(inner))
    assert is_ignored(str(inner / "x.o"), rules, folder=False)
    assert not is_ignored(str(inner / "x.c"), rules, folder=False)


def test_like_git_no_link_is_followed_for_patterns(tmp_path: Path) -> None:
    (tmp_path / "patterns").write_text("*.o\n")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".gitignore").symlink_to("../patterns")
    (tmp_path / "piped").mkdir()
    os.mkfifo(tmp_path / "piped" / ".gitignore")
    assert rules_in(str(tmp_path / "linked")) == rules_in(str(tmp_path / "piped")) == ()
    (tmp_path / ".gitignore").write_text("*.o\n")
    assert rules_in(str(tmp_path))
