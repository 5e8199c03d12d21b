"""The words for messages that wait: how many, and how the first of them begin. Standard library only."""

from collections.abc import Sequence

from actors.vocabulary.brief import brief
from actors.vocabulary.visible import visible

NAMED = 3  # messages whose first words are told; `greenroom queue` lists all
LONGEST = 40  # characters of each


def waits(count: int, previews: Sequence[str]) -> str:
    """For example: 2 messages wait: "run the tests", "commit"."""
    told = "1 message waits" if count == 1 else f"{count} messages wait"
    named = ", ".join(f'"{brief(visible(" ".join(one.split())), LONGEST)}"' for one in previews[:NAMED])
    more = ", …" if named and count > NAMED else ""
    return f"{told}: {named}{more}" if named else told
