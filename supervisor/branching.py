"""A new conversation with the history of another, up to a point between two turns. Blocking: reads the journal."""

from actors.conversation import head_of, restore
from actors.errors import InvalidInput, UnknownConversation, WrongState
from actors.events import SessionConfigured, durable_adapter
from actors.ids import ConversationId
from actors.ports import Append, Journal, Record

PAGE = 1024


def forked(
    journal: Journal, source: ConversationId, fork: ConversationId, at: int | None, name: str | None
) -> Append:
    """What is to be stored. Nothing that was still waiting there is waiting here."""
    records = _history(journal, source, at)
    first = durable_adapter.validate_json(records[0].body)
    if not isinstance(first, SessionConfigured):
        raise WrongState(f"the beginning of {source} was pruned; it can't be forked")
    last = records[-1].seq
    origin = first.model_copy(update={"session_id": fork, "name": name, "forked_from": f"{source}@{last}"})
    copied = (_replaced(records[0], origin.model_dump_json().encode()), *records[1:])
    state = restore(fork, None, copied)
    if state.facts.turn is not None:
        raise WrongState(f"event {last} lies inside a turn; fork before or after it")
    return Append(fork, copied, head_of(state), durable=True)


def _history(journal: Journal, source: ConversationId, at: int | None) -> tuple[Record, ...]:
    records: list[Record] = []
    while page := journal.read(source, records[-1].seq if records else 0, PAGE):
        records.extend(page.records)
        if page.complete or (at is not None and records[-1].seq >= at):
            break
    if not records:
        raise UnknownConversation(f"no conversation {source}")
    if at is not None and at > records[-1].seq:
        raise InvalidInput(f"{source} has {records[-1].seq} events, not {at}", last_seq=records[-1].seq)
    return tuple(record for record in records if at is None or record.seq <= at)


def _replaced(record: Record, body: bytes) -> Record:
    return Record(record.seq, record.ts, record.turn, record.type, body)
