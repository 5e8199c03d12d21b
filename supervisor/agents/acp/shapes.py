"""Readers of JSON from programs of others: what has another type than expected is as good as not there. Pure.

Nothing here raises, and nothing returns more than its bound: agents are as foreign as models.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from math import isfinite
from typing import Any

Shape = Mapping[str, Any]

MOST_LISTED = 1_000  # members of any list; agents list dozens
SHORT = 2_000  # characters of a title, a name, a description: what a person reads in passing
NOTHING: Shape = {}


def text(value: Any) -> str:
    """A text that can be stored: halves of surrogate pairs are replaced."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def short(value: Any, most: int = SHORT) -> str:
    """A text of bounded length, on whose end a cut is seen."""
    read = text(value[: most + 1] if isinstance(value, str) else value)
    return read if len(read) <= most else f"{read[: most - 1]}…"


def shape(value: Any) -> Shape:
    return value if isinstance(value, Mapping) else NOTHING


def within(value: Any, *names: str) -> Any:
    """The member of a member; None where one of them is missing."""
    for name in names:
        value = shape(value).get(name)
    return value


def shapes(value: Any, most: int = MOST_LISTED) -> Iterator[Shape]:
    """The objects of a list."""
    return (one for one in islice(_listed(value), most) if isinstance(one, Mapping))


def texts(value: Any, most: int = MOST_LISTED) -> tuple[str, ...]:
    """The texts of a list, or nothing if it has something else in it."""
    listed = _listed(value)
    return tuple(map(text, listed)) if len(listed) <= most and all(isinstance(one, str) for one in listed) else ()


def whole(value: Any) -> int | None:
    """A number that counts something."""
    if isinstance(value, float) and isfinite(value) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: Any) -> int | None:
    number = whole(value)
    return number if number is not None and number >= 0 else None


def amount(value: Any) -> float | None:
    """A sum of money; never less than nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) and number >= 0 else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
