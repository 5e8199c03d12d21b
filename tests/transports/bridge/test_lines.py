import time

import pytest

from transports.bridge.lines import LineReader

SAID = b"one\n\ntwo\r\n" + bytes(range(11, 256)) + b"\nlast"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_lines_are_the_same_however_they_were_cut(size: int) -> None:
    lines = LineReader()
    got = [line for at in range(0, len(SAID), size) for line in lines.feed(SAID[at : at + size])]
    assert b"".join(got + lines.end()) == SAID + b"\n"
    assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in got)


def test_nothing_is_left_after_a_newline() -> None:
    lines = LineReader()
    assert lines.feed(b"a\nb\n") == [b"a\n", b"b\n"]
    assert lines.end() == []


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_line_over_the_limit_is_let_go_of_and_the_next_one_is_read(size: int) -> None:
    lines, said = LineReader(limit=10), b"short\n" + b"x" * 50 + b"\nnext\n"
    got = [line for at in range(0, len(said), size) for line in lines.feed(said[at : at + size])]
    assert b"short\n" in got
    assert b"next\n" in got
    assert lines.skipped == (1 if size < 50 else 0)


def test_the_time_for_a_long_line_grows_with_its_length_only() -> None:
    """Looked at anew for each chunk, this line would mean to move 128 GiB."""
    lines, chunk = LineReader(), b"x" * 1024
    began = time.process_time()
    for _ in range(16 * 1024):
        assert lines.feed(chunk) == []
    assert len(lines.feed(b"\n")[0]) == (16 << 20) + 1
    assert time.process_time() - began < 12.0
