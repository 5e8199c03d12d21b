"""`greenroom attach`: watch one conversation live."""

import sys
from argparse import Namespace

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit import ids
from supervisor.cli.kit.arguments import number
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.formatting import plural
from supervisor.cli.kit.terminal import Paint
from supervisor.cli.show.keys import has_keyboard
from supervisor.cli.show.watch import Watch, WatchOptions, run_with_way_back

LOOK_BACK = 200  # events in which to look for the beginning of the last turn


def run(chosen: Namespace) -> int:
    with Control("attach", environment=not chosen.ro) as control:
        return watch_conversation(control, ids.resolve_id(control, chosen.conversation), chosen)


def watch_conversation(control: Control, conversation: str, chosen: Namespace) -> int:
    """Show the conversation until the person leaves."""
    watch = Watch(control, conversation, WatchOptions(as_json=chosen.json, read_only=chosen.ro))

    def work() -> int:
        answer = watch.attach(_cursor(control, conversation, chosen.since))
        if not chosen.json:
            watch.screen.line(_first_line(answer["summary"], answer["subscription"], read_only=chosen.ro))
        watch.show_until_left()

    return run_with_way_back(conversation, work)


def _first_line(summary: Json, mine: str, *, read_only: bool) -> str:
    """The first line on the screen: the conversation's state and last seq, the number of watchers, how to leave."""
    others = sum(1 for reader in summary["readers"] if reader["subscription"] != mine)
    who = plural(others, "other client") if others else "no other client"
    name = f" ({visible(summary['name'])})" if summary["name"] else ""
    leave = ("Ctrl-D leaves" if has_keyboard() else "Ctrl-C leaves") + (", watching only" if read_only else "")
    state = f"{summary['state']}, seq {summary['seq']}"
    text = f"{ids.short_id(summary['conversation'])}{name}: {state}, {who} watching; {leave}"
    return Paint(sys.stdout)(text, "bold")


def _cursor(control: Control, conversation: str, since: str | None) -> int | None:
    if since == "now":
        return None
    if since == "all":
        return 0
    if since is not None:
        return number(since, "seq")
    return _last_turn(control, conversation)


def _last_turn(control: Control, conversation: str) -> int:
    """The seq before the last turn: a person who comes back wants to see that turn."""
    summary = control.call("conversation/get", conversation=conversation)
    end: int = summary["seq"] + 1
    page = control.call("conversation/history", conversation=conversation, before=end, limit=LOOK_BACK)
    for envelope in reversed(page["events"]):
        if envelope["event"]["type"] == "task_started":
            return int(envelope["seq"]) - 1
    return max(0, end - 1 - LOOK_BACK)
