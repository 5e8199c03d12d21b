"""Pages of a text file: numbers, bounds, and what is no text."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.disk.ordinary_files import NotReadable
from supervisor.loop.worker_job import JobStopped
from supervisor.work.files import pages
from supervisor.work.files.pages import LINE_BYTES, FilePage, read_page

PNG = b"\x89PNG\r\n\x1a\n"
PageOf = Callable[..., FilePage]


def nothing() -> None:
    pass


@pytest.fixture
def page_of(tmp_path: Path) -> PageOf:
    def page(data: bytes, first: int = 1, lines: int = 1000, max_bytes: int = 100_000) -> FilePage:
        (tmp_path / "file").write_bytes(data)
        with (tmp_path / "file").open("rb") as file:
            return read_page(file, first, lines, max_bytes, nothing)

    return page


def test_lines_have_their_numbers_and_the_page_says_how_many_there_are(page_of: PageOf) -> None:
    page = page_of(b"a\nb\r\n\nd")
    assert page.text == "     1\ta\n     2\tb\n     3\t\n     4\td\n"
    assert (page.extent, page.ends_early) == ("lines 1-4 of 4", False)


def test_a_page_begins_where_it_is_wanted_and_ends_with_its_lines(page_of: PageOf) -> None:
    page = page_of(b"".join(b"%d\n" % number for number in range(1, 10_001)), 5_000, 2)
    assert page.text == "  5000\t5000\n  5001\t5001\n"
    assert (page.extent, page.ends_early) == ("lines 5000-5001 of 10000", True)


def test_a_page_ends_before_the_line_that_does_not_fit(page_of: PageOf) -> None:
    page = page_of(b"aaaa\nbbbb\ncccc\n", max_bytes=25)
    assert (page.last, page.total) == (2, 3)
    assert page_of(b"aaaa\nbbbb\n", max_bytes=1).last == 1  # one line always, or nobody gets on


def test_a_line_without_end_is_cut_and_says_how_much_follows(page_of: PageOf) -> None:
    page = page_of(b"x" * 3_000_000 + b"\nnext\n")
    assert (
        page.text
        == f"     1\t{'x' * LINE_BYTES} [the line goes on for {3_000_001 - LINE_BYTES} bytes]\n     2\tnext\n"
    )


def test_an_empty_file_is_empty(page_of: PageOf) -> None:
    assert (page_of(b"").text, page_of(b"").extent) == ("", "empty")


@pytest.mark.parametrize("data", [b"", b"a", b"a\n", b"a\nb"])
def test_a_page_behind_the_end_is_refused_with_the_number_of_lines(page_of: PageOf, data: bytes) -> None:
    with pytest.raises(NotReadable, match=f"the file has {len(data.splitlines())} lines, and none from 9 on"):
        page_of(data, 9)


@pytest.mark.parametrize(
    ("data", "told"), [(b"\x7fELF\0\0", "binary data, 6 bytes"), (PNG + b"\0", "look at it with view_image")]
)
def test_a_file_that_is_no_text_is_named_as_such(page_of: PageOf, data: bytes, told: str) -> None:
    with pytest.raises(NotReadable, match=told):
        page_of(data)


def test_bytes_that_are_no_text_and_control_characters_are_replaced(page_of: PageOf) -> None:
    assert page_of(b"caf\xe9\x07\n").text == "     1\tcaf\ufffd\ufffd\n"


def test_a_file_too_large_to_be_counted_has_no_total(page_of: PageOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "COUNTED_BYTES", 10)
    page = page_of(b"a\n" * 100, lines=3)
    assert (page.extent, page.ends_early) == ("lines 1-3", True)


def test_a_line_too_far_into_a_file_is_refused_with_a_way_out(
    page_of: PageOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SKIPPED_BYTES", 10)
    monkeypatch.setattr(pages, "CHUNK", 4)
    with pytest.raises(NotReadable, match="sed -n"):
        page_of(b"a\n" * 100, 90)


def test_a_stopped_job_ends_in_the_middle_of_a_huge_file(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as made:
        made.write(b"line\n")
        made.truncate(1 << 40)  # sparse: a terabyte that takes no room
    steps = iter(range(5))

    def go_on() -> None:
        if next(steps, None) is None:
            raise JobStopped

    with (tmp_path / "file").open("rb") as file, pytest.raises((JobStopped, NotReadable)):
        read_page(file, 100, 10, 1000, go_on)


@given(st.binary(max_size=400), st.integers(1, 20), st.integers(1, 400))
def test_pages_one_behind_the_other_are_the_file(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, lines: int, max_bytes: int
) -> None:
    data = b"t" + data.replace(b"\0", b"\n\n").replace(b"\r", b"\n")  # and so no picture
    path = tmp_path_factory.getbasetemp() / "paged"
    path.write_bytes(data)
    wanted = data.split(b"\n")[: None if data and not data.endswith(b"\n") else -1]
    found: list[str] = []
    with path.open("rb") as file:
        while len(found) < len(wanted):
            file.seek(0)
            page = read_page(file, len(found) + 1, lines, max_bytes, nothing)
            assert page.total == len(wanted)
            shown = page.text.split("\n")[:-1]
            assert 1 <= len(shown) <= lines
            found += [line.partition("\t")[2] for line in shown]
    assert found == [line.decode("utf-8", "replace").translate(pages.UNPRINTABLE) for line in wanted]
