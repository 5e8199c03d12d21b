"""`greenroom queue`: list a conversation's waiting messages; edit, move or drop them. This verb must start fast."""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Literal

from actors.vocabulary.visible_text import visible
from greenroom.answers import WaitingInput
from supervisor.cli.kit import ids
from supervisor.cli.kit.client import Control
from supervisor.cli.kit.formatting import age, one_line, plural
from supervisor.cli.kit.listing import AnswerFields, ListLayout, present
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, Row
from supervisor.cli.kit.terminal import is_terminal
from supervisor.cli.running import prompt_of

SHORT = 8  # characters of an id: nearly always enough to tell two ids apart
POLICY_WORDS = {"steer": "joins the turn", "enqueue": "own turn", "interrupt": "own turn, next"}
WAITING_MESSAGES = ListLayout(
    AnswerFields("WaitingInput"),
    (
        Column("ID", lambda row: row["short"], style=lambda _: ("cyan",)),
        Column("WAITS", lambda row: age(row["since"]) if row["since"] else "", right=True),
        Column("RUNS", lambda row: POLICY_WORDS[row["policy"]]),
        Column("BY", lambda row: visible(row["by"]), shrinks=True),
        Column("MESSAGE", lambda row: one_line(row["preview"]), shrinks=True),
    ),
    "nothing waits",
    key="input",
)


def run(chosen: Namespace) -> int:
    what = chosen.what or "list"
    _check(what, chosen)
    with Control("queue") as control:
        return DO[what](control, chosen)


def _check(what: str, chosen: Namespace) -> None:
    wanted = what in {"edit", "move"} or (what == "drop" and not chosen.all)
    if wanted and chosen.input is None:
        advice = f"`greenroom queue {chosen.conversation}` lists the messages and their ids"
        raise Problem("no message is named", advice, "usage")
    if not wanted and chosen.input is not None:
        raise Problem(f"{what} is about all that waits", "leave the message out", "usage")
    if (what == "edit") != (chosen.prompt is not None):
        advice = "write the words after the id, or - to read them from standard input"
        raise Problem("edit needs the new words" if what == "edit" else f"{what} takes no words", advice, "usage")
    if what == "move" and sum((chosen.first, chosen.last, chosen.before is not None)) != 1:
        raise Problem("move needs to know where to", "write one of --first, --last and --before ID", "usage")


def _list(control: Control, chosen: Namespace) -> int:
    found = ids.about(control, chosen.conversation, control.queue)
    if found.paused and found.waiting and is_terminal() and chosen.json is None:
        queue = f"greenroom queue {visible(chosen.conversation)}"
        print(f"held until `{queue} go`; `{queue} drop --all` drops all of it", file=sys.stderr)
    return present(WAITING_MESSAGES, lambda: _rows(control, chosen.conversation), chosen)


def _rows(control: Control, reference: str) -> list[Row]:
    waiting = _waiting(control, reference)
    names = [message["input"] for message in waiting]
    return [{**message, "short": _shortest(message["input"], names)} for message in waiting]


def _shortest(name: str, names: Sequence[str]) -> str:
    """The shortest beginning of the id that no other id has."""
    lengths = range(SHORT, len(name) + 1)
    return next((name[:end] for end in lengths if sum(other.startswith(name[:end]) for other in names) == 1), name)


def _edit(control: Control, chosen: Namespace) -> int:
    words = prompt_of(chosen.prompt)
    message = _find_message(control, chosen.conversation, chosen.input)
    ids.about(control, chosen.conversation, control.edit_input, message["input"], words)
    print("changed")
    return 0


def _move(control: Control, chosen: Namespace) -> int:
    message = _find_message(control, chosen.conversation, chosen.input)
    before = (
        _find_message(control, chosen.conversation, chosen.before)["input"] if chosen.before is not None else None
    )
    end: Literal["first", "last"] = "first" if chosen.first else "last"
    ids.about(
        control, chosen.conversation, control.move_input, message["input"], before=before, to=None if before else end
    )
    print("moved")
    return 0


def _drop(control: Control, chosen: Namespace) -> int:
    one = None if chosen.all else _find_message(control, chosen.conversation, chosen.input)["input"]
    count = len(_waiting(control, chosen.conversation)) if chosen.all else 1
    reason = chosen.reason or ""
    ids.about(control, chosen.conversation, control.withdraw, one, all=chosen.all, reason=reason)
    print(f"{plural(count, 'message')} dropped" if count else "nothing waits")
    return 0


def _go(control: Control, chosen: Namespace) -> int:
    found = ids.about(control, chosen.conversation, control.queue)
    count = len(found.waiting)
    ids.about(control, chosen.conversation, control.resume_queue)
    if not count:
        print("nothing waits")
    elif found.turn is not None:
        print(f"{plural(count, 'message runs', 'messages run')} after this turn")
    else:
        print(f"{plural(count, 'message')} on the way")
    return 0


def _waiting(control: Control, reference: str) -> list[WaitingInput]:
    return ids.about(control, reference, control.queue).waiting


def _find_message(control: Control, reference: str, name: str) -> WaitingInput:
    """The message with this id, or else the only message whose id begins with it."""
    waiting = _waiting(control, reference)
    found = [message for message in waiting if name and message["input"].startswith(name)]
    exact = [message for message in found if message["input"] == name] or found
    if len(exact) == 1:
        return exact[0]
    if exact:
        raise Problem(f"{name!r} is the beginning of {len(exact)} ids", "write more of it", "usage")
    advice = f"`greenroom queue {visible(reference)}` lists what waits; it may have been taken by a turn"
    raise Problem(f"no message {visible(name)!r} waits", advice, "usage")


DO: dict[str, Callable[[Control, Namespace], int]] = {
    "list": _list,
    "edit": _edit,
    "move": _move,
    "drop": _drop,
    "go": _go,
}
