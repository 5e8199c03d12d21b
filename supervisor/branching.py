"""Conversations that begin with a history from elsewhere: a fork of one of ours, or lines that somebody brings.

Blocking: reads the journal. Both are replayed before they are stored, so that what is to wake up later is known to.
"""

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from pydantic import ValidationError

from actors import events as ev
from actors.conversation import State, head_of, restore
from actors.errors import InvalidInput, NameTaken, UnknownConversation, WrongState
from actors.ids import ConversationId, TurnId
from actors.naming import refused_name
from actors.ports import Journal
from actors.records import Append, Head, Record
from actors.visible import hidden_in
from supervisor.agent.pins import pins_of
from supervisor.journal.export import ExportedEvent, ExportedHead, Header

PAGE = 1024


def check_name(journal: Journal, name: str | None, of: ConversationId | None = None) -> None:
    """On the journal's writing thread, where no other fork or import can take it meanwhile."""
    if (refusal := refused_name(name)) is not None:
        raise refusal
    if name is not None and any(head.name == name and head.conversation != of for head in journal.heads()):
        raise NameTaken(f"another conversation is called {name!r}")


# --- a fork ---------------------------------------------------------------------------------------------------------


def forked(
    journal: Journal, source: ConversationId, fork: ConversationId, at: int | None, name: str | None
) -> Append:
    """What is to be stored. Nothing that was still waiting there is waiting here."""
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
    return Append(fork, copied + added, head_of(restore(fork, None, copied + added)), durable=True)


def _as_new(state: State, name: str | None) -> Iterable[ev.DurableEvent]:
    """What the copied history says and is not to be true here."""
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
    """A person makes a fork, and means the directories that are there now."""
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


@dataclass(frozen=True, slots=True)
class Guest:
    """Lines that may be taken in as far as their events go; whether they are whole is for the journal to judge."""

    lines: tuple[str, ...]
    conversation: ConversationId | None = None
    name: str | None = None


def guest(lines: tuple[str, ...], new_id: ConversationId | None) -> Guest:
    """The same events under a head that was made of them: what the lines' own head says is a stranger's word.

    Lines of another form are handed on as they are, for the journal has the words to refuse them.
    """
    try:
        header = Header.model_validate_json(lines[0] if lines else "")
        events = [ExportedEvent.model_validate_json(line) for line in lines[1:]]
    except ValidationError:
        return Guest(lines)
    last = events[-1].seq if events else 0
    if not events or last != header.head.last_seq:
        raise InvalidInput(f"the events end at {last}, the head says {header.head.last_seq}", last_seq=last)
    conversation = new_id or ConversationId(header.head.conversation)
    if hidden := hidden_in(conversation):
        raise InvalidInput(f"nobody can see the {hidden} in the conversation's id; import it under a new id")
    records = tuple(_record(number, event, conversation) for number, event in enumerate(events, 2))
    state = _replayed(header, conversation, records)
    if new_id is not None:
        if state.facts.turn is not None:
            raise WrongState("a turn is open in it, and its questions are asked under the old id")
        added = _continued(records, _as_new(state, None))
        records, state = records + added, _replayed(header, conversation, records + added)
    head = _exported(head_of(state))
    first = Header(greenroom_export=1, first_seq=header.first_seq, head=head).model_dump_json()
    return Guest((first, *map(_line, records)), conversation, state.facts.name)


def _record(number: int, event: ExportedEvent, conversation: ConversationId) -> Record:
    try:
        known = ev.durable_adapter.validate_json(json.dumps(event.body))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"line {number}: body.{place}: {first['msg']}", line=number) from None
    body = event.body
    if isinstance(body.get("settings"), dict) and body["settings"].get(
        "roots"
    ):  # which directories they were on that machine says nothing of this one
        body = {**body, "settings": {**body["settings"], "roots": None}}
    if isinstance(known, ev.SessionConfigured):
        body = {**body, "session_id": conversation}
    turn = None if event.turn is None else TurnId(event.turn)
    return Record(event.seq, event.ts, turn, event.type, json.dumps(body, ensure_ascii=False).encode())


def _replayed(header: Header, conversation: ConversationId, records: tuple[Record, ...]) -> State:
    """From the first event if it is there, else from the checkpoint that was made before the others were pruned."""
    if header.first_seq == 1:
        if records[0].type != "session_configured":
            raise InvalidInput("line 2: a history begins with session_configured", line=2)
        return restore(conversation, None, records)
    try:
        fields = header.head.model_dump()
        binary = {name: base64.b64decode(fields[name], validate=True) for name in ("settings", "checkpoint")}
        state = restore(conversation, Head(**{**fields, **binary}), records)
    except ValueError as error:  # pydantic's is one too
        raise InvalidInput("line 1: head.checkpoint is none", line=1) from error
    settings = state.facts.settings.model_copy(update={"roots": None})
    state.facts = replace(state.facts, conversation=conversation, settings=settings)
    return state


def _exported(head: Head) -> ExportedHead:
    fields = asdict(head)
    binary = {name: base64.b64encode(fields[name]).decode() for name in ("settings", "checkpoint")}
    return ExportedHead.model_validate({**fields, **binary})


def _line(record: Record) -> str:
    return json.dumps({**asdict(record), "body": json.loads(record.body)}, ensure_ascii=False)
