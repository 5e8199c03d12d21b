"""Words as people type them, as an expression that FTS5 always understands."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary.errors import InvalidInput
from supervisor.search.search_expression import MOST_WORDS, expression


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("red fox", '"red" AND "fox"'),
        ('"red fox" jumps', '"red fox" AND "jumps"'),
        ("red*", '"red*"*'),
        ('"red fo"*', '"red fo"*'),
        ('an "open end', '"an" AND "open end"'),
        ("OR NOT NEAR(a, b)", '"OR" AND "NOT" AND "NEAR(a," AND "b)"'),
        ("text:secret ^first", '"text:secret" AND "^first"'),
        ("a -- b ()", '"a" AND "b"'),
        ("nul\x00byte", '"nul byte"'),
    ],
)
def test_words_are_anded_and_nothing_but_quotes_and_a_star_has_a_meaning(typed: str, meant: str) -> None:
    assert expression(typed) == meant


@pytest.mark.parametrize("typed", ["", "   ", '"', '""', "*", "-- ()", "…"])
def test_a_search_without_a_word_is_refused_with_what_to_write(typed: str) -> None:
    with pytest.raises(InvalidInput, match="no word to search for"):
        expression(typed)


def test_more_words_than_fts_can_hold_together_are_refused() -> None:
    with pytest.raises(InvalidInput, match=f"{MOST_WORDS + 1} words"):
        expression("word " * (MOST_WORDS + 1))


@pytest.fixture(scope="module")
def table() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')")
    return db


@given(typed=st.text(st.characters(exclude_categories=["Cs"])) | st.text('"*^:-+(){}ab \x00\x02ORNT'))
def test_no_text_is_an_error_of_syntax(table: sqlite3.Connection, typed: str) -> None:
    try:
        meant = expression(typed)
    except InvalidInput:
        return
    table.execute("SELECT rowid FROM words WHERE words MATCH ?", (meant,)).fetchall()
