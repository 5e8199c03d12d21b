"""Readers of JSON from third-party programs: a value of an unexpected type counts as missing. Pure.

No reader raises, and none returns more than its bound: agents are as foreign as models.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from math import isfinite
from typing import Any

Shape = Mapping[str, Any]

MOST_LISTED = 1_000  # members of any list; agents list dozens
SHORT = 2_000  # characters of a title, a name, a description, which a person reads in passing
NOTHING: Shape = {}


def text(value: Any) -> str:
    """Return a text that can be stored: halves of surrogate pairs are replaced."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def short(value: Any, most: int = SHORT) -> str:
    """Return a text of bounded length; one that is cut ends with an ellipsis."""
    read = text(value[: most + 1] if isinstance(value, str) else value)
    return read if len(read) <= most else f"{read[: most - 1]}…"


def shape(value: Any) -> Shape:
    return value if isinstance(value, Mapping) else NOTHING


def member_at(value: Any, *names: str) -> Any:
    """Return the member of a member; None if any of them is missing."""
    for name in names:
        value = shape(value).get(name)
    return value


def shapes(value: Any, most: int = MOST_LISTED) -> Iterator[Shape]:
    """Yield the objects of a list."""
    return (item for item in islice(_list_or_empty(value), most) if isinstance(item, Mapping))


def texts(value: Any, most: int = MOST_LISTED) -> tuple[str, ...]:
    """Return the texts of a list; nothing if it has other values too."""
    listed = _list_or_empty(value)
    return tuple(map(text, listed)) if len(listed) <= most and all(isinstance(item, str) for item in listed) else ()


def whole_number(value: Any) -> int | None:
    """Return a whole number."""
    if isinstance(value, float) and isfinite(value) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: Any) -> int | None:
    number = whole_number(value)
    return number if number is not None and number >= 0 else None


def amount(value: Any) -> float | None:
    """Return a sum of money, which is never negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) and number >= 0 else None


def _list_or_empty(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
