"""The wording for the end of a background command, in one place for all. Standard library only."""

from collections.abc import Mapping
from typing import Any

from actors.vocabulary.visible_text import visible

ENDS = {
    "not_started": "did not start",
    "turn_over": "ended with its turn",
    "lost": "was lost with the daemon",
}


def job_end(event: Mapping[str, Any]) -> str:
    """For example: job 3f2a ended with exit code 1."""
    return f"job {event['job']} {how_it_ended(event['how'], event['exit_code'], event.get('by', ''))}"


def how_it_ended(how: str, exit_code: int, by: str) -> str:
    """For example: ended with exit code 1."""
    if how == "ended":
        return f"was ended by {visible(by)}" if by else "was ended"
    return ENDS.get(how, f"ended with exit code {exit_code}")
