"""Texts that are too long for where they are shown."""

import pytest

from actors.vocabulary.brief import brief, brief_line


@pytest.mark.parametrize(("text", "shown"), [("", ""), ("ten signs.", "ten signs."), ("eleven sign", "eleven si…")])
def test_a_text_is_shown_whole_or_with_a_mark_within_the_bound(text: str, shown: str) -> None:
    assert brief(text, 10) == shown


def test_several_lines_become_one_before_they_are_measured() -> None:
    assert brief_line("one\n\n  two\t", 7) == "one two"
