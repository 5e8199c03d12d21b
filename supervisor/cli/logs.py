"""`greenroom logs`: show the history of a conversation, and with -f go on with new events."""

import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import TextIO

from supervisor.cli.kit import histories, ids, terminal
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.formatting import parse_time
from supervisor.cli.kit.json_output import write_event
from supervisor.cli.kit.pager import open_pager
from supervisor.cli.show.printer import EventPrinter
from supervisor.cli.show.screen import Screen
from supervisor.cli.show.watch import Watch, WatchOptions, run_with_way_back

LINES = 100  # events, unless a number or a time is given


def run(chosen: Namespace) -> int:
    with Control("logs") as control:
        conversation = ids.resolve_id(control, chosen.conversation)
        last = histories.last_seq(control, conversation)
        after = _start_seq(control, conversation, chosen.since, last, chosen.lines)
        if chosen.follow:
            return _follow(control, conversation, after, chosen)
        found = histories.events(control, conversation, after, last)
        if chosen.json:
            for envelope in found:
                write_event(envelope)
            return 0
        with open_pager() as text:
            _print_events(found, text or sys.stdout, raw=chosen.raw)
    return 0


def _start_seq(control: Control, conversation: str, since: str | None, last: int, count: int | None) -> int:
    if since is None:
        return max(0, last - (LINES if count is None else count))
    began = int(since) if since.isdigit() else histories.seq_before(control, conversation, parse_time(since))
    return began if count is None else max(began, last - count)


def _print_events(found: Iterable[Json], stream: TextIO, *, raw: bool) -> None:
    screen = Screen(stream, live=terminal.is_terminal())
    printer = EventPrinter(screen, screen, terminal.Paint(), raw=raw, markdown=terminal.is_terminal() and not raw)
    for envelope in found:
        printer.take(envelope)
    screen.close()


def _follow(control: Control, conversation: str, after: int, chosen: Namespace) -> int:
    """Print new events until Ctrl-C, which leaves without a hint on how to come back."""
    options = WatchOptions(as_json=chosen.json, read_only=True, raw=chosen.raw, keys=False, one_stream=True)
    watch = Watch(control, conversation, options)

    def work() -> int:
        watch.attach(after)
        watch.show_until_left()

    return run_with_way_back(conversation, work, quietly=True)
