"""Quoting, branch by branch: a shell reads back what was meant."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary.quoting import quote_command, quote_word

WORDS = {
    "": "''",
    "plain": "plain",
    "A-Z_az09+./:@]": "A-Z_az09+./:@]",
    # not bare: single quotes
    "a b": "'a b'",
    "a=b": "'a=b'",
    "a,b%c": "'a,b%c'",
    "[x": "'[x'",
    "~": "'~'",
    "é": "'é'",
    "a\nb": "'a\nb'",
    'say "hi"': "'say \"hi\"'",
    "$x `y` !": "'$x `y` !'",
    # ' or \\: double quotes, with escapes
    "it's": '"it\'s"',
    "a\\b": '"a\\\\b"',
    "'\"\\": '"\'\\"\\\\"',
    # neither will do: pieces
    "it's $5": "\"it's \"'$5'",
    "$'": "'$'\"'\"",
    "a'!b'c": "\"a'\"'!b'\"'c\"",
    "\\`": '"\\\\"' + "'`'",
    # a caret only right after an opening single quote
    "^": "'^'",
    "^a b": "'^a b'",
    "a^b": "a'^b'",
    "a b^c": "'a b''^c'",
    "^^": "'^''^'",
    "^'": "'^'\"'\"",
}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_quoted_like_this(word: str) -> None:
    assert quote_word(word) == WORDS[word]


def test_a_command_is_its_words_joined_by_blanks() -> None:
    assert quote_command(["git", "commit", "-m", "it's done", ""]) == "git commit -m \"it's done\" ''"
    assert quote_command(["git", "init"]) == "git init"
    assert quote_command([]) == ""


def test_a_command_with_a_nul_is_only_joined() -> None:
    assert quote_command(["a b", "c\0d"]) == "a b c\0d"


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_a_shell_reads_back_the_same_words(words: list[str]) -> None:
    assert shlex.split(quote_command(words)) == words
