"""An import as a guest: a history from a file, run as the person runs conversations today. Pure.

Nothing in a file says how a conversation is run here. The settings in it are replaced wherever they stand, so that no
fork of an earlier place brings them back; what was allowed for the whole conversation is allowed no more; sessions of
agents, files of another machine and what waits or is asked are not taken over. Words are.
"""

import dataclasses
from collections.abc import Iterable

from actors.conversation.facts import Facts, TurnFacts, unborn
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.items import InputItem, LocalImageItem, TextItem
from actors.vocabulary.setting_changes import model_of
from actors.vocabulary.settings import AbortReason, Decision, Settings

# What is known of a conversation whose beginning was pruned, as far as it says nothing of how it is run.
FACTS = (
    *("seq", "created", "updated", "earlier", "name", "title", "preview", "archived", "failed", "stumbled"),
    *("tokens", "context_tokens", "context_window", "compacted", "unsummed", "spent", "keys", "answered"),
    *("pending", "paused", "jobs", "agents_told", "ended", "self_named", "nameless"),
)
OF_THE_OPEN_TURN = ("id", "inputs", "items", "calls", "approvals", "spent", "working_since", "denied")


def guest_event(
    event: ev.DurableEvent, conversation: ConversationId, last: int, settings: Settings
) -> ev.DurableEvent:
    """Return the event as it is stored here: with these settings, and as a copy of the one in the file."""
    change: dict[str, object] = {}
    match event:
        case ev.SessionConfigured():
            change = {
                "session_id": conversation,
                "forked_from": f"{event.session_id}@{last}",  # sessions of agents stay with the original
                "model": model_of(settings) or settings.agent,
                "settings": settings,
            }
        case ev.SettingsChanged():
            change = {"settings": settings}
        case ev.ApprovalResolved(decision=Decision.APPROVED_FOR_SESSION):
            change = {"decision": Decision.APPROVED}
        case _ if getattr(event, "settings", None) is not None:
            change = {"settings": None}
    items: tuple[InputItem, ...] = getattr(event, "items", ())
    if any(isinstance(item, LocalImageItem) for item in items):
        change["items"] = tuple(map(_without_a_file, items))
    return event.model_copy(update=change) if change else event


def _without_a_file(item: InputItem) -> InputItem:
    """Return an item of a message; a picture in a file is one of the other machine, whatever lies there on this."""
    if not isinstance(item, LocalImageItem):
        return item
    return TextItem(text=f"[a picture that was in the file {str(item.path)!a}]")


def guest_facts(facts: Facts, conversation: ConversationId, last: int, settings: Settings) -> Facts:
    """Return what is known of a conversation whose first events are not in the file. `last` is the last that is."""
    kept = {name: getattr(facts, name) for name in FACTS}
    turn = facts.turn and TurnFacts(settings=None, **{name: getattr(facts.turn, name) for name in OF_THE_OPEN_TURN})
    return dataclasses.replace(unborn(conversation), settings=settings, copied=last, turn=turn, **kept)


def settings_in(event: ev.DurableEvent) -> Settings | None:
    """Return the settings that the file has from this event on, if the event says so."""
    return event.settings if isinstance(event, ev.SessionConfigured | ev.SettingsChanged) else None


def farewell(facts: Facts) -> Iterable[ev.DurableEvent]:
    """Yield the events that take back what waits and what is asked in the file: nobody here has said or seen it."""
    for asked in facts.asked:
        yield ev.ApprovalResolved(approval_id=asked.approval_id, decision=Decision.WITHDRAWN, reason=AbortReason.LOST)
    for waiting in facts.pending:
        yield ev.InputWithdrawn(input_id=waiting.id, reason="it waited in the file that was imported; say it again")
    if facts.paused:
        yield ev.QueueResumed(queued=0)
    for job in facts.jobs:
        yield ev.JobEnded(job=job.id, how="lost")
