"""Stored events, read page by page, and the search for a time among them."""

from collections.abc import Iterator

from supervisor.cli.kit.client import Control, Json

PAGE = 256


def events(control: Control, conversation: str, after: int, until: int | None = None) -> Iterator[Json]:
    """The events after a seq, up to another seq, or to the end at that time."""
    while until is None or after < until:
        limit = PAGE if until is None else min(PAGE, until - after)
        page = _page(control, conversation, after, limit)
        yield from page["events"]
        if page["complete"] or not page["events"]:
            return
        after = page["events"][-1]["seq"]


def last_seq(control: Control, conversation: str) -> int:
    return int(_page(control, conversation, 0)["last_seq"])


def seq_before(control: Control, conversation: str, moment: float) -> int:
    """The seq of the last event before a time, found by bisection, because times only grow."""
    page = _page(control, conversation, 0)
    low, high = int(page["first_seq"]) - 1, int(page["last_seq"])
    while low < high:
        middle = (low + high) // 2
        found = _page(control, conversation, middle)["events"]
        if found and found[0]["ts"] < moment:
            low = middle + 1
        else:
            high = middle
    return low


def _page(control: Control, conversation: str, after: int, limit: int = 1) -> Json:
    return control.call("conversation/history", conversation=conversation, after=after, limit=limit)
