"""Files found by a few characters of their names: the points that Codex's clients know, and the bounds."""

import os
from pathlib import Path

import pytest

from supervisor.services import file_search
from supervisor.services.file_search import points, search
from transports.supervisor_answers import FoundFile


def made(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


def test_the_best_come_first_with_the_points_and_places_of_the_original(tmp_path: Path) -> None:
    made(tmp_path, "abc", "abcde", "abexy", "zzz.txt", "sub/abce")
    root = str(tmp_path)
    assert search("abe", [tmp_path]) == (
        FoundFile(root, "abexy", "abexy", 88, (0, 1, 2)),
        FoundFile(root, "abcde", "abcde", 74, (0, 1, 4)),
        FoundFile(root, "sub/abce", "abce", 72, (4, 5, 7)),
    )


@pytest.mark.parametrize(
    ("query", "name", "places"),
    [
        ("README", "docs/README.md", (5, 6, 7, 8, 9, 10)),
        ("readme", "docs/README.md", (5, 6, 7, 8, 9, 10)),
        ("README", "docs/readme.md", None),
        ("fs", "file_search.py", (0, 5)),
        ("ab", "a" * 600 + "b", None),
        ("ba", "ab", None),
        ("", "ab", ()),
    ],
)
def test_capitals_are_minded_where_the_query_has_one_and_words_count_from_their_beginning(
    query: str, name: str, places: tuple[int, ...] | None
) -> None:
    found = points(query, name)
    assert (found[1] if found else None) == places


def test_a_search_follows_no_link_reads_no_file_and_ends_at_its_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, ".git/axe", "node_modules/axe", "deep/axe", *(f"axe{number}" for number in range(60)))
    (tmp_path / "link").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "axe-fifo")
    found = [row.path for row in search("axe", [tmp_path, tmp_path, tmp_path / "none"])]
    assert len(found) == len(set(found)) == file_search.MOST_FOUND
    assert not [path for path in found if path.startswith((".git", "node_modules", "link/"))]
    monkeypatch.setattr(file_search, "NAMES", 3)
    assert len(search("axe", [tmp_path])) == 3
    monkeypatch.setattr(file_search, "SEARCH_S", -1.0)
    assert search("axe", [tmp_path]) == ()
