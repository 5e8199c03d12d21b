"""Models that repeat themselves: the same calls with the same results, again and again. Pure.

Projected from the events of a turn, so that a turn which is resumed has not forgotten it.
"""

import re
from collections import deque
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct, field

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId

LONGEST_CIRCLE = 4  # calls; a longer one is caught by a budget
WARN_AFTER = 3
REMEMBERED = 4_096  # results of a turn: more than the longest circle, as often as the config may allow
WARNING_MARK = "\n\n[greenroom] "
WARNING = (
    WARNING_MARK + "These calls have given the same results {times} times in a row, and will give them again. "
    "Do something else, or say what is missing."
)
TIMES = re.compile(r'"duration_seconds": ?[0-9.]+')  # the only part of a result that differs each time by itself


def _none_yet() -> deque[int]:
    return deque(maxlen=REMEMBERED)


class Repetition(Struct):
    """The results of a turn's calls so far, each as a number that equal calls with equal results share."""

    calls: dict[ItemId, ev.ToolCall] = field(default_factory=dict)
    results: deque[int] = field(default_factory=_none_yet)

    def begin_turn(self) -> None:
        self.calls.clear()
        self.results.clear()

    def take(self, event: ev.ToolCall | ev.ToolOutput) -> None:
        if isinstance(event, ev.ToolCall):
            self.calls[event.item_id] = event
        elif (call := self.calls.pop(event.item_id, None)) is not None:
            self.results.append(_number(call.name, call.arguments, event.output))

    def times(self) -> int:
        """Return the number of times in a row that the last calls gave the same results."""
        return rounds(self.results)

    def with_warning(self, item: ItemId, output: str) -> str:
        """Return the output of a call, with a warning to the model if it completes the third round."""
        call = self.calls.get(item)
        if call is None:
            return output
        with_it = [*islice(reversed(self.results), LONGEST_CIRCLE * (WARN_AFTER + 1))][::-1]
        before = rounds(with_it)
        with_it.append(_number(call.name, call.arguments, output))
        return output + WARNING.format(times=WARN_AFTER) if rounds(with_it) == WARN_AFTER > before else output


def rounds(results: Sequence[int]) -> int:
    """Return how often the last few calls were made in a row; 1 if they were not, 0 if there are none."""
    known = list(results)
    return max((_times(known, length) for length in range(1, min(LONGEST_CIRCLE, len(known)) + 1)), default=0)


def _times(results: list[int], length: int) -> int:
    last = results[-length:]
    times, end = 1, len(results) - length
    while end >= length and results[end - length : end] == last:
        times, end = times + 1, end - length
    return times


def _number(name: str, arguments: str, output: str) -> int:
    plain = output.partition(WARNING_MARK)[0]
    return hash((name, arguments, TIMES.sub("", plain)))
