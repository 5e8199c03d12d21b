"""The names that a conversation may be given, and those that are made of its first words. Pure.

Names in earlier journals stay as they are.
"""

import unicodedata

from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.visible_text import hidden_in, visible

WORDS = 4  # of a name that is made of a message
LONGEST = 20  # cells of such a name, so that a table of 80 columns has room for it and for what it is about
_WIDE = {"W", "F"}  # letters that take two cells


def refused_name(name: str | None) -> InvalidInput | None:
    """The refusal of a name that no person could read and type again."""
    if name is None:
        return None
    hidden = hidden_in(name)
    if hidden:
        return InvalidInput(f"the name {visible(name)} is not accepted: nobody can see its {hidden}; leave it out")
    if name and not name.strip():
        return InvalidInput("a name of blanks alone is not accepted, because nobody can see it; use letters")
    return None


def names_for(words: str, conversation: str) -> tuple[str, ...]:
    """Names for a conversation, made of its first words, the best first; none if there is no letter in them.

    Many conversations may begin alike: the last of the names have a piece of the conversation's id.
    """
    stem = _stem(words)
    if not stem or refused_name(stem) is not None:
        return ()
    piece = conversation.replace("-", "")
    return (stem, f"{stem}-2", f"{stem}-3", f"{stem}-{piece[-4:]}", f"{stem}-{piece[-12:]}")


def _stem(text: str) -> str:
    """The first words in small letters with dashes between them: whole words, but for a first that is too long."""
    stem = ""
    for word in _words(text)[:WORDS]:
        longer = f"{stem}-{word}" if stem else word
        if _cells(longer) > LONGEST:
            break
        stem = longer
    return stem or _first_cells(next(iter(_words(text)), ""))


def _words(text: str) -> list[str]:
    """Letters and digits of any script. A mark belongs to its letter, and an apostrophe to its word."""
    joined = unicodedata.normalize("NFC", text).lower().replace("'", "").replace("\u2019", "")
    letters = (character if _is_letter(character) else " " for character in joined)
    return "".join(letters).split()


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character) in {"Mn", "Mc"}


def _first_cells(word: str) -> str:
    end = next((end for end in range(len(word), 0, -1) if _cells(word[:end]) <= LONGEST), 0)
    return word[:end]


def _cells(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in _WIDE else 1 for character in text)
