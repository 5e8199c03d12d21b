"""Some of our events as one line of text each, for readers that do not know these events. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from actors.vocabulary import events as ev
from actors.vocabulary.visible_text import visible
from transports.job_words import job_end
from transports.question_text import command_line, why_not_asked
from transports.waiting_words import waits

LONGEST = 300  # characters of the line for a call, and of the first line of its output

Notice = Callable[[Mapping[str, Any]], str]


def _failed_call(event: Mapping[str, Any]) -> str:
    failed = event.get("failed")
    return f"failed: {failed['message']}" if failed else ""


def _queue_paused(event: Mapping[str, Any]) -> str:
    """Name the messages that an interrupt holds, and how they go on."""
    summary = waits(event["queued"], event.get("waiting", ()))
    return f"{summary}; `greenroom queue` lets them go on, or drops them; the next message goes first, alone"


def _job(event: Mapping[str, Any]) -> str:
    until = "it goes on after the turn" if event.get("keeps") else "until the turn ends"
    return f"in the background as job {event['job']}, {until}: {command_line(event['command'])}"


def _settings(event: Mapping[str, Any]) -> str:
    changes = (f"{change['name']} is {change['after'] or 'the default'} now" for change in event.get("changed", ()))
    by = f" ({event['by']})" if event.get("by") else ""
    return f"settings: {', '.join(changes)}{by}" if event.get("changed") else ""


def _work_ends(event: Mapping[str, Any]) -> str:
    match event["kind"]:
        case "picture":
            return f"looks at the picture {event['subject']['path']}"
        case "search":
            return f"searched the web: {event['subject'].get('query', '')}"
        case _:
            return _failure(event)


def _failure(event: Mapping[str, Any]) -> str:
    """The end of a call in a line; empty if it ended well."""
    if event["status"] == "completed" and not event.get("exit_code"):
        return ""
    how = "was cancelled" if event["status"] == "cancelled" else "failed"
    code = f", exit {event['exit_code']}" if event.get("exit_code") is not None else ""
    first_line = next((line for line in event.get("output", "").splitlines() if line.strip()), "")
    return f"{_describe_call(event)} {how}{code}{first_line and f': {visible(first_line)[:LONGEST]}'}"


def _describe_call(event: Mapping[str, Any]) -> str:
    """A call in a line: its command, or its agent's title of it."""
    command = (event.get("subject") or {}).get("command")
    call = event.get("agent_call") or {}
    words = " ".join(str(call.get("title") or call.get("sort") or "a tool").split())
    line = command_line(command) if command else visible(words)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


# Readers leave out an empty notice. Those who know a kind of work show that, and no notice.
_NOTICES: Mapping[type[ev.BaseEvent], Notice] = {
    ev.ToolOutput: _failed_call,
    ev.QueuePaused: _queue_paused,
    ev.JobStarted: _job,
    ev.JobEnded: job_end,
    ev.SettingsChanged: _settings,
    ev.WorkBegan: lambda event: f"uses a tool: {_describe_call(event)}",
    ev.WorkEnded: _work_ends,
    ev.AgentSession: lambda _: "",  # a `background_event` of its own tells it
    ev.KeptYesUsed: why_not_asked,
    ev.Compacted: lambda event: f"the earlier conversation was summed up (events up to {event['last_seq']})",
}
NOTICES = {ev.type_of(kind): notice for kind, notice in _NOTICES.items()}
