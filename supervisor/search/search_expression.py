"""The words of a search, as a person types them, made into an expression of FTS5. Pure.

Words are AND-ed, "quotes" hold a phrase together, and a star at the end of either matches any continuation. Nothing
else has a meaning, so that no text is an error of syntax.
"""

import re

from actors.vocabulary.errors import InvalidInput

MOST_WORDS = 32
PART = re.compile(r'"(?P<phrase>[^"]*)"?(?P<prefix>\*?)|(?P<word>[^\s"]+)')


def expression(text: str) -> str:
    parts = [part for found in PART.finditer(text) if (part := _part(found))]
    if not parts:
        raise InvalidInput(
            'query: there is no word to search for; write words, "a phrase" or the beginning of a word*'
        )
    if len(parts) > MOST_WORDS:
        raise InvalidInput(f"query: {len(parts)} words and phrases, {MOST_WORDS} are possible")
    return " AND ".join(parts)


def _part(found: re.Match[str]) -> str:
    """A quoted string, which FTS5 cuts into words itself; empty if no letter or digit is in it."""
    text = found["phrase"] if found["word"] is None else found["word"]
    if not any(map(str.isalnum, text)):
        return ""
    clean = "".join(letter if letter.isprintable() else " " for letter in text)
    prefix = bool(found["prefix"]) or (found["word"] is not None and text.endswith("*"))
    return f'"{clean}"*' if prefix else f'"{clean}"'
