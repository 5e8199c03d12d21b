"""Conversations that begin with a history from elsewhere: a fork of one of ours, or imported lines.

Blocking: reads the journal. Both are replayed before they are stored, which gives the head that a restart needs.
"""

import base64
import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import asdict, replace
from pydantic import ValidationError
from pydantic_core import to_json

from actors.conversation import State, head_of, restore
from actors.conversation.facts import apply
from actors.vocabulary import events as ev
from actors.vocabulary.errors import InvalidInput, UnknownConversation, WrongState
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.ports import Journal
from actors.vocabulary.records import Head, Record
from actors.vocabulary.visible import hidden_in
from supervisor.agent.pins import pins_of
from supervisor.journal.export import Arriving, ExportedEvent, ExportedHead, Header, Keep, arriving
from supervisor.journal.export import head_of as stored_head

PAGE = 1024


# --- a fork ---------------------------------------------------------------------------------------------------------


class ForkedConversation(Struct, frozen=True):
    """A copy that can be stored: events from 1 on, and the row that follows from them."""

    head: Head
    records: tuple[Record, ...]


def forked(
    journal: Journal, source: ConversationId, fork: ConversationId, at: int | None, name: str | None
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
        raise WrongState(f"event {last} lies inside a turn; fork before or after it")
    added = _continued(copied, (*_as_new(state, name), *_looked_at_again(state)))
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


def _looked_at_again(state: State) -> Iterable[ev.DurableEvent]:
    """Pin the roots anew: the person who forks means the directories that exist now."""
    settings = state.facts.settings
    if settings.roots:
        roots = pins_of(settings.sandbox, settings.cwd, None)
        if roots != settings.roots:
            yield ev.SettingsChanged(settings=settings.model_copy(update={"roots": roots}))


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


Lines = Iterable[str | bytes]  # that can be gone through more than once, and need not fit into memory


class Guest(Struct, frozen=True):
    """Lines whose events may be imported; the journal checks that they are complete."""

    lines: Lines
    conversation: ConversationId | None = None
    name: str | None = None


class Retold(Struct, frozen=True):
    """Our header, the events of the given lines under their new id, and added events. Made anew for each pass."""

    header: Header
    lines: Lines
    conversation: ConversationId
    added: tuple[Record, ...]

    def __iter__(self) -> Iterator[str]:
        yield self.header.model_dump_json()
        yield from map(_line, self.records())

    def records(self) -> Iterator[Record]:
        for number, line in enumerate(islice(self.lines, 1, None), 2):
            yield _record(number, ExportedEvent.model_validate_json(line), self.conversation)
        yield from self.added


def guest(lines: Lines, new_id: ConversationId | None) -> Guest:
    """The same events under a head that is derived from them, as the head in the lines cannot be trusted.

    Lines of another form are returned unchanged: the journal refuses them with the right message.
    """
    try:
        return _guest(lines, new_id)
    except ValidationError:
        return Guest(lines)


def _guest(lines: Lines, new_id: ConversationId | None) -> Guest:
    """Read the lines event by event. ValidationError: the lines have another form."""
    numbered = enumerate(lines, 1)
    header = Header.model_validate_json(next(numbered, (1, ""))[1])
    conversation = new_id or ConversationId(header.head.conversation)
    if hidden := hidden_in(conversation):
        raise InvalidInput(f"nobody can see the {hidden} in the conversation's id; import it under a new id")
    state, last = _beginning(header, conversation), None
    for number, line in numbered:
        last = _record(number, ExportedEvent.model_validate_json(line), conversation)
        event = _known(number, last)
        if number == 2 and header.first_seq == 1 and last.type != "session_configured":
            raise InvalidInput("line 2: a history begins with session_configured", line=2)
        _follow(state, last, event)
        del event  # before the next is read
    end = last.seq if last else 0
    if last is None or end != header.head.last_seq:
        raise InvalidInput(f"the events end at {end}, the head says {header.head.last_seq}", last_seq=end)
    added: tuple[Record, ...] = ()
    if new_id is not None:
        if state.facts.turn is not None:
            raise WrongState("a turn is open in it, and its questions are asked under the old id")
        events = tuple(_as_new(state, None))
        added = _continued((last,), events)
        for record, event in zip(added, events, strict=True):
            _follow(state, record, event)
    first = Header(greenroom_export=1, first_seq=header.first_seq, head=_exported(head_of(state)))
    return Guest(Retold(first, lines, conversation, added), conversation, state.facts.name)


def taken_in(brought: Guest, new_id: ConversationId | None, keep: Keep = tuple) -> Arriving:
    """The conversation to store; raises if the lines are none. `keep` holds the records until then."""
    match brought.lines:
        case Retold(header) as retold:
            return Arriving(stored_head(header.head), header.first_seq, keep(retold.records()))
        case lines:
            return arriving(lines, new_id, keep)


def _beginning(header: Header, conversation: ConversationId) -> State:
    """The state before the first of the lines: empty, or the checkpoint if older events were pruned."""
    if header.first_seq == 1:
        return restore(conversation, None, ())
    try:
        fields = header.head.model_dump()
        binary = {name: base64.b64decode(fields[name], validate=True) for name in ("settings", "checkpoint")}
        state = restore(conversation, Head(**{**fields, **binary}), ())
    except ValueError as error:  # pydantic's is one too
        raise InvalidInput("line 1: head.checkpoint is none", line=1) from error
    settings = state.facts.settings.model_copy(update={"roots": None})
    state.facts = dataclasses.replace(state.facts, conversation=conversation, settings=settings)
    return state


def _follow(state: State, record: Record, event: ev.DurableEvent) -> None:
    if record.seq > state.facts.seq:
        state.facts = apply(state.facts, event, record.ts, record.turn)


def _record(number: int, event: ExportedEvent, conversation: ConversationId) -> Record:
    """Check an event. It may be large, so it is held twice only while its copy is made."""
    body, type_ = event.body, event.body.get("type")
    if type_ != event.type:
        raise InvalidInput(f"line {number}: type is {event.type}, the body says {type_}", line=number)
    settings = body.get("settings")
    if isinstance(settings, dict) and settings.get("roots"):  # those of another machine say nothing of this one
        body = {**body, "settings": {**settings, "roots": None}}
    if type_ == "session_configured":
        body = {**body, "session_id": conversation}
    turn = None if event.turn is None else TurnId(event.turn)
    return Record(event.seq, event.ts, turn, event.type, to_json(body))


def _known(number: int, record: Record) -> ev.DurableEvent:
    try:
        return ev.durable_adapter.validate_json(record.body)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"line {number}: body.{place}: {first['msg']}", line=number) from None


def _exported(head: Head) -> ExportedHead:
    fields = asdict(head)
    binary = {name: base64.b64encode(fields[name]).decode() for name in ("settings", "checkpoint")}
    return ExportedHead.model_validate({**fields, **binary})


def _line(record: Record) -> str:
    fields = {**asdict(record), "body": json.loads(record.body)}
    del fields["stored_bytes"]
    return json.dumps(fields, ensure_ascii=False)
