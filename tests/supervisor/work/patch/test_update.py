"""The place of chunks in a file, the text around them, and their diffs."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.work.patch.diff import diff_lines
from supervisor.work.patch.errors import PatchMismatch
from supervisor.work.patch.grammar import UpdateFile, parse
from supervisor.work.patch.locate import apply_chunks
from supervisor.work.patch.text import split_lines


def after(content: str, *lines: str) -> str:
    text = "\n".join(["*** Begin Patch", "*** Update File: f", *lines, "*** End Patch"])
    (operation,) = parse(text)
    assert isinstance(operation, UpdateFile)
    return apply_chunks(content, operation.chunks, "/w/f")


def test_removed_lines_give_way_to_added_ones() -> None:
    assert after("a\nb\nc\n", " a", "-b", "+B", " c") == "a\nB\nc\n"


def test_a_context_moves_the_search_past_its_first_match() -> None:
    assert after("x\ndef f\nx\ndef g\nx\n", "@@ def g", "-x", "+y") == "x\ndef f\nx\ndef g\ny\n"


def test_each_chunk_is_searched_after_the_one_before() -> None:
    assert after("x\nx\nx\n", "-x", "+1", "@@", "-x", "+2") == "1\n2\nx\n"


def test_an_addition_alone_goes_after_its_context() -> None:
    assert after("def f\n  a\ndef g\n  b\n", "@@ def f", "+  new") == "def f\n  new\n  a\ndef g\n  b\n"


def test_an_addition_alone_without_context_goes_to_the_end() -> None:
    assert after("a\n\n", "+b") == "a\n\nb\n"


def test_an_addition_at_the_end_followed_by_an_earlier_edit_misplaces_nothing() -> None:
    assert after("a\nb\nc\n", "@@", "+end", "@@", "-a", "+A") == "A\nb\nc\nend\n"


def test_an_addition_marked_end_of_file_goes_to_the_end_in_spite_of_its_context() -> None:
    assert after("a\nb\n", "@@ a", "+c", "*** End of File") == "a\nb\nc\n"


def test_a_place_that_only_begins_right_is_passed_over() -> None:
    assert after("a\na\nb\na\n", " a", "-b") == "a\na\na\n"


def test_an_empty_line_of_context_fits_an_empty_file() -> None:
    assert after("", "@@", "", "+a") == "a\n"


def test_two_additions_at_one_place_keep_their_order() -> None:
    assert after("a\n", "+1", "@@", "+2") == "a\n1\n2\n"


def test_end_of_file_prefers_the_last_lines() -> None:
    assert after("x\ny\nx\n", "-x", "+z", "*** End of File") == "x\ny\nz\n"


def test_end_of_file_falls_back_to_a_search() -> None:
    assert after("x\ny\n", "-x", "+z", "*** End of File") == "z\ny\n"


def test_end_of_file_does_not_reach_back_into_a_chunk_before() -> None:
    with pytest.raises(PatchMismatch):
        after("a\nb\n", "-a", "-b", "+c", "@@", "-b", "+d", "*** End of File")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("a", "a"),
        ("a  ", "a"),
        ("\t  a", "a"),
        ("a – “b”\u00a0‘c’ − d", "a - \"b\" 'c' - d"),  # noqa: RUF001 - typography is the point
    ],
)
def test_a_line_is_found_in_four_readings(line: str, wanted: str) -> None:
    assert after(f"first\n{line}\n", f"-{wanted}", "+new") == "first\nnew\n"


def test_a_stricter_reading_wins_over_an_earlier_place() -> None:
    assert after("  a\na\n", "-a", "+b") == "  a\nb\n"


def test_context_that_matched_loosely_keeps_the_text_of_the_file() -> None:
    assert after("  a\n\tb  \nc\n", " a", " b", "-c", "+d") == "  a\n\tb  \nd\n"


def test_an_empty_line_at_the_end_of_a_chunk_may_stand_for_the_last_line_feed() -> None:
    assert after("a\nb\n", "-b", "+c", "") == "a\nc\n"


def test_missing_context_is_told() -> None:
    with pytest.raises(PatchMismatch, match=r"^Failed to find context 'def q' in /w/f\n"):
        after("a\n", "@@ def q", "-a")


def test_missing_lines_are_told() -> None:
    with pytest.raises(PatchMismatch) as failure:
        after("a\n", "-a", ' "é"\t')
    assert failure.value.message.startswith('Failed to find expected lines ["a", "\\"é\\"\\t"] in /w/f\n')


def test_the_result_ends_with_a_newline() -> None:
    assert after("a\nb", "-a", "+A") == "A\nb\n"


def test_a_file_whose_every_line_goes_is_empty() -> None:
    assert after("a\nb\n", "-a", "-b") == ""


def test_an_empty_file_can_be_filled() -> None:
    assert after("", "+a") == "a\n"


def test_a_file_with_carriage_returns_keeps_them_and_its_new_lines_have_them() -> None:
    assert after("a\r\nb\r\nc", "-b", "+B", "+B2", "@@", "+d") == "a\r\nB\r\nB2\r\nc\r\nd\r\n"


def test_in_a_mixed_file_only_the_changed_lines_are_touched() -> None:
    assert after("a\r\nb\nc\r\n", "-b", "+B", "@@", " c", "+d") == "a\r\nB\nc\r\nd\r\n"


def test_a_byte_order_mark_is_no_part_of_the_first_line_and_stays() -> None:
    assert after("\ufeffa\nb\n", "-a", "+A") == "\ufeffA\nb\n"


def test_an_odd_separator_is_no_line_end() -> None:
    assert after("a\x0cb\u2028c\nd\n", "-d", "+e") == "a\x0cb\u2028c\ne\n"


# --- any edit of any file ------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=8)
FILES = st.lists(TEXT, max_size=12)


def as_chunk(old: list[str], new: list[str]) -> list[str]:
    lines = [line for line in difflib.ndiff(old, new, charjunk=None) if not line.startswith("?")]
    return [line[0] + line[2:] for line in lines]


@given(FILES, FILES)
def test_a_chunk_that_shows_the_whole_file_gives_exactly_the_new_one(old: list[str], new: list[str]) -> None:
    chunk = as_chunk(old, new)
    content = "".join(line + "\n" for line in old)
    expected = "".join(line + "\n" for line in new)
    marked = [line for line in chunk if line[0] != " "]
    if marked:
        assert after(content, "@@", *chunk) == expected


@given(st.lists(TEXT.filter(str.strip), max_size=30, unique_by=str.strip), st.data())
def test_chunks_with_little_context_give_exactly_the_new_file(old: list[str], data: st.DataObject) -> None:
    new = [line for line in old if data.draw(st.integers(0, 4))]
    for _ in range(data.draw(st.integers(0, 4))):
        new.insert(data.draw(st.integers(0, len(new))), f"new{data.draw(st.integers(0, 99))}")
    lines: list[str] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(1):
        lines.append("@@")
        for tag, a1, a2, b1, b2 in group:
            lines += [" " + line for line in old[a1:a2] if tag == "equal"]
            lines += ["-" + line for line in old[a1:a2] if tag != "equal"]
            lines += ["+" + line for line in new[b1:b2] if tag != "equal"]
    if lines and not any(line.startswith("new") for line in old):
        content = "".join(line + "\n" for line in old)
        assert after(content, *lines) == "".join(line + "\n" for line in new)


# --- diffs ---------------------------------------------------------------------------------------------------------


def test_a_changed_line_is_one_hunk_without_a_header() -> None:
    assert "".join(diff_lines("original content\n", "modified content\n", 1)) == (
        "@@ -1 +1 @@\n-original content\n+modified content\n"
    )


def test_a_missing_last_line_feed_is_told() -> None:
    assert "".join(diff_lines("a", "b\n", 1)) == "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"


def test_equal_texts_have_no_diff() -> None:
    assert "".join(diff_lines("a\n", "a\n", 3)) == ""


@given(FILES, FILES, st.integers(1, 3))
def test_diffs_are_those_of_difflib(old: list[str], new: list[str], context: int) -> None:
    before, now = ("".join(line + "\n" for line in lines) for lines in (old, new))
    ours = list(diff_lines(before, now, context))
    theirs = list(difflib.unified_diff(split_lines(before), split_lines(now), n=context))[2:]
    changed = [line for line in ours if line[0] in "+-"]
    assert len(changed) <= len(split_lines(before)) + len(split_lines(now))
    assert applied(before, ours) == now
    assert bool(ours) == bool(theirs)


def applied(content: str, diff: list[str]) -> str:
    """Apply a diff, as an independent little `patch`: goes by the line numbers of the hunks alone."""
    lines = split_lines(content)
    result: list[str] = []
    done = 0
    for line in diff:
        if line.startswith("@@"):
            first, _, count = line.split()[1][1:].partition(",")
            start = int(first) - (0 if count == "0" else 1)
            result += lines[done:start]
            done = start
        elif line[0] == "+":
            result.append(line[1:])
        else:
            assert lines[done] == line[1:]
            result += lines[done : done + 1] if line[0] == " " else []
            done += 1
    return "".join(result + lines[done:])


FILE = "import os\n\n\ndef greet(name):\n    print('hello', name)\n    return name\n\n\ndef part(name):\n    pass\n"


def mistake(*lines: str) -> str:
    with pytest.raises(PatchMismatch) as failure:
        after(FILE, *lines)
    return failure.value.message


def test_the_nearest_lines_are_shown_with_the_one_that_differs() -> None:
    told = mistake("@@", " def greet(name):", "-    print('hi', name)", "+    print(name)")
    assert "This is change 1 of 1 for that file; nothing of the patch was applied." in told
    assert "     4|def greet(name):\n     5|    print('hello', name)\n" in told
    assert "Line 5 differs: the patch has \"    print('hi', name)\"." in told


def test_a_line_that_is_only_alike_is_found_too() -> None:
    told = mistake("-    print('helo', nam)", "+    pass")
    assert "     5|    print('hello', name)\n" in told


def test_a_change_that_was_made_before_is_told_to_be_so() -> None:
    told = mistake(" def greet(name):", "-    say(name)", "+    print('hello', name)", "     return name")
    assert "The file has what this change makes already, at line 4: leave the change out." in told


def test_changes_in_the_wrong_order_are_told_to_be_so() -> None:
    told = mistake("@@ def part(name):", "-    pass", "+    go()", "@@", "-import os", "+import sys")
    assert "This is change 2 of 2" in told
    assert "These lines are at line 1, before the place of an earlier change" in told


def test_a_context_line_that_is_only_alike_is_shown() -> None:
    told = mistake("@@ def greets(name):", "-    pass", "+    go()")
    assert "     4|def greet(name):\n" in told


def test_of_a_file_that_has_nothing_like_it_that_is_said() -> None:
    assert "Nothing in the file is like them" in mistake("-zzzzzzzzzz", "+y")
