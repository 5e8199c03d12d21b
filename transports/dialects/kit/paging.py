"""Pages of a list that changes between them. The cursor names where the last page ended, not how far it was. Pure."""

import math
from collections.abc import Sequence

from actors.vocabulary.records import Head


class BadCursor(ValueError):
    """The text is for the client."""


def page_of(heads: Sequence[Head], cursor: str | None, limit: int) -> tuple[list[Head], str | None]:
    """Newest first. Raises BadCursor."""
    before = _place(cursor)
    later = [head for head in heads if before is None or _key(head) > before]
    later.sort(key=_key)
    page = later[:limit]
    return page, _written(page[-1]) if page and len(later) > limit else None


def _key(head: Head) -> tuple[float, str]:
    return (-head.updated, head.conversation)


def _written(head: Head) -> str:
    return f"{head.updated!r}|{head.conversation}"


def _place(cursor: str | None) -> tuple[float, str] | None:
    if cursor is None:
        return None
    updated, bar, conversation = cursor.partition("|")
    try:
        place = -float(updated)
    except ValueError:
        place = math.nan
    if not (math.isfinite(place) and bar and conversation):
        raise BadCursor("unknown cursor; leave it out for the first page")
    return (place, conversation)
