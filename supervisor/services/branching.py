"""Conversations that begin with a history from elsewhere: a fork of one of ours, or imported lines.

Blocking: reads the journal. Both are replayed before they are stored, which gives the head that a restart needs.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError
from pydantic_core import to_json

from actors.conversation import State, head_of, restore
from actors.conversation.applying import apply
from actors.vocabulary import events as ev
from actors.vocabulary.errors import InvalidInput, UnknownConversation, WrongState
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.ports import Journal
from actors.vocabulary.records import Head, Record
from actors.vocabulary.setting_changes import changes
from actors.vocabulary.settings import Settings
from actors.vocabulary.visible import hidden_in
from supervisor.agent.pins import pins_of
from supervisor.journal.export import Arriving, arriving
from supervisor.services.uploads import SpooledRecords

PAGE = 1024


# --- a fork ---------------------------------------------------------------------------------------------------------


class OtherSettings(Struct, frozen=True):
    """The way from the settings of the source to those of the copy, and the client that wants them."""

    of: Callable[[Settings], Settings]
    by: str


class ForkedConversation(Struct, frozen=True):
    """A copy that can be stored: events from 1 on, and the row that follows from them."""

    head: Head
    records: tuple[Record, ...]


def forked(
    journal: Journal,
    source: ConversationId,
    fork: ConversationId,
    at: int | None,
    name: str | None,
    other: OtherSettings | None = None,
) -> ForkedConversation:
    """Make the copy. Inputs that wait in the source do not wait in the copy."""
    records = _history(journal, source, at)
    first = ev.durable_adapter.validate_json(records[0].body)
    if not isinstance(first, ev.SessionConfigured):
        raise WrongState(f"the beginning of {source} was pruned; it can't be forked")
    last = records[-1].seq
    origin = first.model_copy(update={"session_id": fork, "name": name, "forked_from": f"{source}@{last}"})
    copied = (replace(records[0], body=origin.model_dump_json().encode()), *records[1:])
    state = restore(fork, None, copied)
    if state.facts.turn is not None:
        if at is None:
            raise WrongState(f"a turn runs in {source}: wait for its end, or interrupt it, and fork then")
        raise WrongState(f"event {last} lies inside a turn; fork before or after it")
    added = _continued(copied, (*_as_new(state, name), *_settled(state, other)))
    return ForkedConversation(head_of(restore(fork, None, copied + added)), copied + added)


def _as_new(state: State, name: str | None) -> Iterable[ev.DurableEvent]:
    """Events that revoke what the copied history says and the copy does not have: queue, pause, name."""
    facts = state.facts
    for waiting in facts.pending:
        yield ev.InputWithdrawn(input_id=waiting.id, reason="it waits in the conversation that this one is a copy of")
    if facts.paused:
        yield ev.QueueResumed(queued=0)
    if facts.name != name:
        yield ev.ConversationRenamed(name=name)
    if facts.archived:
        yield ev.ConversationArchived(archived=False)


def _settled(state: State, other: OtherSettings | None) -> Iterable[ev.DurableEvent]:
    """Pin the roots anew: the person who forks means the directories that exist now."""
    before = state.facts.settings
    settings = other.of(before.model_copy(update={"roots": None})) if other else before
    if before.roots or settings.roots:
        settings = settings.model_copy(update={"roots": pins_of(settings.sandbox, settings.cwd, None)})
    if settings != before:
        changed = tuple(changes(before, settings))
        yield ev.SettingsChanged(settings=settings, by=other.by if other else "", changed=changed)


def _continued(records: Sequence[Record], events: Iterable[ev.DurableEvent]) -> tuple[Record, ...]:
    last = records[-1]
    return tuple(
        Record(last.seq + number, last.ts, None, event.type, event.model_dump_json().encode())
        for number, event in enumerate(events, 1)
    )


def _history(journal: Journal, source: ConversationId, at: int | None) -> tuple[Record, ...]:
    records: list[Record] = []
    while page := journal.read(source, records[-1].seq if records else 0, PAGE):
        records.extend(page.records)
        if page.complete or (at is not None and records[-1].seq >= at):
            break
    if not records:
        raise UnknownConversation(f"no conversation {source}")
    if at is not None and at > records[-1].seq:
        raise InvalidInput(f"the last event of {source} is {records[-1].seq}, before {at}", last_seq=records[-1].seq)
    return tuple(record for record in records if at is None or record.seq <= at)


# --- an import ------------------------------------------------------------------------------------------------------


def guest(
    lines: Iterable[str | bytes], new_id: ConversationId | None, kept: list[Record] | SpooledRecords
) -> Arriving:
    """Read the lines event by event, replay them, and keep them; the journal checks that they are complete.

    The head is derived from the events: that in the lines is not trusted.
    """
    read = arriving(lines, new_id)
    conversation = read.head.conversation
    if hidden := hidden_in(conversation):
        raise InvalidInput(f"nobody can see the {hidden} in the conversation's id; import it under a new id")
    state, last = _beginning(read), None
    for number, record in enumerate(read.records, 2):
        last = _moved(record, conversation, read.head.last_seq)
        event = _known(number, last)
        if number == 2 and read.first_seq == 1 and last.type != "session_configured":
            raise InvalidInput("line 2: a history begins with session_configured", line=2)
        _follow(state, last, event)
        del event  # before the record is written and the next is read
        kept.append(last)
    end = last.seq if last else 0
    if last is None or end != read.head.last_seq:
        raise InvalidInput(f"the events end at {end}, the head says {read.head.last_seq}", last_seq=end)
    if new_id is not None:
        if state.facts.turn is not None:
            raise WrongState("a turn is open in it, and its questions are asked under the old id")
        events = tuple(_as_new(state, None))
        for record, event in zip(_continued((last,), events), events, strict=True):
            _follow(state, record, event)
            kept.append(record)
    return Arriving(head_of(state), read.first_seq, kept)


def _beginning(read: Arriving) -> State:
    """The state before the first of the lines: empty, or the checkpoint if older events were pruned."""
    conversation = read.head.conversation
    if read.first_seq == 1:
        return restore(conversation, None, ())
    try:
        state = restore(conversation, read.head, ())
    except ValueError as error:  # pydantic's is one too
        raise InvalidInput("line 1: head.checkpoint is none", line=1) from error
    settings = state.facts.settings.model_copy(update={"roots": None})
    facts = dataclasses.replace(state.facts, conversation=conversation, settings=settings)
    if state.facts.conversation != conversation:  # sessions of agents stay with the original
        facts = dataclasses.replace(facts, agents=(), copied=read.head.last_seq)
    state.facts = facts
    return state


def _follow(state: State, record: Record, event: ev.DurableEvent) -> None:
    if record.seq > state.facts.seq:
        state.facts = apply(state.facts, event, record.ts, record.turn)


def _moved(record: Record, conversation: ConversationId, last: int) -> Record:
    """The event in this conversation, and without pinned roots: those of another machine say nothing of this one.

    Under a new id it is a copy.
    """
    if record.type != "session_configured" and b'"roots"' not in record.body:
        return record
    body = json.loads(record.body)
    if isinstance(settings := body.get("settings"), dict) and settings.get("roots"):
        settings["roots"] = None
    if record.type == "session_configured":
        if (before := body.get("session_id")) != conversation:
            body["forked_from"] = f"{before}@{last}"
        body["session_id"] = conversation
    return replace(record, body=to_json(body))


def _known(number: int, record: Record) -> ev.DurableEvent:
    try:
        return ev.durable_adapter.validate_json(record.body)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"line {number}: body.{place}: {first['msg']}", line=number) from None
