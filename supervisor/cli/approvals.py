"""`greenroom approvals`, `approve` and `deny`: what turns wait for, and the answers. Fast verbs."""

import json
from argparse import Namespace

from supervisor.cli import exits, ids
from supervisor.cli.client import Control, Json
from supervisor.cli.listing import Listing, present
from supervisor.cli.problems import Problem, report
from supervisor.cli.table import Column, Row
from supervisor.cli.words import age, one_line

LOOK_BACK = 10  # conversations, for an answer that somebody else gave a moment ago
RECENT = 200  # events of each
DECISIONS = {"once": "approved", "conversation": "approved_for_session"}

QUESTIONS = Listing(
    {
        "id": "Answer under this id.",
        "conversation": "Which conversation asks.",
        "kind": "command or patch.",
        "what": "What it wants to do.",
        "reason": "Why it asks, or null.",
        "cwd": "Where, for a command.",
        "asked": "Seconds since 1970.",
        "seq": "The event that asks.",
    },
    (
        Column("ID", lambda row: ids.short(row["id"]), style=lambda _: ("cyan",)),
        Column("CONVERSATION", lambda row: ids.short(row["conversation"])),
        Column("WAITS", lambda row: age(row["asked"]), right=True),
        Column("KIND", lambda row: row["kind"]),
        Column("WHAT", lambda row: one_line(row["what"]), gives=True),
        Column("REASON", lambda row: one_line(row["reason"] or ""), gives=True),
    ),
    "no questions",
)


def listing(chosen: Namespace) -> int:
    with Control("approvals") as control:

        def fetch() -> list[Row]:
            if chosen.conversation is None:
                found = control.call("approvals/list")
            else:
                found = ids.call(control, "approvals/list", chosen.conversation)
            return [question(one) for one in found["approvals"]]

        return present(QUESTIONS, fetch, chosen)


def question(found: Json) -> Row:
    patch = found["type"] == "apply_patch_approval_request"
    return {
        "id": found["approval_id"],
        "conversation": found["conversation"],
        "kind": "patch" if patch else "command",
        "what": ", ".join(found["changes"]) if patch else command_line(found["command"]),
        "reason": found.get("reason"),
        "cwd": found.get("cwd"),
        "asked": found.get("ts"),
        "seq": found.get("seq"),
    }


def command_line(command: list[str]) -> str:
    """What a person would have typed."""
    if len(command) == 3 and command[1] in {"-lc", "-c"}:
        return command[2]
    import shlex

    return shlex.join(command)


def approve(chosen: Namespace) -> int:
    return _answer(chosen, DECISIONS[chosen.span], "")


def deny(chosen: Namespace) -> int:
    return _answer(chosen, "abort" if chosen.abort else "denied", chosen.reason or "")


def _answer(chosen: Namespace, decision: str, reason: str) -> int:
    failures: list[Problem] = []
    with Control(chosen.verb) as control:
        open_ = control.call("approvals/list")["approvals"]
        for reference in chosen.approval:
            try:
                whole = _meant(control, reference, open_)
                result = control.call("approvals/answer", approval=whole, decision=decision, reason=reason)
            except Problem as problem:
                failures.append(problem)
                report(problem, as_json=chosen.json)
                continue
            print(json.dumps(result) if chosen.json else f"{ids.short(whole)}: {_WORDS[decision]}")
    if not failures:
        return exits.OK
    return failures[0].exit if len(chosen.approval) == 1 else exits.SOME_FAILED


_WORDS = {
    "approved": "approved",
    "approved_for_session": "approved, and the same from now on in this conversation",
    "denied": "denied",
    "abort": "denied, and the turn ends",
}


def _meant(control: Control, reference: str, open_: list[Json]) -> str:
    """A whole id goes to the daemon as it is: it knows who has answered already."""
    if "@" in reference[1:]:
        return reference
    found = [one for one in open_ if one["approval_id"].startswith(reference)]
    if not found:
        found = _of_conversation(control, reference)
    if len(found) == 1:
        return str(found[0]["approval_id"])
    if found:
        known = ", ".join(ids.short(one["approval_id"]) for one in found)
        raise Problem(f"{reference!r} is {len(found)} questions", f"there are {known}", "ambiguous_approval")
    raise _not_open(control, reference)


def _of_conversation(control: Control, reference: str) -> list[Json]:
    """Asked of itself: the list of all may be a moment behind it."""
    try:
        found: list[Json] = control.call("conversation/get", conversation=ids.meant(control, reference))["pending"]
    except Problem:
        return []  # then it was meant as a question's id
    return found


def _not_open(control: Control, reference: str) -> Problem:
    """Either it never was, or somebody was quicker."""
    for row in control.call("conversation/list", limit=LOOK_BACK)["conversations"] if len(reference) > 1 else ():
        after = max(0, row["seq"] - RECENT)
        page = control.call("conversation/history", conversation=row["conversation"], after=after, limit=2 * RECENT)
        for body in (event["event"] for event in page["events"]):
            if body["type"] == "approval_resolved" and body["approval_id"].startswith(reference):
                by = f" by {body['by']}" if body["by"] else ""
                return Problem(f"{reference} is {body['decision']} already{by}", code="already_answered")
    return Problem(f"no open question {reference!r}", "`greenroom approvals` lists them", "unknown_approval")
