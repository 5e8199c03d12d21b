"""The unfinished tail: coalesced, bounded, and readable from any offset."""

from actors.conversation import tail as tails
from actors.conversation.tail import Tail, add_delta, delta_of, key_of, without_item
from actors.vocabulary.ids import ItemId
from tests.actors.conversation import words as w


def tail_of(*pieces: str) -> Tail:
    made: tuple[Tail, ...] = ()
    for piece in pieces:
        made = add_delta(made, w.delta(piece), since=1)
    (tail,) = made
    return tail


def test_a_tail_reads_the_same_from_every_offset_as_the_text_it_was_made_of() -> None:
    tail = tail_of("ab", "", "cde", "f")
    for offset in range(8):
        assert tail.content_after(offset) == ("abcdef"[offset:], False)


def test_a_tail_of_many_pieces_is_joined_and_says_the_same() -> None:
    words = [f"{number} " for number in range(1000)]
    tail = tail_of(*words)
    assert len(tail.pieces) <= tails.PIECES
    assert tail.text() == "".join(words)
    assert tail.content_after(len("0 1 2 "))[0] == "".join(words[3:])


def test_a_tail_is_bounded_keeps_its_end_and_tells_readers_that_something_is_missing() -> None:
    piece = "x" * 1000
    tail = tail_of(*[piece] * 2000, "end")
    assert tail.end == 2_000_003
    assert len(tail.text()) <= tails.TAIL_LIMIT
    assert tail.text().endswith("xend")
    assert tail.content_after(0)[1]
    assert tail.content_after(tail.end - 3) == ("end", False)


def test_each_stream_of_a_command_has_its_own_tail() -> None:
    made = add_delta(add_delta((), w.chunk(b"a"), 1), w.chunk(b"b", error=True), 1)
    assert [tail.text() for tail in made] == ["a", "b"]
    assert without_item(made, ItemId("command")) == ()


def test_text_and_reasoning_of_one_item_do_not_mix() -> None:
    made = add_delta(add_delta((), w.delta("a", "x"), 1), w.thought("b", "x"), 1)
    assert len({tail.key for tail in made}) == 2


def test_a_coalesced_delta_is_of_the_kind_of_its_parts() -> None:
    for first in (w.delta("a"), w.thought("a")):
        (tail,) = add_delta((), first, 1)
        assert delta_of(tail, "abc") == first.model_copy(update={"delta": "abc"})
    for stream in (w.chunk(b"a"), w.chunk(b"a", error=True)):
        (tail,) = add_delta((), stream, 1)
        assert delta_of(tail, b"abc") == stream.model_copy(update={"chunk": b"abc"})
        assert key_of(delta_of(tail, b"abc")) == tail.key


def test_a_character_that_was_cut_in_two_by_the_pipe_is_read_whole() -> None:
    first, second = "é".encode()[:1], "é".encode()[1:]
    (tail,) = add_delta(add_delta((), w.chunk(first), 1), w.chunk(second), 1)
    assert tail.text() == "é"
