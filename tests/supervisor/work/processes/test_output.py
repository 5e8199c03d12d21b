"""The part of an output that is kept: the bounds, the gap, and characters that pieces cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.work.processes.output import Capture, whole_length


def captured(*pieces: bytes, keep: int) -> Capture:
    capture = Capture(keep)
    for piece in pieces:
        capture.add(piece)
    return capture


def test_output_that_fits_is_kept_unchanged() -> None:
    assert captured(b"abc", b"def", keep=6).text() == "abcdef"


def test_of_what_does_not_fit_head_and_tail_are_kept_and_the_gap_says_its_size() -> None:
    assert captured(b"0123456789" * 10, keep=10).text() == "01234\n[… 90 bytes left out …]\n56789"


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(2, 64))
def test_head_and_tail_are_the_same_however_the_bytes_came(pieces: list[bytes], keep: int) -> None:
    data = b"".join(pieces)
    assert captured(*pieces, keep=keep).text() == captured(data, keep=keep).text()


@given(st.text(alphabet="aé€😀", min_size=1, max_size=200), st.integers(8, 64))
def test_no_character_is_cut_by_the_gap_and_the_counted_bytes_add_up(text: str, keep: int) -> None:
    data = text.encode()
    capture = captured(data, keep=keep)
    shown = capture.text()
    assert "�" not in shown
    if capture.omitted_bytes:
        head, _, rest = shown.partition("\n[… ")
        size, _, tail = rest.partition(" bytes left out …]\n")
        assert len(head.encode()) + int(size) + len(tail.encode()) == len(data)
        assert text.startswith(head)
        assert text.endswith(tail)


def test_memory_stays_bounded_however_much_comes() -> None:
    capture = Capture(1000)
    for _ in range(10_000):
        capture.add(b"x" * 999)
        assert len(capture._head) + len(capture._tail) <= 500 + 2 * 500
    assert capture.total == 9_990_000


def test_binary_is_replaced_in_text_and_counted_whole() -> None:
    assert captured(b"\xff\x00\xfe", keep=10).text() == "\ufffd\x00\ufffd"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"", 0),
        (b"a", 1),
        ("é".encode(), 2),
        ("aé".encode()[:-1], 1),
        ("€".encode()[:-1], 0),
        ("a😀".encode()[:-1], 1),
        ("a😀".encode()[:-3], 1),
        ("a😀".encode(), 5),
        (b"\x80\x80\x80\x80", 4),
    ],
)
def test_a_piece_ends_before_the_character_that_it_cuts(data: bytes, size: int) -> None:
    assert whole_length(data) == size
