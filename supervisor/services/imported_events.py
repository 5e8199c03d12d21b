"""An import as a guest: a history from a file, run with the person's settings of today. Pure.

Nothing in a file decides how a conversation is run here. Its settings are replaced wherever they stand, so that no
fork of an earlier place brings them back; permissions for the whole conversation are taken back; sessions of agents,
files of another machine, waiting inputs and open approvals are not taken over. Words are.
"""

import dataclasses
from collections.abc import Iterable

from actors.conversation.facts import Facts, TurnFacts, empty_facts
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.items import InputItem, LocalImageItem, TextItem
from actors.vocabulary.setting_changes import model_of
from actors.vocabulary.settings import AbortReason, Decision, Settings

# The facts that are kept of a conversation whose beginning was pruned: none that decides how it is run.
FACTS = (
    *("seq", "created", "updated", "earlier", "name", "title", "preview", "archived", "failed", "stumbled"),
    *("tokens", "context_tokens", "context_window", "compacted", "unsummed", "spent", "keys", "answered"),
    *("pending", "paused", "jobs", "agents_told", "ended", "self_named", "nameless"),
)
OF_THE_OPEN_TURN = ("id", "inputs", "items", "calls", "approvals", "spent", "working_since", "denied")


def imported_event(
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
    """Return the item, or a text in place of a picture in a file: its path belongs to another machine."""
    if not isinstance(item, LocalImageItem):
        return item
    return TextItem(text=f"[a picture that was in the file {str(item.path)!a}]")


def imported_facts(facts: Facts, conversation: ConversationId, last: int, settings: Settings) -> Facts:
    """Return the facts of a conversation whose first events are not in the file. `last`: the last event in it."""
    kept = {name: getattr(facts, name) for name in FACTS}
    turn = facts.turn and TurnFacts(settings=None, **{name: getattr(facts.turn, name) for name in OF_THE_OPEN_TURN})
    return dataclasses.replace(empty_facts(conversation), settings=settings, copied=last, turn=turn, **kept)


def settings_in(event: ev.DurableEvent) -> Settings | None:
    """Return the settings that the file has from this event on, if the event changes them."""
    return event.settings if isinstance(event, ev.SessionConfigured | ev.SettingsChanged) else None


def withdrawing_events(facts: Facts) -> Iterable[ev.DurableEvent]:
    """Yield the events that withdraw the file's waiting inputs and open approvals, which no person here has seen."""
    for asked in facts.open_questions:
        yield ev.ApprovalResolved(approval_id=asked.approval_id, decision=Decision.WITHDRAWN, reason=AbortReason.LOST)
    for waiting in facts.pending:
        yield ev.InputWithdrawn(input_id=waiting.id, reason="it waited in the file that was imported; say it again")
    if facts.paused:
        yield ev.QueueResumed(queued=0)
    for job in facts.jobs:
        yield ev.JobEnded(job=job.id, how="lost")
