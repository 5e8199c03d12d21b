"""References to conversations: id, unique prefix, name, @last, @here; and the advice if nothing matches."""

from collections.abc import Sequence
from typing import Any

from supervisor.cli.kit.client import ANSWER_S, Control, Json, RequestRefused
from supervisor.cli.kit.problems import Problem
from supervisor.paths import working_directory

SHORT = 8  # characters of an id in tables
MOST_SUGGESTIONS = 3  # suggestions
PAGE = 1000  # conversations in one answer
IDS_PER_REQUEST = 256  # ids in one request


def short_id(conversation: str) -> str:
    return conversation[:SHORT]


def check_name(name: str) -> str:
    """Return the name if a person can see it and type it again; otherwise raise a Problem."""
    if not name or not name.isprintable() or name != name.strip() or name.startswith(("@", "-")):
        advice = "leave out control characters, blanks at either end, and @ or - at the beginning"
        raise Problem(f"{name!r} is not a valid name", advice, "usage")
    return name


def daemon_reference(control: Control, reference: str) -> str:
    """The reference in a form that the daemon can look up: only this module knows @last and @here."""
    if not reference:
        raise Problem("no conversation is named", "write an id, a name, @last or @here", "usage")
    if not reference.isascii() and reference != reference.encode(errors="replace").decode():
        raise Problem(f"{reference!a} is not UTF-8", "write an id, a name, @last or @here", "unknown_conversation")
    if not reference.startswith("@"):
        return reference
    if reference not in {"@last", "@here"}:
        raise Problem(f"{reference} is unknown", "write @last or @here", "unknown_conversation")
    here: Json = {"cwd": working_directory()} if reference == "@here" else {}
    found = control.call("conversation/list", limit=1, **here)["conversations"]
    if not found:
        where = "in this directory" if here else "yet"
        raise Problem(f"{reference}: no conversation {where}", "`greenroom run` starts one", "unknown_conversation")
    return str(found[0]["conversation"])


def call(control: Control, method: str, reference: str, timeout_s: float = ANSWER_S, **params: Any) -> Json:
    """Call a method about one conversation; if there is no such conversation, suggest others."""
    try:
        return control.call(method, timeout_s, conversation=daemon_reference(control, reference), **params)
    except RequestRefused as refusal:
        raise explain_refusal(control, reference, refusal) from refusal


def resolve_id(control: Control, reference: str) -> str:
    """The whole id of the conversation."""
    wanted = daemon_reference(control, reference)
    try:
        return str(control.call("conversation/resolve", reference=wanted)["conversation"])
    except RequestRefused as refusal:
        raise explain_refusal(control, reference, refusal) from refusal


def explain_refusal(control: Control, reference: str, problem: Problem) -> Problem:
    if not isinstance(problem, RequestRefused):
        return problem
    if problem.code == "ambiguous_conversation":
        candidates = problem.data.get("candidates") or []
        return Problem(
            f"{reference!r} is ambiguous", f"write one of {_candidate_list(control, candidates)}", problem.code
        )
    if problem.code == "unknown_conversation":
        near = _similar_names(control, reference)
        advice = f"did you mean {' or '.join(near)}?" if near else "`greenroom ls -a` lists all conversations"
        return Problem(f"no conversation {reference!r}", advice, problem.code)
    return problem


def _candidate_list(control: Control, candidates: Sequence[str]) -> str:
    """The candidates' ids, long enough to tell them apart, with their names."""
    rows = {row["conversation"]: row for row in conversations_by_id(control, candidates)}
    length = next(
        (count for count in range(SHORT, 37) if len({whole[:count] for whole in candidates}) == len(candidates)), 36
    )
    named = [
        f"{whole[:length]} ({rows[whole]['name']})" if whole in rows and rows[whole]["name"] else whole[:length]
        for whole in candidates
    ]
    return ", ".join(named)


def _similar_names(control: Control, reference: str) -> list[str]:
    import difflib

    rows, _ = newest_conversations(control, PAGE, archived=True)
    names = {row["name"].lower(): row["name"] for row in rows if row["name"]}
    ids = {short_id(row["conversation"]): short_id(row["conversation"]) for row in rows}
    known = {**ids, **names}
    found = difflib.get_close_matches(reference.lower()[:36], known, n=MOST_SUGGESTIONS, cutoff=0.6)
    return [known[word] for word in found]


def all_conversations(control: Control, **filters: object) -> list[Json]:
    """All conversations, page by page; archived conversations too, unless the filters say otherwise."""
    return newest_conversations(control, None, **{"archived": True, **filters})[0]


def newest_conversations(control: Control, most: int | None, **filters: object) -> tuple[list[Json], int]:
    """At most so many conversations, page by page and in the daemon's order, and the number of all."""
    rows: list[Json] = []
    params: Json = dict(filters)
    while True:
        limit = PAGE if most is None else max(1, min(PAGE, most - len(rows)))
        page = control.call("conversation/list", **params, limit=limit)
        rows += page["conversations"]
        params["cursor"] = page["next_cursor"]
        if params["cursor"] is None or (most is not None and len(rows) >= most):
            return rows[:most], page["total"]


def conversations_by_id(control: Control, wanted: Sequence[str]) -> list[Json]:
    """The conversations with these ids, without those deleted meanwhile."""
    rows: list[Json] = []
    for at in range(0, len(wanted), IDS_PER_REQUEST):
        part = list(wanted[at : at + IDS_PER_REQUEST])
        rows += control.call("conversation/list", conversations=part)["conversations"]
    return rows


def count_by_state(control: Control, states: Sequence[str]) -> dict[str, int]:
    """The number of conversations in each state, without the archived."""
    return {state: newest_conversations(control, 1, state=state)[1] for state in states}
