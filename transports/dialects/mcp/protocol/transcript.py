"""A history to read: in Markdown for people and models, as JSON for programs. Pure."""

import json
from collections.abc import Callable, Iterable, Mapping

from actors.vocabulary import events as ev
from actors.vocabulary.records import Record
from actors.vocabulary.visible_text import visible
from transports.dialects.codex.questions import question_words
from transports.dialects.codex.work import command_words, exit_code, patch_output
from transports.notices import NOTICES
from transports.question_text import QuestionEvent as Event
from transports.question_text import command_line, is_patch, is_use, sandbox_text, summary

CONTEXT = "**Context**"
OUTPUT_LINES = 20  # of a command's output; its end says most


def as_markdown(records: Iterable[Record], *, context: bool = True) -> str:
    """The transcript. Without `context`, the agent's surroundings and guides are left out."""
    parts = filter(None, map(part_of, records))
    return "\n\n".join(part for part in parts if context or not part.startswith(CONTEXT))


def part_of(record: Record) -> str:
    """The text of one event; empty if a reader does not need it."""
    if record.type not in PARTS:
        return ""
    event = json.loads(record.body)
    return PARTS[event["type"]](event) if event["type"] in PARTS else ""  # a notice, where the event was too long


def as_json(record: Record) -> str:
    event = {"seq": record.seq, "ts": record.ts, "turn": record.turn, "event": json.loads(record.body)}
    return json.dumps(event, ensure_ascii=False)


def _user_message(event: Event) -> str:
    who = "**User**" if event.get("kind", "plain") == "plain" else CONTEXT
    return f"{who}\n\n{event['message']}"


def _work_begins(event: Event) -> str:
    subject = event["subject"]
    match subject["kind"]:
        case "command":
            line = command_line(command_words(event))
            return _code_block(line) if subject.get("tool") else _code_block(f"$ {line}", "sh")
        case "files":
            return "Patch: " + ", ".join(f"`{visible(path)}`" for path in subject["changes"])
        case "tool":
            return ""
        case _:
            return _notice(event)


def _work_ends(event: Event) -> str:
    match event["kind"]:
        case "command":
            return _command_ends(event)
        case "files":
            failed = f"*The patch failed: {patch_output(event)[1]}*"
            return "" if event["status"] == "completed" else failed
        case "tool":
            return ""
        case _:
            return _notice(event)


def _command_ends(event: Event) -> str:
    lines = (event.get("output", "") + event.get("errors", "")).splitlines()
    left_out = len(lines) - OUTPUT_LINES
    shown_lines = [f"… {left_out} lines"] * (left_out > 0) + lines[-OUTPUT_LINES:]
    return _code_block("\n".join([*shown_lines, f"[exit {exit_code(event)}]"]))


def _question(event: Event) -> str:
    known = is_patch(event) or not is_use(event)
    text = summary(event) if known else command_line(question_words(event))
    return f"*Asked for approval, {sandbox_text(event)}:*\n\n{_code_block(text)}"


def _plan(event: Event) -> str:
    marks = {"completed": "x", "in_progress": "~", "pending": " "}
    return "\n".join(f"- [{marks[step['status']]}] {step['step']}" for step in event["plan"])


def _notice(event: Event) -> str:
    """The notice of an event in italics, with a capital first letter; an empty one is left out."""
    text = visible(NOTICES[event["type"]](event))
    return f"*{text[:1].upper()}{text[1:]}*" if text else ""


def _code_block(text: str, kind: str = "") -> str:
    """The text between fences that are longer than any inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{kind}\n{text}\n{fence}"


_PARTS: Mapping[type[ev.BaseEvent], Callable[[Event], str]] = {
    ev.SessionConfigured: lambda event: f"# {event.get('name') or event['session_id']}",
    ev.UserMessage: _user_message,
    ev.AgentMessage: lambda event: f"**Agent**\n\n{event['message']}" + (" *(cut)*" if event.get("partial") else ""),
    ev.WorkBegan: _work_begins,
    ev.WorkEnded: _work_ends,
    ev.ApprovalRequested: _question,
    ev.ApprovalResolved: lambda event: f"*{event['decision']}{' by ' + event['by'] if event.get('by') else ''}*",
    ev.PlanUpdate: _plan,
    ev.ErrorEvent: lambda event: f"*Error: {event['message']}*",
    ev.TurnAborted: lambda event: f"*Turn {event['reason']}*",
}
PARTS = {**dict.fromkeys(NOTICES, _notice), **{ev.type_of(kind): write for kind, write in _PARTS.items()}}
