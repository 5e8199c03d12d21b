"""Pages of a list that changes between them. The cursor names where the last page ended, not how far it was. Pure."""

from collections.abc import Sequence

from actors.records import Head


def page_of(heads: Sequence[Head], cursor: str | None, limit: int) -> tuple[list[Head], str | None]:
    """Newest first. A cursor that can't be read means the beginning."""
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
    updated, _, conversation = (cursor or "").partition("|")
    try:
        return (-float(updated), conversation)
    except ValueError:
        return None
