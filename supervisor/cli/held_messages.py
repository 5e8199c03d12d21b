"""The notice about messages that a pause holds: their first words, and how to let them run or drop them."""

from collections.abc import Mapping, Sequence
from typing import Any

from actors.vocabulary.visible_text import visible
from transports.waiting_words import waits


def held_notice(name: str, waiting: Sequence[Mapping[str, Any]]) -> str:
    """A clause to add after the result of a verb; `name` is the conversation as the person typed it."""
    held = waits(len(waiting), [str(message["preview"]) for message in waiting])
    pronoun = "it" if len(waiting) == 1 else "them"
    queue = f"`greenroom queue {visible(name)}"
    return f"{held}; {queue} go` lets {pronoun} run, {queue} drop --all` drops {pronoun}"
