"""A command's output as the model reads it: head and tail, and what is missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.formats.head_and_tail import head_and_tail


def test_short_output_is_told_as_it_is() -> None:
    assert head_and_tail("a\nb", 10, 5) == "a\nb"
    assert head_and_tail("", 10, 5) == ""


def test_too_many_lines_keep_the_first_and_the_last() -> None:
    text = "".join(f"{number}\n" for number in range(10))
    assert head_and_tail(text, 1000, 4) == (
        "0\n1\n[… 12 bytes left out: at most 4 lines and 1000 bytes are shown …]\n8\n9\n"
    )


def test_too_many_bytes_keep_both_ends_and_cut_no_character() -> None:
    told = head_and_tail("ä" * 100, 21, 5)
    head, gap, tail = told.split("\n")
    assert (head, tail) == ("ä" * 5, "ä" * 5)
    assert gap.startswith("[… 180 bytes left out: ")


def test_one_long_line_among_many_is_cut_by_bytes() -> None:
    told = head_and_tail("first\n" + "x" * 1000 + "\nlast\n", 100, 256)
    assert told.startswith("first\nx")
    assert told.endswith("x\nlast\n")


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\x0b", "\u2028"])
def test_other_line_ends_count_as_lines_too(newline: str) -> None:
    told = head_and_tail(newline.join("abcdefgh"), 1000, 4)
    assert told.startswith("a")
    assert told.endswith("h")
    assert "bytes left out" in told


@given(st.text(max_size=300), st.integers(4, 60), st.integers(2, 12))
def test_head_and_tail_begin_and_end_as_the_output_and_are_bounded(text: str, size: int, lines: int) -> None:
    text = text.encode("utf-8", "ignore").decode()
    told = head_and_tail(text, size, lines)
    if told != text:
        head, gap, tail = told.partition("\n[… ")
        assert gap
        assert text.startswith(head.rstrip("\n"))
        assert text.endswith(tail.split("…]\n", 1)[1])
        assert len(told.encode()) <= size + 100
