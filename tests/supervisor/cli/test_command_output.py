"""The lines of a command's output that are shown, and the moment of each."""

from supervisor.cli.show.command_output import HEAD, TAIL, CommandOutput


def numbered(first: int, last: int) -> list[str]:
    return [f"line {number}" for number in range(first, last + 1)]


def test_a_line_is_shown_when_the_next_begins_and_the_last_at_the_end() -> None:
    output = CommandOutput(raw=False)
    output.begin("item")
    assert output.take("item", "on") == []
    assert output.take("item", "e\ntwo") == ["one"]
    assert output.end("item") == ["two"]


def test_the_beginning_of_a_long_output_is_shown_as_it_comes_and_its_end_with_what_is_left_out() -> None:
    output = CommandOutput(raw=False)
    shown = output.take("item", "\n".join(numbered(1, 30)) + "\n")
    assert shown == numbered(1, HEAD)
    note, *tail = output.end("item")
    assert note.startswith(f"… {30 - HEAD - TAIL} more lines")
    assert tail == numbered(31 - TAIL, 30)


def test_raw_output_leaves_nothing_out() -> None:
    output = CommandOutput(raw=True)
    whole = numbered(1, 100)
    assert [*output.take_whole("item", "\n".join(whole)), *output.end("item")] == whole


def test_the_outputs_that_are_open_at_the_end_of_a_turn_are_all_shown() -> None:
    output = CommandOutput(raw=False)
    output.take("one", "a")
    output.take("other", "b")
    assert output.end_all() == ["a", "b"]
    assert output.end_all() == []
