"""References to conversations: id, unique prefix, name, @last, @here; and the advice if nothing matches."""

from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from supervisor.cli.kit.client import Control, RequestRefused
from supervisor.cli.kit.problems import Problem
from supervisor.paths import working_directory

P = ParamSpec("P")
T = TypeVar("T")
SHORT = 8  # characters of an id in tables
MOST_SUGGESTIONS = 3  # suggestions
PAGE = 1000  # conversations among which similar names are looked for


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
    here = working_directory() if reference == "@here" else None
    found = control.conversations(cwd=here, limit=1)
    if not found:
        where = "in this directory" if here else "yet"
        raise Problem(f"{reference}: no conversation {where}", "`greenroom run` starts one", "unknown_conversation")
    return found[0].conversation


def about(
    control: Control, reference: str, method: Callable[Concatenate[str, P], T], *args: P.args, **params: P.kwargs
) -> T:
    """Call a method about one conversation; if there is no such conversation, suggest others."""
    try:
        return method(daemon_reference(control, reference), *args, **params)
    except RequestRefused as refusal:
        raise explain_refusal(control, reference, refusal) from refusal


def resolve_id(control: Control, reference: str) -> str:
    """The whole id of the conversation."""
    return about(control, reference, control.resolve)


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
    rows = {row.conversation: row for row in control.conversations_by_id(candidates)}
    length = next(
        (count for count in range(SHORT, 37) if len({whole[:count] for whole in candidates}) == len(candidates)), 36
    )
    named = [
        f"{whole[:length]} ({rows[whole].name})" if whole in rows and rows[whole].name else whole[:length]
        for whole in candidates
    ]
    return ", ".join(named)


def _similar_names(control: Control, reference: str) -> list[str]:
    import difflib

    rows = control.conversations(archived=True, limit=PAGE)
    names = {row.name.lower(): row.name for row in rows if row.name}
    ids = {short_id(row.conversation): short_id(row.conversation) for row in rows}
    known = {**ids, **names}
    found = difflib.get_close_matches(reference.lower()[:36], known, n=MOST_SUGGESTIONS, cutoff=0.6)
    return [known[word] for word in found]


def count_by_state(control: Control, states: Sequence[str]) -> dict[str, int]:
    """The number of conversations in each state, without the archived."""
    return {state: control.conversations(state=state, limit=1).total for state in states}
