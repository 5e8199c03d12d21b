"""`greenroom status`: show the daemon and its conversations, or one in detail. This verb must start fast."""

from argparse import Namespace
from collections import Counter

from actors.vocabulary.visible_text import visible
from supervisor.cli.agent_status import agent_lines
from supervisor.cli.kit import exits, ids, terminal
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.conversation_rows import FIELDS, LISTING, colour, cost, fullness, home, row_of, tokens
from supervisor.cli.kit.formatting import age, moment, one_line, plural, size, span, wrap_text
from supervisor.cli.kit.json_output import output_json
from supervisor.cli.kit.listing import PartialList, check, fill_template, pick_fields, present, screenful
from supervisor.cli.kit.table import Row
from supervisor.cli.running_jobs import running_jobs
from supervisor.cli.verbs.options import STATES
from supervisor.paths import locate, socket_path

EVENTS = 10  # to show of one conversation


def run(chosen: Namespace) -> int:
    check(LISTING, chosen)
    with Control("status") as control:
        rows = _rows(control, chosen)
        if chosen.json is not None:
            print(output_json({"daemon": _daemon(control), "conversations": pick_fields(LISTING, rows, chosen.json)}))
        elif chosen.format is not None:
            print("\n".join(fill_template(FIELDS, row, chosen.format) for row in rows))
        elif chosen.quiet or chosen.watch:
            return present(LISTING, lambda: _rows(control, chosen), chosen)
        elif len(chosen.conversation) == 1:
            _detail(control, rows[0])
        else:
            _overview(control, rows, chosen)
        return exits.NOT_WELL if chosen.check and _any_failed(control, rows, chosen) else exits.OK


def _rows(control: Control, chosen: Namespace) -> list[Row]:
    """The conversations that are named, or those that were used last."""
    if not chosen.conversation:
        rows = control.conversations(limit=screenful(chosen))
        return PartialList(map(row_of, rows), rows.total, "greenroom ls --all")
    wanted = [ids.resolve_id(control, reference) for reference in chosen.conversation]
    return [row_of(row) for row in control.conversations_by_id(wanted)]


def _any_failed(control: Control, rows: list[Row], chosen: Namespace) -> bool:
    if chosen.conversation:
        return any(row["state"] == "failed" for row in rows)
    return bool(control.conversations(state="failed", limit=1).total)


def _daemon(control: Control) -> Json:
    return {**vars(control.status()), "socket": socket_path(locate())}


def _overview(control: Control, rows: list[Row], chosen: Namespace) -> None:
    daemon, paint = _daemon(control), terminal.Paint()
    named = rows if chosen.conversation else None
    counts = Counter(row["state"] for row in named) if named else ids.count_by_state(control, STATES)
    states = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state]) or "no conversations"
    up = f"{paint('up', 'green')} {span(daemon['uptime_s'])}"
    print(f"greenroom {daemon['version']}: {up}, pid {daemon['pid']}, {states}")
    clients = daemon["clients"] - 1  # without this command
    print(f"socket {daemon['socket']}")
    print(f"journal {size(daemon['journal_bytes'])}, {plural(clients, 'other client')}")
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
        "state": paint(row["state"], *colour(row)) + (f", {plural(pending, 'open approval')}" if pending else ""),
        "failed": one_line(found["failed"] or ""),
        "last turn": _last_ending(found),
        "directory": home(settings["cwd"]),
        **agent_lines(found),
        "policy": f"approvals {settings['approval_policy']}, sandbox {settings['sandbox']['mode']}",
        "also writes": ", ".join(map(home, settings["sandbox"].get("writable_roots", ()))),
        "events": f"{found['seq']}, {tokens(found, ',')} tokens, cost {cost(found)}",
        "context": _context(found),
        "queue": plural(found["queued"], "message") + (_held_until(row) if found["paused"] else ""),
        "jobs": _jobs(control, row["id"]),
        "created": f"{moment(found['created'])}, used {age(found['updated'])} ago",
        "watched by": plural(len(found["readers"]), "client"),
    }
    room = terminal.size()[0] if terminal.is_terminal() else None
    for name, value in facts.items():
        if value:
            print(
                "\n".join(
                    line for part in f"{name:12}{value}".split("\n") for line in wrap_text(part, room, " " * 12)
                )
            )
    page = control.call("conversation/history", conversation=row["id"], before=found["seq"] + 1, limit=EVENTS)
    print(f"\nlast {plural(len(page['events']), 'event')}:")
    for event in page["events"]:
        print(_line(event, paint))


def _jobs(control: Control, conversation: str) -> str:
    """The commands that run in the background; empty if none runs."""
    return ", ".join(f"{visible(job.job)} {visible(job.state)}" for job in running_jobs(control, conversation))


def _held_until(row: Row) -> str:
    return f", held until `greenroom queue {ids.short_id(row['id'])} go`"


def _last_ending(found: Json) -> str:
    """The ending of the last turn, unless it completed; the history says why."""
    return "" if found["ended"] in {None, "completed"} else str(found["ended"])


def _context(found: Json) -> str:
    used, window = found["context_tokens"], found["context_window"]
    if used is None:
        return "unknown"
    return f"{fullness(found)} full, {used:,} of {window:,} tokens" if window else f"{used:,} tokens, window unknown"


def _line(event: Json, paint: terminal.Paint) -> str:
    body = event["event"]
    text = f"{event['seq']:>6}  {age(event['ts']):>4}  {body['type']}"
    return paint(text, "dim") if body["type"] in {"token_count", "tool_call", "tool_output"} else text
