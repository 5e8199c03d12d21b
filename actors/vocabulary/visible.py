"""Characters that a person can see for what they are, and a visible way of writing all others.

Pure, standard library alone: all code that shows foreign text to a person asks here, so there is one list.
"""

import re
import unicodedata

# They have a category of what is drawn, and are drawn as nothing: fillers, variation selectors, the empty Braille
# pattern, the place of an object.
_DRAWN_AS_NOTHING = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
_JOINS_THE_LETTER_BEFORE = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")  # vowels and finals of Korean, one by one
_RIGHT_TO_LEFT = {"R", "AL", "AN"}  # they turn what stands between them round, where writing has two directions
_LIKE_LATIN = ("CYRILLIC ", "GREEK ", "ARMENIAN ", "CHEROKEE ", "LISU ", "COPTIC ")
_LETTERS = re.compile(r"[^\W\d_]+")
_ASCII_LETTER = re.compile("[A-Za-z]")
_NAMED = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
_RAW_BYTE = range(0xDC80, 0xDD00)  # how Python keeps a byte that is no text


def unseen(character: str) -> bool:
    """True if nothing of it is drawn, or a terminal obeys it: controls, formats, strange blanks, unassigned ones."""
    return not character.isprintable() or _DRAWN_AS_NOTHING.match(character) is not None


def escape(character: str) -> str:
    """Escape as bash reads it between `$'` and `'`."""
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code < 0x80:
        return f"\\x{code:02x}"
    if code in _RAW_BYTE:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def visible(text: str) -> str:
    """Write the text as one line in which nothing is hidden."""
    if text.isprintable() and _DRAWN_AS_NOTHING.search(text) is None:
        return text
    return "".join(escape(one) if unseen(one) else one for one in text)


def hidden_in(text: str) -> str:
    """The first invisible character, written visibly; empty if there is none."""
    return next((escape(one) for one in text if unseen(one)), "")


def misread(text: str) -> frozenset[int]:
    """The places of characters that would be misread in a text that must be understood to the letter."""
    if text.isascii() and text.isprintable():
        return frozenset()
    places = {at for at, one in enumerate(text) if _misleads(one)}
    for run in _LETTERS.finditer(text):
        if _ASCII_LETTER.search(run[0]):
            places |= {run.start() + at for at, one in enumerate(run[0]) if _like_latin(one)}
    return frozenset(places)


def _misleads(character: str) -> bool:
    """True if it is invisible, drawn over its neighbour, moves its neighbours, or looks like an ASCII character."""
    if character.isascii():
        return not character.isprintable()
    return (
        unseen(character)
        or unicodedata.category(character).startswith("M")
        or unicodedata.bidirectional(character) in _RIGHT_TO_LEFT
        or _JOINS_THE_LETTER_BEFORE.match(character) is not None
        or _stands_for_ascii(unicodedata.normalize("NFKC", character))
    )


def _stands_for_ascii(folded: str) -> bool:
    return folded.isascii() and (len(folded) == 1 or folded.isalpha())


def _like_latin(character: str) -> bool:
    return not character.isascii() and unicodedata.name(character, "").startswith(_LIKE_LATIN)
