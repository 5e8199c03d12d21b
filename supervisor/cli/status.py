"""`greenroom status`: show the daemon and its conversations, or one in detail. This verb must start fast."""

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence

from actors.vocabulary.visible import visible
from supervisor.cli import exits, ids, terminal
from supervisor.cli.client import Control, Json
from supervisor.cli.listing import check, filled, present
from supervisor.cli.rows import FIELDS, LISTING, STATES, colour, home, row_of
from supervisor.cli.table import Row
from supervisor.cli.words import age, many, moment, one_line, size, span
from supervisor.cli.written import written
from supervisor.paths import locate, socket_path

EVENTS = 10  # to show of one conversation


def run(chosen: Namespace) -> int:
    check(LISTING, chosen)
    with Control("status") as control:
        rows = _rows(control, chosen.conversation)
        if chosen.json is not None:
            print(written({"daemon": _daemon(control), "conversations": _picked(rows, chosen.json)}))
        elif chosen.format is not None:
            print("\n".join(filled(FIELDS, row, chosen.format) for row in rows))
        elif chosen.quiet or chosen.watch:
            return present(LISTING, lambda: _rows(control, chosen.conversation), chosen)
        elif len(chosen.conversation) == 1:
            _detail(control, rows[0])
        else:
            _overview(control, rows, chosen)
    failed = any(row["state"] == "failed" for row in rows)
    return exits.NOT_WELL if chosen.check and failed else exits.OK


def _rows(control: Control, references: Sequence[str]) -> list[Row]:
    rows = [row_of(one) for one in ids.everything(control, archived=bool(references))]
    if not references:
        return rows
    by_id = {row["id"]: row for row in rows}
    return [by_id[ids.resolved(control, reference)] for reference in references]


def _picked(rows: list[Row], asked: str) -> list[Row]:
    names = [name.strip() for name in asked.split(",") if name.strip()] or list(FIELDS)
    return [{name: row[name] for name in names} for row in rows]


def _daemon(control: Control) -> Json:
    return {**control.call("daemon/status"), "socket": socket_path(locate())}


def _overview(control: Control, rows: list[Row], chosen: Namespace) -> None:
    daemon, paint = _daemon(control), terminal.Paint()
    counts = Counter(row["state"] for row in rows)
    told = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state]) or "no conversations"
    up = f"{paint('up', 'green')} {span(daemon['uptime_s'])}"
    print(f"greenroom {daemon['version']}: {up}, pid {daemon['pid']}, {told}")
    clients = daemon["clients"] - 1  # without this command
    print(f"socket {daemon['socket']}")
    print(f"journal {size(daemon['journal_bytes'])}, {many(clients, 'other client')}")
    for warning in daemon["warnings"]:
        print(paint(f"warning: {visible(warning)}", "yellow"))
    if daemon.get("trouble"):
        print(paint(f"not well: {visible(daemon['trouble'])}", "red"))
    if daemon.get("search_trouble"):
        print(paint(f"search finds nothing new: {visible(daemon['search_trouble'])}", "yellow"))
    if daemon.get("journal_repaired"):
        print(paint(f"the journal was repaired: {daemon['journal_repaired']}", "yellow"))
    if rows:
        print()
        present(LISTING, lambda: rows, chosen)


def _detail(control: Control, row: Row) -> None:
    paint = terminal.Paint()
    found = control.call("conversation/get", conversation=row["id"])
    settings = found["settings"]
    pending = len(found["pending"])
    facts = {
        "id": row["id"],
        "name": visible(found["name"] or "-"),
        "state": paint(row["state"], *colour(row)) + (f", {many(pending, 'open approval')}" if pending else ""),
        "failed": one_line(found["failed"] or ""),
        "directory": home(settings["cwd"]),
        "model": visible(f"{settings['model']} ({settings['provider'] or 'default provider'})"),
        "policy": f"approvals {settings['approval_policy']}, sandbox {settings['sandbox']['mode']}",
        "events": f"{found['seq']}, {many(found['tokens'], 'token')}",
        "queue": many(found["queued"], "message") + (", paused until the next `send`" if found["paused"] else ""),
        "created": f"{moment(found['created'])}, used {age(found['updated'])} ago",
        "watched by": many(len(found["readers"]), "client"),
    }
    for name, value in facts.items():
        if value:
            print(f"{name:12}{value}")
    page = control.call("conversation/history", conversation=row["id"], after=max(0, found["seq"] - EVENTS))
    print(f"\nlast {many(len(page['events']), 'event')}:")
    for event in page["events"]:
        print(_line(event, paint))


def _line(event: Json, paint: terminal.Paint) -> str:
    body = event["event"]
    text = f"{event['seq']:>6}  {age(event['ts']):>4}  {body['type']}"
    return paint(text, "dim") if body["type"] in {"token_count", "tool_call", "tool_output"} else text
