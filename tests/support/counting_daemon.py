"""The real daemon without a garbage collector, which says on SIGUSR2, and at its end, what only that would free.

What references alone free is gone at once. What is in a ring stays here for ever, and is found when it is asked for.
A message `poison` is a bug in the core of its conversation.
"""

import gc
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType

from actors.conversation import Stamp, State, Step, session, step
from actors.messages.conversation import Send, SessionInput, ToConversation
from actors.vocabulary.items import text_of
from supervisor.daemon import daemon_start

COUNTS = "COUNTS_FILE"  # the variable with the name of the file that is written
SHOWN = 60  # characters of what is in a ring
OURS = ("actors.", "supervisor.", "transports.")


def describe(*_: object) -> None:
    """Write how many of our kinds are alive, and how often each ring was found that has something of ours.

    A ring of a library alone counts if it holds anything of ours.
    """
    alive = Counter(kind_of(one) for one in gc.get_objects() if is_ours(one))
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    held = Counter(kind_of(one) for one in gc.garbage if is_ours(one))
    rings = Counter(" -> ".join(sorted(map(name_of, ring))) for ring in rings_among(gc.garbage)) if held else {}
    gc.garbage.clear()
    gc.collect()
    place = Path(os.environ[COUNTS])
    unfinished = place.with_suffix(".new")
    unfinished.write_text(json.dumps({"alive": alive, "held": held, "rings": rings}), encoding="utf-8")
    unfinished.rename(place)


def kind_of(one: object) -> str:
    return f"{type(one).__module__}.{type(one).__qualname__}"


def is_ours(one: object) -> bool:
    if isinstance(one, FrameType):
        return str(one.f_globals.get("__name__")).startswith(OURS)
    return kind_of(one).startswith(OURS)


def name_of(one: object) -> str:
    if isinstance(one, FrameType):
        return f"frame of {one.f_code.co_qualname} in {Path(one.f_code.co_filename).name}:{one.f_lineno}"
    return kind_of(one) if is_ours(one) else f"{type(one).__name__} {str(one)[:SHOWN].partition(' at 0x')[0]}"


def rings_among(found: Iterable[object]) -> Iterator[list[object]]:
    """Yield the parts in which each leads to each other (Tarjan's algorithm, without recursion)."""
    known = {id(one): one for one in found}
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    path: list[int] = []
    work: list[tuple[int, Iterator[int]]] = []

    def enter(key: int) -> None:
        number[key] = lowest[key] = len(number)
        path.append(key)
        work.append((key, (id(one) for one in gc.get_referents(known[key]) if id(one) in known)))

    for root in known:
        if root not in number:
            enter(root)
        while work:
            key, led_to = work[-1]
            for other in led_to:
                if other not in number:
                    enter(other)
                    break
                lowest[key] = min(lowest[key], lowest[other])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[key])
                if lowest[key] == number[key]:
                    start = path.index(key)
                    ring, path[start:] = path[start:], []
                    lowest.update(dict.fromkeys(ring, len(known)))  # nothing that is found later belongs to it
                    if len(ring) > 1:
                        yield [known[one] for one in ring]


def step_unless_poisoned(state: State, message: SessionInput, stamp: Stamp) -> Step:
    if isinstance(message, ToConversation) and isinstance(message.command, Send):
        assert text_of(message.command.items) != "poison"
    return step(state, message, stamp)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR2, describe)
    gc.enable = lambda: None  # neither the daemon's start nor a worker's end turns it on
    session.step = step_unless_poisoned  # type: ignore[attr-defined]  # as the core's name there
    code = daemon_start.main()
    describe()
    sys.exit(code)
