"""A conversation as a row: its fields, which are API, and its columns."""

import os

from actors.vocabulary.visible_text import visible
from greenroom.answers import ConversationRow
from supervisor.cli.kit.client import Json
from supervisor.cli.kit.formatting import age, one_line
from supervisor.cli.kit.ids import short_id
from supervisor.cli.kit.listing import AnswerFields, ListLayout
from supervisor.cli.kit.table import Column, Row
from supervisor.paths import worktrees

FIELDS = AnswerFields("ConversationRow", key="conversation")
COLOURS = {
    "running": ("green",),
    "starting": ("green",),
    "waiting": ("yellow", "bold"),
    "interrupting": ("yellow",),
    "failed": ("red", "bold"),
    "denied": ("red",),
    "lost": ("red",),
    "over-budget": ("red",),
    "parked": ("dim",),
    "archived": ("dim",),
}


def row_of(found: ConversationRow) -> Row:
    """The row of a conversation. Its `id` is called `conversation` on the wire."""
    return {**vars(found), "id": found.conversation}


def colour(row: Row) -> tuple[str, ...]:
    return COLOURS.get(row["state"], ())


def state(row: Row) -> str:
    """The state, and how many messages wait."""
    return f"{row['state']}, {row['queued']} queued" if row["queued"] else str(row["state"])


def home(path: str) -> str:
    """The path as people read it: with ~ for the home directory, and no hidden characters."""
    own = os.environ.get("HOME", "").rstrip("/")
    short = f"~{path[len(own) :]}" if own and (path == own or path.startswith(f"{own}/")) else path
    return visible(short)


def directory(row: Row) -> str:
    """The conversation's directory; a worktree of Greenroom's as `shop@fix-login`."""
    path, trees = str(row["cwd"] or ""), worktrees()
    if not path.startswith(f"{trees}/"):
        return home(path)
    repository, name, *below = path[len(trees) + 1 :].split("/")
    return visible("/".join((f"{repository.rpartition('-')[0]}@{name}", *below)))


def fullness(row: Json) -> str:
    """The part of the context that is in use: in percent where its size is known, else in tokens."""
    used, window = row.get("context_tokens"), row.get("context_window")
    if used is None:
        return "?"
    if window:
        return f"{used / window:.0%}"
    return str(used) if used < 1_000 else f"{used / 1000:.1f}k"


def tokens(row: Json, shape: str = "") -> str:
    """The tokens that were used, as far as they are known."""
    known = row["tokens"] or 0
    if not row.get("uncounted"):
        return format(known, shape)
    return f">{known:{shape}}" if known else "?"


def cost(row: Json) -> str:
    """The price of the used tokens, as far as it is known."""
    if not (row.get("unpriced") or row.get("usd")):
        return "$0" if row.get("tokens") or row.get("uncounted") else "-"
    usd = row.get("usd") or 0.0
    known = f"${usd:,.2f}" if usd >= 0.1 else f"${usd:.4f}"
    if not row["unpriced"]:
        return known
    return f">{known}" if usd else "?"


# The first and the last columns fit every window; the columns between them are for a wide window.
FIRST_COLUMNS = (
    Column("ID", lambda row: short_id(row["id"]), style=lambda _: ("cyan",)),
    Column("NAME", lambda row: visible(row["name"] or ""), whole=True),
    Column("STATE", state, style=colour),
    Column("AGE", lambda row: age(row["updated"]), right=True),
)
SPENDING_COLUMNS = (
    Column("TOKENS", tokens, right=True, wide=True),
    Column("COST", cost, right=True, has_content=lambda row: bool(row.get("usd") or row.get("unpriced")), wide=True),
    Column("CONTEXT", fullness, right=True, has_content=lambda row: bool(row.get("context_window")), wide=True),
    Column(
        "AGENT",
        lambda row: visible(row["agent"] or ""),
        shrinks=True,
        has_content=lambda row: bool(row.get("agent")),
        wide=True,
    ),
)
LAST_COLUMNS = (
    Column("DIRECTORY", directory, shrinks=True),
    Column("ABOUT", lambda row: one_line(row["preview"] or ""), shrinks=True),
)
MODEL = Column("MODEL", lambda row: visible(row["model"] or ""), shrinks=True, wide=True)
COLUMNS = (*FIRST_COLUMNS, *SPENDING_COLUMNS, MODEL, *LAST_COLUMNS)
LISTING = ListLayout(FIELDS, COLUMNS, "no conversations; `greenroom run PROMPT` starts one")
