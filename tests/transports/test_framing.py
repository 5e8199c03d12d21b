"""Bytes to lines, whatever the pieces they come in."""

import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.lines import fed
from transports.framing import LINE_LIMIT, Line, LineSplitter, LineTooLong, TooMany

STREAM = b'{"a":1}\r\n\n  \r\nna\xc3\xafve\r\r\n\xe2\x80\xa8 is no line end\n\rx\ry\nlast'
LINES: list[Line] = [b'{"a":1}', b"na\xc3\xafve\r", b"\xe2\x80\xa8 is no line end", b"\rx\ry", b"last"]


def split(*chunks: bytes, limit: int = LINE_LIMIT) -> list[Line]:
    splitter = LineSplitter(limit, values=LINE_LIMIT)
    lines = [line for chunk in chunks for line in fed(splitter, chunk)]
    return lines + splitter.end()


@pytest.mark.parametrize("at", range(len(STREAM) + 1))
def test_a_split_at_any_byte_gives_the_same_lines(at: int) -> None:
    assert split(STREAM[:at], STREAM[at:]) == LINES


def test_single_bytes_give_the_same_lines() -> None:
    assert split(*(STREAM[i : i + 1] for i in range(len(STREAM)))) == LINES


@given(
    st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line and line.strip() and line[-1:] != b"\r")),
    st.lists(st.integers(0, 400)),
)
def test_any_lines_in_any_pieces_come_out_as_they_went_in(lines: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    chunks = [stream[start:stop] for start, stop in pairwise(edges)]
    assert split(*chunks) == lines


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("piece", [1, 7, 64, 1000])
def test_the_limit_is_exact_and_an_over_long_line_stays_in_its_place(end: bytes, piece: int) -> None:
    stream = b"first" + end + b"x" * 64 + end + b"y" * 65 + end + b"last" + end
    chunks = [stream[at : at + piece] for at in range(0, len(stream), piece)]
    assert split(*chunks, limit=64) == [b"first", b"x" * 64, LineTooLong(64 + len(end)), b"last"]


def test_a_line_that_never_ends_is_reported_when_the_stream_does() -> None:
    assert split(b"x" * 50, b"x" * 50, limit=64) == [LineTooLong(100)]


def test_an_over_long_line_is_not_kept() -> None:
    splitter = LineSplitter(limit=1 << 16)
    for _ in range(64):
        assert fed(splitter, b"x" * (1 << 16)) == []
        assert len(splitter._rest) <= (1 << 16) + 1
    assert fed(splitter, b"\nnext\n") == [LineTooLong(1 << 22), b"next"]


@pytest.mark.parametrize("size", [2**16 - 1, 2**16, 2**16 + 1, 2**20, LINE_LIMIT - 1, LINE_LIMIT])
def test_a_line_of_any_size_up_to_the_limit_is_byte_exact(size: int) -> None:
    line = (bytes(range(32, 256)) * (size // 224 + 1))[:size]
    stream = line + b"\nafter\n"
    assert split(*(stream[at : at + 2**16] for at in range(0, len(stream), 2**16))) == [line, b"after"]


def test_one_byte_over_the_limit_is_too_long() -> None:
    assert split(b"x" * LINE_LIMIT, b"x", b"\nafter\n") == [LineTooLong(LINE_LIMIT + 1), b"after"]


def test_the_longest_line_in_small_pieces_costs_no_more_than_copying_it() -> None:
    """16384 pieces: quadratic work would copy 128 GiB and take minutes."""
    splitter, piece = LineSplitter(), b"x" * 1024
    started = time.process_time()
    for _ in range(LINE_LIMIT // 1024):
        assert not fed(splitter, piece)
    (line,) = fed(splitter, b"\n")
    assert not isinstance(line, LineTooLong | TooMany)
    assert len(line) == LINE_LIMIT
    assert time.process_time() - started < 4.0


def test_many_small_lines_in_one_piece_cost_no_more_than_splitting_it() -> None:
    started = time.process_time()
    assert len(fed(LineSplitter(), b"{}\n" * 500_000)) == 500_000
    assert time.process_time() - started < 8.0


# --- how many values a line has -----------------------------------------------------------------------------------

MANY = 20_000


@pytest.mark.parametrize("value", [b"[]", b"{}", b"12345", b'"ab"', b"null", b'{"a":1}', b'"\\\\"', b'"\\""'])
def test_a_long_line_of_too_many_values_is_skipped(value: bytes) -> None:
    line = b"[" + b",".join([value] * (2 * MANY)) + b"]"
    assert fed(LineSplitter(values=MANY), line + b"\nafter\n") == [TooMany(len(line), MANY), b"after"]


@pytest.mark.parametrize("text", ["a,b,[c],{d}," * MANY, '"' * MANY * 4, "\\" * MANY * 4, "[]," * MANY])
@pytest.mark.parametrize("size", [997, 1 << 20])
def test_marks_in_a_text_are_not_counted(text: str, size: int) -> None:
    line, splitter = json.dumps({"text": text, "more": [text]}).encode(), LineSplitter(values=MANY)
    stream = line + b"\nafter\n"
    assert [one for at in range(0, len(stream), size) for one in fed(splitter, stream[at : at + size])] == [
        line,
        b"after",
    ]
