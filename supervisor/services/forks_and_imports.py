"""Conversations that begin with the history of another: forks, and imported lines.

Blocking: reads the journal. Both are replayed before they are stored, which gives the head that a restart needs.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from actors.conversation import State, head_of, restore
from actors.conversation.applying import apply
from actors.conversation.facts import Facts
from actors.messages.ports import Journal
from actors.vocabulary import events as ev
from actors.vocabulary.errors import InvalidInput, UnknownConversation, WrongState
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.naming import refused_name
from actors.vocabulary.records import Head, Record
from actors.vocabulary.setting_changes import changes
from actors.vocabulary.settings import Settings
from supervisor.disk.pins import pins_of
from supervisor.journal.export import ImportedHistory, read_import
from supervisor.services.history_files import SpooledRecords
from supervisor.services.imported_events import imported_event, imported_facts, settings_in, withdrawing_events

PAGE = 1024
NAME_LENGTH = 200  # as for names that clients give
PLAIN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")  # no path, no option, no reference such as @last


# --- a fork ---------------------------------------------------------------------------------------------------------


class SettingsOfCopy(Struct, frozen=True):
    """The function from the settings of the source to those of the copy, and the client that asks for it."""

    convert: Callable[[Settings], Settings]
    client: str


class ForkedConversation(Struct, frozen=True):
    """A copy that can be stored: its events from 1 on, and the head that follows from them."""

    head: Head
    records: tuple[Record, ...]


def make_fork(
    journal: Journal,
    source: ConversationId,
    fork: ConversationId,
    at: int | None,
    name: str | None,
    other: SettingsOfCopy | None = None,
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
    added = _records_after(
        copied, (*_queue_events(state.facts), *_name_events(state.facts, name), *_settings_events(state, other))
    )
    return ForkedConversation(head_of(restore(fork, None, copied + added)), copied + added)


def _queue_events(facts: Facts) -> Iterable[ev.DurableEvent]:
    """Events that empty the queue of the copied history."""
    for waiting in facts.pending:
        yield ev.InputWithdrawn(input_id=waiting.id, reason="it waits in the conversation that this one is a copy of")
    if facts.paused:
        yield ev.QueueResumed(queued=0)


def _name_events(facts: Facts, name: str | None) -> Iterable[ev.DurableEvent]:
    """Events that give the copied history another name, and take it out of the archive."""
    if facts.name != name:
        yield ev.ConversationRenamed(name=name)
    if facts.archived:
        yield ev.ConversationArchived(archived=False)


def _settings_events(state: State, other: SettingsOfCopy | None) -> Iterable[ev.DurableEvent]:
    """Events for the copy's settings. Roots are pinned anew: the person means the directories that exist now."""
    before = state.facts.settings
    settings = other.convert(before.model_copy(update={"roots": None})) if other else before
    if before.roots or settings.roots:
        settings = settings.model_copy(update={"roots": pins_of(settings.sandbox, settings.cwd, None)})
    if settings != before:
        changed = tuple(changes(before, settings))
        yield ev.SettingsChanged(settings=settings, by=other.client if other else "", changed=changed)


def _records_after(records: Sequence[Record], events: Iterable[ev.DurableEvent]) -> tuple[Record, ...]:
    """The events as records that follow the last of these."""
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


class ReplayedImport(Struct, frozen=True):
    """An import that can be stored, and the settings that its file asked for, or None."""

    history: ImportedHistory
    file_settings: Settings | None


def replay_import(
    lines: Iterable[str | bytes],
    new_id: ConversationId | None,
    kept: list[Record] | SpooledRecords,
    settings: Settings,
    is_taken: Callable[[str], bool] = lambda _: False,
) -> ReplayedImport:
    """Read the lines event by event, replay them as a guest's, and append them to `kept`. The journal refuses gaps.

    `settings`: the person's today. The head is derived from the events: that in the lines is not trusted. A name that
    no person gave is dropped if it is taken here: the next message makes another.
    """
    read = read_import(lines, new_id)
    conversation = read.head.conversation
    if not PLAIN_ID.fullmatch(conversation):
        raise InvalidInput("the conversation's id is none that Greenroom gives; import it under a new id")
    state, asked = _beginning(read, settings)
    last: Record | None = None
    for number, record in enumerate(read.records, 2):
        theirs = _parse_event(number, record)
        if number == 2 and read.first_seq == 1 and record.type != "session_configured":
            raise InvalidInput("line 2: a history begins with session_configured", line=2)
        asked = settings_in(theirs) or asked
        event = imported_event(theirs, conversation, read.head.last_seq, settings)
        last = record if event is theirs else replace(record, body=event.model_dump_json().encode())
        _follow(state, last, event)
        del theirs, event  # before the record is written and the next is read
        kept.append(last)
    end = last.seq if last else 0
    if last is None or end != read.head.last_seq:
        raise InvalidInput(f"the events end at {end}, the head says {read.head.last_seq}", last_seq=end)
    if new_id is not None and state.facts.turn is not None:
        raise WrongState("a turn is open in it, and its questions are asked under the old id")
    if min(vars(state.facts.spent).values()) < 0:
        raise InvalidInput("the file's events count less than nothing, so no budget holds; nothing was imported")
    if new_id is None and state.facts.name and not _can_be_typed(state.facts.name):
        raise InvalidInput("nobody can type the conversation's name; import it under a new id")
    events = (*withdrawing_events(state.facts), *(_name_events(state.facts, None) if new_id is not None else ()))
    if new_id is None and state.facts.self_named and is_taken(state.facts.name or ""):
        events = (*events, ev.ConversationRenamed(name=None))
    for record, event in zip(_records_after((last,), events), events, strict=True):
        _follow(state, record, event)
        kept.append(record)
    return ReplayedImport(ImportedHistory(head_of(state), read.first_seq, kept), asked)


def _can_be_typed(name: str) -> bool:
    """Whether a name can be seen, and typed on a command line."""
    return refused_name(name) is None and len(name) <= NAME_LENGTH and not name.startswith(("@", "-"))


def _beginning(read: ImportedHistory, settings: Settings) -> tuple[State, Settings | None]:
    """The state before the first line, and the settings that the file has there.

    The state is empty, or that of the checkpoint if older events were pruned.
    """
    conversation = read.head.conversation
    if read.first_seq == 1:
        return restore(conversation, None, ()), None
    try:
        state = restore(conversation, read.head, ())
    except ValueError as error:  # pydantic's is one too
        raise InvalidInput("line 1: head.checkpoint is none", line=1) from error
    asked = state.facts.settings
    state.facts = imported_facts(state.facts, conversation, read.head.last_seq, settings)
    return state, asked


def _follow(state: State, record: Record, event: ev.DurableEvent) -> None:
    if record.seq > state.facts.seq:
        state.facts = apply(state.facts, event, record.ts, record.turn)


def _parse_event(number: int, record: Record) -> ev.DurableEvent:
    try:
        return ev.durable_adapter.validate_json(record.body)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"line {number}: body.{place}: {first['msg']}", line=number) from None
