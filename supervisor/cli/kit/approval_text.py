"""Approvals as the command line shows them: the text that all surfaces share, painted, in the terminal's width."""

import os

from supervisor.cli.kit import ids
from supervisor.cli.kit.client import Json
from supervisor.cli.kit.formatting import age
from supervisor.cli.kit.table import Row
from supervisor.cli.kit.terminal import Paint
from transports import question_text as texts

QUESTION = "approval_requested"  # the type of its event
STYLES = {
    "command": ("bold",),
    "outside": ("yellow", "bold"),
    "said": ("dim",),
    "file": ("bold",),
    "added": ("green",),
    "removed": ("red",),
    "hunk": ("cyan",),
}
LINES_IN_LIST = 20  # lines of a command or a patch; `greenroom approvals ID` shows all of them


def row_of(found: Json) -> Row:
    return {
        "id": found["approval_id"],
        "conversation": found["conversation"],
        "kind": texts.kind(found),
        "what": texts.summary(found, home()),
        "command": found["subject"].get("command"),
        "outside": texts.runs_outside(found),
        "reason": found.get("reason"),
        "cwd": found["subject"].get("cwd"),
        "asked": found.get("ts"),
        "seq": found.get("seq"),
        "found": found,
    }


def home() -> str:
    return os.environ.get("HOME", "")


def title(found: Json) -> str:
    return f"{ids.short_id(found['approval_id'])}: {texts.title(found)}"


def body(found: Json, columns: int, paint: Paint, most: int | None = None) -> tuple[list[str], bool]:
    """The lines below the title, and whether they are complete."""
    see = f"`greenroom approvals {ids.short_id(found['approval_id'])}` shows all of it"
    drawn = texts.question_lines(found, columns, home=home(), most=most, see=see)
    return [paint(line, *STYLES.get(style, ())) for line, style in drawn.lines], drawn.whole


def block(row: Row, columns: int, paint: Paint, most: int | None = None) -> list[str]:
    """The lines of one approval in a list."""
    found = row["found"]
    head = [paint(line, "yellow", "bold") for line in texts.MarkedLine("", title(found)).fold(columns)]
    lines, _ = body(found, columns, paint, most)
    when = f", {age(row['asked'])} ago" if row["asked"] else ""
    return [*head, *lines, paint(f"  asked by {ids.short_id(row['conversation'])}{when}", "dim")]
