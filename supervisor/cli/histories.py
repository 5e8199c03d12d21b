"""Stored events, page by page, and where in them a time lies."""

from collections.abc import Iterator

from supervisor.cli.client import Control, Json

PAGE = 256


def events(control: Control, conversation: str, after: int, until: int | None = None) -> Iterator[Json]:
    """What comes after a seq, up to another or to the end as it is when we get there."""
    while until is None or after < until:
        limit = PAGE if until is None else min(PAGE, until - after)
        page = control.call("conversation/history", conversation=conversation, after=after, limit=limit)
        yield from page["events"]
        if page["complete"] or not page["events"]:
            return
        after = page["events"][-1]["seq"]


def last_seq(control: Control, conversation: str) -> int:
    page = control.call("conversation/history", conversation=conversation, after=0, limit=1)
    return int(page["last_seq"])


def seq_before(control: Control, conversation: str, moment: float) -> int:
    """The last event before a time: found by halving, because times only grow."""
    page = control.call("conversation/history", conversation=conversation, after=0, limit=1)
    low, high = int(page["first_seq"]) - 1, int(page["last_seq"])
    while low < high:
        middle = (low + high) // 2
        found = control.call("conversation/history", conversation=conversation, after=middle, limit=1)["events"]
        if found and found[0]["ts"] < moment:
            low = middle + 1
        else:
            high = middle
    return low
