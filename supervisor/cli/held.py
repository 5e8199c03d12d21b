"""The words on messages that a pause holds: which they are, and how to let them go on or drop them."""

from actors.vocabulary.visible import visible
from supervisor.cli.kit.client import Json
from transports.waiting_words import waits


def held_words(name: str, waiting: list[Json]) -> str:
    """A clause to put behind what happened; `name` is the conversation as the person typed it."""
    told = waits(len(waiting), [one["preview"] for one in waiting])
    it = "it" if len(waiting) == 1 else "them"
    queue = f"`greenroom queue {visible(name)}"
    return f"{told}; {queue} go` lets {it} run, {queue} drop --all` drops {it}"
