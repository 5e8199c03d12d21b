"""The wording for waiting messages: how many, and how the first of them begin. Standard library only."""

from collections.abc import Sequence

from actors.vocabulary.brief import brief
from actors.vocabulary.visible_text import visible

QUOTED_COUNT = 3  # messages whose first words are quoted; `greenroom queue` lists all
LONGEST = 40  # characters quoted from each


def waits(count: int, previews: Sequence[str]) -> str:
    """For example: 2 messages wait: "run the tests", "commit"."""
    total = "1 message waits" if count == 1 else f"{count} messages wait"
    first_words = ", ".join(
        f'"{brief(visible(" ".join(preview.split())), LONGEST)}"' for preview in previews[:QUOTED_COUNT]
    )
    more = ", …" if first_words and count > QUOTED_COUNT else ""
    return f"{total}: {first_words}{more}" if first_words else total
