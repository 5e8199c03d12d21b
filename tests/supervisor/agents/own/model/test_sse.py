import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.agents.own.model.sse import EventTooLarge, SseParser

STREAM = (
    b'\xef\xbb\xbfdata: first\n\n: hello\n\nevent: a\ndata: {"one": 1}\n\n\n'
    b"data:no space\nid: 7\ndata: second line \xc3\xa9\xf0\x9f\x98\x80\nretry: 5\n\n"
    b"data\n\ndata:\n\ndata: last: with: colons\n\ndata: unfinished"
)  # fmt: skip  # one event or oddity per group
EVENTS = [b"first", b'{"one": 1}', "no space\nsecond line é😀".encode(), b"last: with: colons"]
NEWLINES = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}


def parsed(*chunks: bytes) -> list[bytes]:
    parser = SseParser()
    return [data for chunk in chunks for data in parser.feed(chunk)]


@pytest.mark.parametrize("newline", NEWLINES.values(), ids=NEWLINES)
def test_a_stream_cut_at_any_byte_gives_the_same_events(newline: bytes) -> None:
    stream = STREAM.replace(b"\n", newline)
    assert parsed(stream) == EVENTS
    for at in range(len(stream) + 1):
        assert parsed(stream[:at], stream[at:]) == EVENTS, at
    assert parsed(*(stream[at : at + 1] for at in range(len(stream)))) == EVENTS


@given(st.sampled_from(sorted(NEWLINES)), st.lists(st.integers(0, len(STREAM) * 2), max_size=12))
def test_a_stream_cut_at_random_places_gives_the_same_events(newline: str, places: list[int]) -> None:
    stream = STREAM.replace(b"\n", NEWLINES[newline])
    cuts = [0, *sorted(places), len(stream)]
    assert parsed(*(stream[start:end] for start, end in itertools.pairwise(cuts))) == EVENTS


@pytest.mark.parametrize("newline", NEWLINES.values(), ids=NEWLINES)
def test_an_event_is_given_with_the_byte_that_ends_it(newline: bytes) -> None:
    """An event must not wait for the next: the last before a silence would wait for its end."""
    end = b"data: x" + newline + (b"\r" if newline == b"\r\n" else newline)
    assert parsed(end) == [b"x"]


def test_mixed_newlines_end_lines_and_events() -> None:
    assert parsed(b"data: a\r\n\ndata: b\n\rdata: c\r\r\ndata: d\r\n\r\n") == [b"a", b"b", b"c", b"d"]


def test_a_byte_order_mark_is_only_skipped_at_the_start() -> None:
    assert parsed(b"data: \xef\xbb\xbfx\n\n\xef\xbb\xbfdata: y\n\n") == [b"\xef\xbb\xbfx"]


def test_an_event_beyond_the_limit_is_refused_and_one_at_the_limit_is_not() -> None:
    parser = SseParser(limit=20)
    assert parser.feed(b"data: " + b"x" * 14) == []
    assert parser.feed(b"\n\n") == [b"x" * 14]
    with pytest.raises(EventTooLarge):
        parser.feed(b"data: " + b"x" * 15)


def test_the_limit_is_for_one_event_and_not_for_the_stream() -> None:
    parser = SseParser(limit=20)
    assert len([data for _ in range(100) for data in parser.feed(b"data: 1234567890\n\n")]) == 100


def test_a_long_event_in_single_bytes_is_read_in_linear_time() -> None:
    """Joining the text so far at each byte would move some 80 GB, and run into this test's timeout."""
    text = b"x" * 400_000
    parser = SseParser()
    for at in range(len(text)):
        parser.feed(text[at : at + 1])
    assert parser.feed(b"\n\n") == []
    assert parser.feed(b"data: " + text + b"\n\n") == [text]
