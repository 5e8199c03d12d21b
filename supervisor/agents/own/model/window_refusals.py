"""The numbers in a server's refusal of a history that is too long: its window and its count. Pure."""

import re

from msgspec import Struct

_NUMBER = r"(\d{1,3}(?:,\d{3}){1,3}(?!,?\d)|\d{3,9}(?!\d))"
_WINDOW = re.compile(
    rf"maximum (?:context|input) length (?:is|of) {_NUMBER}"
    rf"|tokens > {_NUMBER} maximum"
    rf"|available context size \({_NUMBER}"
    rf"|maximum number of tokens allowed \({_NUMBER}"
    rf"|context (?:window|length|size)(?: is| of|:)? {_NUMBER}",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    rf"(?:resulted in|requested|prompt is too long:|contains at least|input token count \() ?{_NUMBER}"
    rf"|request \({_NUMBER} tokens\)",
    re.IGNORECASE,
)


class WindowRefusal(Struct, frozen=True):
    """The window and the count that a refusal names; None where it does not."""

    window: int | None = None
    counted: int | None = None


def refusal_in(words: str) -> WindowRefusal:
    return WindowRefusal(_first_number(_WINDOW, words), _first_number(_COUNTED, words))


def _first_number(pattern: re.Pattern[str], words: str) -> int | None:
    found = pattern.search(words)
    number = next((group for group in found.groups() if group), None) if found else None
    return int(number.replace(",", "")) if number else None
