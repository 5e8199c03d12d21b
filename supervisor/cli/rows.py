"""A conversation as a row: its fields, which are API, and its columns."""

import os

from actors.vocabulary.visible import visible
from supervisor.cli.client import Json
from supervisor.cli.ids import short
from supervisor.cli.listing import ListLayout
from supervisor.cli.table import Column, Row
from supervisor.cli.words import age, one_line

FIELDS = {
    "id": "The conversation's id.",
    "name": "Its name, or null.",
    "state": "One of starting, idle, running, waiting, interrupting, parked, failed, archived.",
    "cwd": "The working directory.",
    "model": "The model.",
    "preview": "The beginning of the first message.",
    "created": "When it was created, in seconds since 1970.",
    "updated": "When it was last used, in seconds since 1970.",
    "seq": "The seq of its last event.",
    "tokens": "Tokens used so far.",
    "archived": "Whether it is archived.",
}
STATES = ("starting", "idle", "running", "waiting", "interrupting", "parked", "failed", "archived")
COLOURS = {
    "running": ("green",),
    "starting": ("green",),
    "waiting": ("yellow", "bold"),
    "interrupting": ("yellow",),
    "failed": ("red", "bold"),
    "parked": ("dim",),
    "archived": ("dim",),
}


def row_of(found: Json) -> Row:
    """The row of a conversation. Its `id` is called `conversation` on the wire."""
    row = {name: found.get(name) for name in FIELDS}
    return {**row, "id": found["conversation"], "archived": bool(found.get("archived"))}


def colour(row: Row) -> tuple[str, ...]:
    return COLOURS.get(row["state"], ())


def home(path: str) -> str:
    """The path as people read it: with ~ for the home directory, and nothing hidden in it."""
    own = os.environ.get("HOME", "").rstrip("/")
    short = f"~{path[len(own) :]}" if own and (path == own or path.startswith(f"{own}/")) else path
    return visible(short)


COLUMNS = (
    Column("ID", lambda row: short(row["id"]), style=lambda _: ("cyan",)),
    Column("NAME", lambda row: visible(row["name"] or ""), gives=True),
    Column("STATE", lambda row: row["state"], style=colour),
    Column("USED", lambda row: age(row["updated"]), right=True),
    Column("TOKENS", lambda row: str(row["tokens"]), right=True),
    Column("MODEL", lambda row: visible(row["model"] or ""), gives=True),
    Column("DIRECTORY", lambda row: home(row["cwd"] or ""), gives=True),
    Column("ABOUT", lambda row: one_line(row["preview"] or ""), gives=True),
)
LISTING = ListLayout(FIELDS, COLUMNS, "no conversations; `greenroom run PROMPT` starts one")
