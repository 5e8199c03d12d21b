"""Events of ours in a line of words each, for readers that do not know them. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from transports.job_words import job_end
from transports.question import command_line, why_not_asked
from transports.tool_uses import failure, told
from transports.waiting_words import waits

Notice = Callable[[Mapping[str, Any]], str]


def _failed_call(event: Mapping[str, Any]) -> str:
    failed = event.get("failed")
    return f"failed: {failed['message']}" if failed else ""


def _held(event: Mapping[str, Any]) -> str:
    """Name the messages that an interrupt holds, and how they go on."""
    told = waits(event["queued"], event.get("waiting", ()))
    return f"{told}; `greenroom queue` lets them go on, or drops them; the next message goes first, alone"


def _job(event: Mapping[str, Any]) -> str:
    until = "it goes on after the turn" if event.get("keeps") else "until the turn ends"
    return f"in the background as job {event['job']}, {until}: {command_line(event['command'])}"


def _settings(event: Mapping[str, Any]) -> str:
    changes = (f"{one['name']} is {one['after'] or 'the default'} now" for one in event.get("changed", ()))
    by = f" ({event['by']})" if event.get("by") else ""
    return f"settings: {', '.join(changes)}{by}" if event.get("changed") else ""


# An empty notice is left out.
NOTICES: Mapping[str, Notice] = {
    "tool_output": _failed_call,
    "queue_paused": _held,
    "job_started": _job,
    "job_ended": job_end,
    "settings_changed": _settings,
    "view_image_tool_call": lambda event: f"looks at the picture {event['path']}",
    "web_search_end": lambda event: f"searched the web: {event['query']}",
    "agent_session": lambda _: "",  # what there is to know about it is a `background_event` of its own
    "kept_yes_used": why_not_asked,
    "tool_use_begin": lambda event: f"uses a tool: {told(event)}",
    "tool_use_end": failure,
    "compacted": lambda event: f"the earlier conversation was summed up (events up to {event['last_seq']})",
}
