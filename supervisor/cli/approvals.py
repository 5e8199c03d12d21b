"""`greenroom approvals`, `approve` and `deny`: list open approvals and answer them. These verbs must start fast."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit import exits, ids, terminal
from supervisor.cli.kit.approval_answers import ApprovalAnswer
from supervisor.cli.kit.approval_text import LINES_IN_LIST, block, body, home, row_of
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.formatting import age
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.listing import ListLayout, present
from supervisor.cli.kit.pager import open_pager
from supervisor.cli.kit.problems import Problem, exit_of, report
from supervisor.cli.kit.table import Column, Row
from transports.question_text import LONGEST, is_tool, is_use, may_leave, place, runs_outside, sandbox_text

LOOK_BACK = 10  # conversations to search for an answer that somebody else has just given
RECENT = 200  # events to look at in each of them
END = 1 << 60  # after the last event, however many came after the list was made
LEAST = 2  # characters that a prefix of an id must have
DECISIONS = {"once": "approved", "conversation": "approved_for_session"}

OPEN_APPROVALS = ListLayout(
    {
        "id": "The approval's id.",
        "conversation": "The conversation that asks.",
        "kind": "One of command, patch; tool, server: of MCP servers; or an agent's own word, as read, fetch, other.",
        "what": "The command as a shell needs it; or the patch, the tool or the server's words in short.",
        "command": "The command as a list of words, or null.",
        "outside": "Whether it would run outside the sandbox.",
        "reason": "The reason that the agent gives, or null.",
        "cwd": "The working directory of the command, or null.",
        "asked": "When it was asked for, in seconds since 1970.",
        "seq": "The seq of the event that asks.",
    },
    (
        Column("ID", lambda row: ids.short_id(row["id"])),
        Column("CONVERSATION", lambda row: ids.short_id(row["conversation"])),
        Column("WAITS", lambda row: age(row["asked"]) if row["asked"] else ""),
        Column("KIND", lambda row: row["kind"]),
        Column("WHERE", lambda row: sandbox_text(row["found"])),
        Column("DIRECTORY", lambda row: place(row["cwd"], home()) if row["cwd"] else ""),
        Column("WHAT", lambda row: row["what"]),
        Column("REASON", lambda row: visible(row["reason"] or "")),
    ),
    "no open approvals",
    block=lambda row, columns, paint: block(row, columns, paint, LINES_IN_LIST),
)


def listing(chosen: Namespace) -> int:
    with Control("approvals") as control:
        reference = chosen.approval
        named = reference is not None and bool(_with_id(control, reference))

        def fetch() -> list[Row]:
            if named:
                return _with_id(control, reference)
            found = (
                control.call("approvals/list")
                if reference is None
                else control.call("approvals/list", conversation=ids.resolve_id(control, reference))
            )
            return [row_of(approval) for approval in found["approvals"]]

        if named and chosen.json is None and chosen.format is None and not (chosen.quiet or chosen.watch):
            return _print_whole(fetch())
        return present(OPEN_APPROVALS, fetch, chosen)


def _with_id(control: Control, reference: str) -> list[Row]:
    if len(reference) < LEAST:
        return []
    found = control.call("approvals/list")["approvals"]
    return [row_of(approval) for approval in found if approval["approval_id"].startswith(reference)]


def _print_whole(rows: list[Row]) -> int:
    columns = terminal.size()[0] if terminal.is_terminal() else LONGEST
    with open_pager() as text:
        for row in rows:
            print("\n".join(block(row, columns, terminal.Paint())), file=text or sys.stdout)
    return exits.OK


def approve(chosen: Namespace) -> int:
    references, content = _words_of(chosen.approval)
    answer = ApprovalAnswer(DECISIONS[chosen.span], chosen.option or "", outside=chosen.outside)
    return _answer(chosen, references, answer, content)


def deny(chosen: Namespace) -> int:
    words, because = _reason_in(chosen.approval)
    if because and chosen.reason:
        raise Problem("the reason is given twice", "write `--reason TEXT`, or `because` and the reason last", "usage")
    references, content = _words_of(words)
    if because and len(references) > 1:
        example = f"`greenroom deny {references[0]} because {because}`"
        raise Problem(f"a reason follows, and {len(references)} approvals are named", f"write {example}", "usage")
    answer = ApprovalAnswer("abort" if chosen.abort else "denied", chosen.option or "", chosen.reason or because)
    return _answer(chosen, references, answer, content)


def _answer(chosen: Namespace, references: list[str], answer: ApprovalAnswer, content: dict[str, str]) -> int:
    """Answer all named approvals, or none if a name is wrong or the answer does not fit."""
    failures: list[Problem] = []
    with Control(chosen.verb) as control:
        open_ = control.call("approvals/list")["approvals"]
        found = _approval_ids(control, references, open_, chosen)
        if found is None:
            return exits.NO_SUCH
        _check(references, [approval for approval in open_ if approval["approval_id"] in found], answer)
        for approval_id in found:
            try:
                result = vars(control.answer(approval_id, content=content, **answer.members))
            except Problem as problem:
                failures.append(problem)
                report(problem, as_json=chosen.json)
                continue
            answered = [approval for approval in open_ if approval["approval_id"] == approval_id]
            text = (
                json_text(result) if chosen.json else f"{ids.short_id(approval_id)}: {_answer_text(result, answered)}"
            )
            to_show = answered if terminal.is_terminal() and not chosen.json else ()
            lines = [text, *_bodies(to_show)]
            sys.stdout.write("".join(f"{line}\n" for line in lines))  # in one piece: others may write there, too
    return exit_of(failures, len(references))


def _approval_ids(
    control: Control, references: list[str], open_: list[Json], chosen: Namespace
) -> tuple[str, ...] | None:
    """The ids of all named approvals. None, after a line about each wrong name: then nothing is answered."""
    found, failures = list[str](), list[Problem]()
    for reference in references:
        try:
            found.append(_approval_id(control, reference, open_))
        except Problem as problem:
            failures.append(problem)
    if not failures:
        return tuple(dict.fromkeys(found))
    if len(references) == 1:
        raise failures[0]
    for failure in failures:
        report(failure, as_json=chosen.json)
    hint = "; a reason is written as `because …`, last" if chosen.verb == "deny" else ""
    report(Problem("nothing was answered", f"name open approvals alone{hint}"), as_json=chosen.json)
    return None


def _check(references: list[str], approvals: list[Json], answer: ApprovalAnswer) -> None:
    """Refuse an answer that does not fit all of the approvals, before any is answered."""
    if answer.option and len(references) > 1:
        write = f"`greenroom approvals {references[0]}` shows those of one; answer each by itself"
        raise Problem(f"an option belongs to a single approval, and {len(references)} are named", write, "usage")
    for approval in approvals if answer.outside else ():
        if not (may_leave(approval) or runs_outside(approval)):
            what = f"{ids.short_id(approval['approval_id'])} does not ask to leave the sandbox"
            raise Problem(what, "leave --outside out; nothing was answered", "usage")


def _reason_in(words: list[str]) -> tuple[list[str], str]:
    """The words before `because`, and those after it."""
    at = next((at for at, word in enumerate(words) if at and word.lower().strip(",:;") == "because"), len(words))
    return words[:at], " ".join(words[at + 1 :])


def _words_of(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The references to approvals, and the values for a form: no id has an equals sign."""
    references = [word for word in words if "=" not in word]
    content = dict(word.split("=", 1) for word in words if "=" in word)
    if not references or (content and len(references) > 1):
        how_many = f"{len(references)} approvals are" if references else "no approval is"
        write = "write `greenroom approve ID name=value`"
        raise Problem(f"a form is filled in, and {how_many} named", write, "usage")
    return references, content


def _bodies(answered: Iterable[Json]) -> Iterator[str]:
    """The text of the answered approvals, because the person may have read a different one."""
    columns, paint = terminal.size()[0], terminal.Paint()
    for found in answered:
        yield from body(found, columns, paint, LINES_IN_LIST)[0]


def _answer_text(result: Json, answered: Iterable[Json]) -> str:
    decision, approvals = result["decision"], list(answered)
    if any(is_use(approval) for approval in approvals):
        return _option_text(result, approvals[0])
    if any(is_tool(approval) for approval in approvals):
        return _WORDS[decision].replace("command", "tool")
    if any(approval.get("history_of") for approval in approvals):
        return _WORDS[decision].replace("the same command later", "all that changes this repository's history")
    if result["outside"]:
        return _WORDS[decision].replace("approved", "approved outside the sandbox", 1)
    return _WORDS[decision]


def _option_text(result: Json, approval: Json) -> str:
    """The answer to a third-party agent in words, with the rule or the name of the chosen option."""
    names = [
        option.get("rule") or option["name"] for option in approval["options"] if option["id"] == result["option"]
    ]
    said = _WORDS[result["decision"]].replace("the same command later", "the same later")
    return f"{said}: {visible(names[0])}" if names else said


_WORDS = {
    "approved": "approved",
    "approved_for_session": "approved, also for the same command later in this conversation",
    "denied": "denied",
    "abort": "denied, and the turn ends",
}
_PAST = {"approved_for_session": "approved", "abort": "denied"}


def _approval_id(control: Control, reference: str, open_: list[Json]) -> str:
    """The id for a reference. A whole id is not looked up: the daemon knows who has answered it already."""
    if "@" in reference[1:]:
        return reference
    found = [approval for approval in open_ if approval["approval_id"].startswith(reference)]
    if not found:
        found = _of_conversation(control, reference)
    if len(found) == 1:
        return str(found[0]["approval_id"])
    if found:
        known = ", ".join(ids.short_id(approval["approval_id"]) for approval in found)
        raise Problem(f"{reference!r} matches {len(found)} approvals", f"name one of {known}", "ambiguous_approval")
    raise _not_open(control, reference)


def _of_conversation(control: Control, reference: str) -> list[Json]:
    """The open approvals of a conversation, which knows them itself: the list of all approvals may lag."""
    try:
        found: list[Json] = control.call("conversation/get", conversation=ids.daemon_reference(control, reference))[
            "pending"
        ]
    except Problem:
        return []  # not a conversation, so it was meant as an approval's id
    return found


def _not_open(control: Control, reference: str) -> Problem:
    """The problem with an approval that is not open: somebody else was quicker, or it never existed."""
    for row in control.conversations(limit=LOOK_BACK) if len(reference) > 1 else ():
        page = control.call("conversation/history", conversation=row.conversation, before=END, limit=RECENT)
        for event in (envelope["event"] for envelope in page["events"]):
            if event["type"] == "approval_resolved" and event["approval_id"].startswith(reference):
                by = f" by {visible(event['by'])}" if event["by"] else ""
                return Problem(
                    f"{reference} was already {_PAST.get(event['decision'], event['decision'])}{by}",
                    code="already_answered",
                )
    return Problem(f"no open approval {reference!r}", "`greenroom approvals` lists them", "unknown_approval")
