"""Some of our events as one line of text each, for readers that do not know these events. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from transports.job_words import job_end
from transports.question_text import command_line, why_not_asked
from transports.tool_uses import describe_use, failure
from transports.waiting_words import waits

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


# Readers leave out an empty notice.
NOTICES: Mapping[str, Notice] = {
    "tool_output": _failed_call,
    "queue_paused": _queue_paused,
    "job_started": _job,
    "job_ended": job_end,
    "settings_changed": _settings,
    "view_image_tool_call": lambda event: f"looks at the picture {event['path']}",
    "web_search_end": lambda event: f"searched the web: {event['query']}",
    "agent_session": lambda _: "",  # a `background_event` of its own tells it
    "kept_yes_used": why_not_asked,
    "tool_use_begin": lambda event: f"uses a tool: {describe_use(event)}",
    "tool_use_end": failure,
    "compacted": lambda event: f"the earlier conversation was summed up (events up to {event['last_seq']})",
}
