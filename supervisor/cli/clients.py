"""`greenroom clients`: list the connected clients, the conversations that each reads, and how far it lags."""

from argparse import Namespace

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit import ids
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.conversation_rows import home
from supervisor.cli.kit.listing import AnswerFields, ListLayout, present
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, Row

CLIENTS = ListLayout(
    AnswerFields("ClientRow", key="connection"),
    (
        Column("ID", lambda row: ids.short_id(row["id"]), style=lambda _: ("cyan",)),
        Column("NAME", lambda row: visible(row["name"]) + (" (you)" if row["you"] else "")),
        Column("PID", lambda row: str(row["pid"] or ""), right=True),
        Column("DIRECTORY", lambda row: home(row["cwd"]), shrinks=True),
        Column("ATTACHED TO", lambda row: ", ".join(map(_attachment, row["attached"])), shrinks=True),
    ),
)


def run(chosen: Namespace) -> int:
    with Control("clients") as control:
        if chosen.kill is not None:
            return _kill(control, chosen.kill)
        return present(CLIENTS, lambda: _rows(control), chosen)


def _rows(control: Control) -> list[Row]:
    """The clients in a fixed order, so that rows keep their places while a person watches."""
    rows = [{**vars(client), "id": client.connection} for client in control.clients()]
    return sorted(rows, key=lambda row: (row["name"], row["pid"] or 0, row["id"]))


def _attachment(reader: Json) -> str:
    how = " read-only" if reader["read_only"] else ""
    late = f", {reader['behind']} behind" if reader["behind"] else ""
    return f"{ids.short_id(reader['conversation'])}{how}{late}"


def _kill(control: Control, reference: str) -> int:
    found = [row["id"] for row in _rows(control) if row["id"].startswith(reference)]
    if len(found) != 1:
        what = "several clients have an id that begins with" if found else "no client has the id"
        raise Problem(f"{what} {reference!r}", "`greenroom clients` lists them", "unknown_conversation")
    control.disconnect(found[0])
    print(f"{ids.short_id(found[0])}: disconnected; its turns continue")
    return 0
