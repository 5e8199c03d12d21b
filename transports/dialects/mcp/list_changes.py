"""Says that the list of resources has changed, whoever changed it, to a client that has looked at it.

At once, and then no more often than is of use: what happened while we rested is told with the next.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from actors.answers import Answer, ListChanged
from actors.registry_messages import WatchList
from transports import jsonrpc
from transports.dialect import Action, Tell, Wake, Write

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk

WAKE = "list"
REST_S = 1.0  # a script may make a hundred conversations in a second


def follow(desk: "Desk") -> Iterable[Action]:
    """To be said before the list is asked for, so that nothing falls between."""
    if not desk.follows_list:
        desk.follows_list = True
        yield from _watch(desk, None)


def woken(desk: "Desk", seen: str) -> Iterable[Action]:
    return _watch(desk, int(seen))


def _watch(desk: "Desk", seen: int | None) -> Iterable[Action]:
    def changed(answer: Answer) -> Iterable[Action]:
        if isinstance(answer, ListChanged):
            yield Write(jsonrpc.notification("notifications/resources/list_changed"))
            yield Wake(f"{WAKE}:{answer.number}", REST_S)

    yield Tell(WatchList(desk.expected.reply(changed), seen))
