"""The decision which steps of a history are summed up, and which of people's words are shortened. Pure.

People's words come first: they are shortened only when they would not fit even alone, and the oldest of them first.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from supervisor.agents.history_outline import HistoryStep, Words
from supervisor.agents.own.transcript.wording import shorten

CompactionReason = Literal["limit", "asked", "refused"]

FULL = 0.75  # of the limit, for all that a compaction leaves, so that the next is far away; last steps are summed up
WORDS = 0.95  # of the limit, the same if people's words alone need more: better often than with words cut
TAIL = 0.3  # of the limit, for the last steps
ASKED_TAIL = 0.1  # the same where a person asks for room
SUMMARY = 0.08  # of the limit
LEAST_SUMMARY, MOST_SUMMARY = 150, 4_000  # tokens: shorter says nothing, longer is not read
AROUND_WORDS = 4  # bytes in the list of messages
SHORTER = (1_000, 200, 40, 0)  # characters that are left of the oldest messages, step by step


class Measure(Struct, frozen=True):
    """A budget. `limit`: the tokens for all of a request; `overhead`: those of its tokens that are not history.

    `firm`: more than the limit does not fit, as far as is known. Otherwise the window is unknown; no words are cut.
    """

    limit: int
    overhead: int
    rate: float  # tokens a byte
    firm: bool = True

    def tokens(self, weight: int) -> int:
        return round(weight * self.rate)

    @property
    def summary(self) -> int:
        """The tokens that a summary may have."""
        return min(MOST_SUMMARY, max(LEAST_SUMMARY, round(self.limit * SUMMARY)))


class Division(Struct, frozen=True):
    """Steps up to `summed` are summed up, the others stay. Words up to `cut_seq` keep `cut_to` characters."""

    summed: int
    cut_seq: int | None = None
    cut_to: int = 0


def divide_history(
    steps: Sequence[HistoryStep], words: Sequence[Words], measure: Measure, why: CompactionReason
) -> Division:
    """Decide which steps to sum up. `words`: all that people said before these steps."""
    said = [*words, *(spoken for step in steps for spoken in step.words)]
    fixed = measure.overhead + measure.summary
    free = round(measure.limit * FULL) - fixed - measure.tokens(_weight(said))
    share = ASKED_TAIL if why == "asked" else TAIL
    summed = _boundary(steps, measure, min(free, round(measure.limit * share)), why)
    tail = measure.tokens(sum(step.weight for step in steps[summed:]))
    first_kept = steps[summed].first_seq if summed < len(steps) else None
    before = [spoken for spoken in said if first_kept is None or spoken.seq < first_kept]
    return _shorten_words(before, measure, round(measure.limit * WORDS) - fixed - tail, summed)


def _boundary(steps: Sequence[HistoryStep], measure: Measure, room: int, why: CompactionReason) -> int:
    """Return the number of steps to sum up. A message that has no answer yet always stays."""
    most = len(steps)
    if most and steps[-1].is_unanswered:
        most -= 1
        room -= measure.tokens(max(0, steps[-1].weight - _weight(steps[-1].words)))  # words are counted already
    kept = most
    while kept:
        room -= measure.tokens(steps[kept - 1].weight)
        if room < 0:
            break
        kept -= 1
    if why == "limit" or kept:
        return kept
    return max(0, most - 1)  # all steps would fit, but room was asked for


def _shorten_words(words: Sequence[Words], measure: Measure, room: int, summed: int) -> Division:
    """Shorten the oldest words until all fit; as few as possible, and no more than needed."""
    if not measure.firm or measure.tokens(_weight(words)) <= room:
        return Division(summed)
    for length in SHORTER:
        saved = 0
        over = measure.tokens(_weight(words)) - room
        for spoken in words:
            saved += _bytes(spoken.text) - _bytes(shorten(spoken.text, length) if length else "")
            if measure.tokens(saved) >= over:
                return Division(summed, spoken.seq, length)
    return Division(summed, words[-1].seq if words else None, 0)


def _weight(words: Sequence[Words]) -> int:
    return sum(_bytes(spoken.text) + AROUND_WORDS for spoken in words)


def _bytes(text: str) -> int:
    return len(text.encode(errors="replace"))
