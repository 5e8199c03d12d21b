"""Invisible and misleading characters in text, and a visible way of writing them.

Pure, standard library alone: all code that shows foreign text to a person asks here, so there is one list.
"""

import re
import unicodedata

# Characters of a visible category that are drawn as nothing: fillers, variation selectors, the empty Braille pattern,
# the place of an object.
_DRAWN_AS_NOTHING = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
_JOINS_THE_LETTER_BEFORE = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")  # vowels and finals of Korean, one by one
_RIGHT_TO_LEFT = {"R", "AL", "AN"}  # they reverse the text between them, where writing has two directions
_LIKE_LATIN = ("CYRILLIC ", "GREEK ", "ARMENIAN ", "CHEROKEE ", "LISU ", "COPTIC ")
_LETTERS = re.compile(r"[^\W\d_]+")
_ASCII_LETTER = re.compile("[A-Za-z]")
_LOOKS = "\ufe0e\ufe0f"  # they choose the look of the sign before them
_JOINS = "\u200c\u200d"  # they join or part what stands on either side
_KEYCAP = "\u20e3"
_NOT_JOINED = (*_LIKE_LATIN, "LATIN ")  # scripts whose letters nothing joins
_NAMED = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
_RAW_BYTE = range(0xDC80, 0xDD00)  # how Python keeps a byte that is no text


def is_invisible(character: str) -> bool:
    """True if nothing of it is drawn, or a terminal obeys it: controls, formats, strange blanks, unassigned ones."""
    return not character.isprintable() or _DRAWN_AS_NOTHING.match(character) is not None


def is_joiner(character: str) -> bool:
    """True if it joins or parts letters, or chooses the look of a sign: not seen, and not always without a use."""
    return character in _JOINS or character in _LOOKS


def is_of_use(text: str, at: int) -> bool:
    """True if a joiner stands where writing has a use for it; anywhere else it hides something.

    In prose: Persian, Hindi and pictures of several parts need them. Between ASCII letters, or one after the other,
    they are how words for a machine are hidden from a person.
    """
    character, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if character in _LOOKS:
        return (before in set("0123456789#*") and after == _KEYCAP) or _is_a_sign(before)
    if character not in _JOINS:
        return False
    before = text[at - 2 : at - 1] if before and before in _LOOKS else before
    return _is_joined(before) and _is_joined(after)


def _is_a_sign(character: str) -> bool:
    seen = character != "" and not character.isascii() and not is_invisible(character)
    return seen and unicodedata.category(character)[0] in "SP"


def _is_joined(character: str) -> bool:
    if character == "" or character.isascii() or is_invisible(character):
        return False
    return not unicodedata.name(character, "").startswith(_NOT_JOINED)


def is_plain(text: str) -> bool:
    """True if no character of the text is invisible by itself."""
    return text.isprintable() and _DRAWN_AS_NOTHING.search(text) is None


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
    if is_plain(text):
        return text
    return "".join(escape(character) if is_invisible(character) else character for character in text)


def hidden_in(text: str) -> str:
    """The first invisible character, written visibly; empty if there is none."""
    return next((escape(character) for character in text if is_invisible(character)), "")


def misleading_places(text: str) -> frozenset[int]:
    """The places of characters that would be misread in a text that must be understood to the letter."""
    if text.isascii() and text.isprintable():
        return frozenset()
    places = {at for at, character in enumerate(text) if _misleads(character)}
    for run in _LETTERS.finditer(text):
        if _ASCII_LETTER.search(run[0]):
            places |= {run.start() + at for at, character in enumerate(run[0]) if _like_latin(character)}
    return frozenset(places)


def _misleads(character: str) -> bool:
    """True if it is invisible, drawn over its neighbour, moves its neighbours, or looks like an ASCII character."""
    if character.isascii():
        return not character.isprintable()
    return (
        is_invisible(character)
        or unicodedata.category(character).startswith("M")
        or unicodedata.bidirectional(character) in _RIGHT_TO_LEFT
        or _JOINS_THE_LETTER_BEFORE.match(character) is not None
        or _stands_for_ascii(unicodedata.normalize("NFKC", character))
    )


def _stands_for_ascii(folded: str) -> bool:
    return folded.isascii() and (len(folded) == 1 or folded.isalpha())


def _like_latin(character: str) -> bool:
    return not character.isascii() and unicodedata.name(character, "").startswith(_LIKE_LATIN)
