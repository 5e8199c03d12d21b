"""Events that are shown as a single line of text. Pure: knows neither screen nor colours."""

from collections.abc import Callable

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit.client import Json
from supervisor.cli.kit.formatting import one_line
from transports.job_words import job_end
from transports.question_text import why_not_asked
from transports.waiting_words import waits

HELD_HINT = "(held: `greenroom queue` lets it go on, or drops it; the next message goes first, alone)"


def actor_clause(body: Json) -> str:
    return f" by {visible(body['by'])}" if body.get("by") else ""


def words_of(body: Json) -> str:
    return one_line(" ".join(item.get("text", "") for item in body["items"]))


def reason_clause(reason: str) -> str:
    return f": {one_line(reason)}" if reason else ""


def _room(body: Json) -> str:
    before, after = body["tokens_before"], body["tokens_after"]
    return f"; context {before:,} -> about {after:,} tokens" if before is not None and after is not None else ""


SESSION_BEGINNINGS = {
    "resumed": "goes on",
    "loaded": "goes on",
    "seeded": "began anew, and was told what had been said",
}


def _session(body: Json) -> str:
    """The beginning of an agent's session; a note about it is an event of its own."""
    program = f" ({visible(body['program'])})" if body.get("program") else ""
    return f"{visible(body['agent'])}{program}: {SESSION_BEGINNINGS.get(body['how'], 'begins')}"


NOTES: dict[str, Callable[[Json], str]] = {
    "stream_error": lambda body: one_line(body["message"]),
    "background_event": lambda body: one_line(body["message"]),
    "kept_yes_used": why_not_asked,
    "agent_session": _session,
    "agent_title": lambda body: f"about: {one_line(body['title'])}" if body["title"] else "about: nothing any more",
    "compacted": lambda body: f"summed up: events {body['first_seq']} to {body['last_seq']}{_room(body)}",
    "job_ended": job_end,
    "input_withdrawn": lambda body: (
        f"a waiting message was withdrawn{actor_clause(body)}{reason_clause(body['reason'])}"
    ),
    "input_edited": lambda body: f"a waiting message was changed{actor_clause(body)}: {words_of(body)}",
    "input_moved": lambda body: f"a waiting message was moved{actor_clause(body)}",
    "queue_paused": lambda body: f"{waits(body['queued'], body.get('waiting', ()))} {HELD_HINT}",
    "conversation_restarted": lambda body: f"restarted{actor_clause(body)}",
    "conversation_renamed": lambda body: (
        (f"renamed to {visible(body['name'])}" if body["name"] else "name removed") + actor_clause(body)
    ),
    "conversation_archived": lambda body: "archived" if body["archived"] else "unarchived",
}
YELLOW = {"stream_error", "queue_paused"}
