"""Cursors of lists that change between their pages. A cursor names where a page ended, not an offset. Pure."""

import math

from actors.vocabulary.records import ListPlace

KEY_LENGTH = 18  # digits of the largest key in the journal


class BadCursor(ValueError):
    """An unreadable cursor; the text is for the client."""


def cursor_of(place: ListPlace | None) -> str | None:
    """The cursor of the next page, for `place_of`."""
    return None if place is None else f"{place.at!r}/{place.key}"


def place_of(cursor: str | None) -> ListPlace | None:
    """The place in the list after which the page begins. Raises BadCursor."""
    if cursor is None:
        return None
    at, _, key = cursor.partition("/")
    try:
        place = ListPlace(float(at), int(key) if key.isdecimal() and len(key) <= KEY_LENGTH else -1)
    except ValueError:
        place = ListPlace(math.nan, -1)
    if place.key < 0 or not math.isfinite(place.at):
        raise BadCursor("unknown cursor; leave it out for the first page")
    return place
