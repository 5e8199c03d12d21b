"""Between a conversation and its row: the checkpoint that is written, and the state that is read back."""

from functools import cache

from pydantic import TypeAdapter

from actors.conversation.effects import ReaderState, ReplyTo, Survivors
from actors.conversation.facts import Facts, apply, unborn
from actors.conversation.state import Limits, State, Subscriber
from actors.conversation.summary import condition
from actors.vocabulary.events import durable_adapter
from actors.vocabulary.ids import Caller, ConversationId, SubscriptionId
from actors.vocabulary.records import Head, Record


@cache
def _checkpoint() -> TypeAdapter[Facts]:
    """Built at the first use: an idle daemon needs none."""
    return TypeAdapter(Facts)


def head_of(state: State) -> Head:
    facts = state.facts
    return Head(
        conversation=facts.conversation,
        name=facts.name,
        cwd=str(facts.settings.cwd),
        model=facts.settings.model,
        state=condition(state).value,
        preview=facts.preview,
        settings=facts.settings.model_dump_json().encode(),
        checkpoint=_checkpoint().dump_json(facts),
        checkpoint_seq=facts.seq,
        created=facts.created,
        updated=facts.updated,
        last_seq=facts.seq,
        generation=0,
        archived=facts.archived,
        tokens=facts.tokens,
    )


def restore(
    conversation: ConversationId, head: Head | None, records: tuple[Record, ...], limits: Limits | None = None
) -> State:
    """The state that the journal holds: the checkpoint, and every event after it."""
    facts = _checkpoint().validate_json(head.checkpoint) if head else unborn(conversation)
    checkpoint, unchecked = facts.seq, 0
    for record in records:
        if record.seq > facts.seq:
            facts = apply(facts, durable_adapter.validate_json(record.body), record.ts, record.turn)
            unchecked += len(record.body)
    return State(
        facts=facts,
        committed=facts.seq,
        durable=facts,
        checkpoint=checkpoint,
        unchecked=unchecked,
        limits=limits or Limits(),
    )


def survivors_of(state: State) -> Survivors:
    """The debts of a failed session: its readers keep their cursors, its callers are owed an answer."""
    held = tuple(one.effect.caller for one in state.held if isinstance(one.effect, ReplyTo))
    waiting = tuple(claim.caller for claim in state.claims if claim.awaiting)
    callers: dict[Caller, None] = dict.fromkeys((*held, *waiting, *state.interrupts))
    readers = tuple(
        ReaderState(one.id, one.connection, one.seq, one.in_flight and not one.paging, one.read_only)
        for one in state.subscribers.values()
    )
    passes = tuple((approval, one.by) for approval, one in state.passes.items())
    return Survivors(readers, tuple(callers), passes)


def adopted(state: State, survivors: Survivors) -> dict[SubscriptionId, Subscriber]:
    """The readers of the last life, with their cursors. The unfinished tails that they saw are gone."""
    return {
        one.subscription: Subscriber(
            one.subscription,
            one.connection,
            min(one.seq, state.facts.seq),
            in_flight=one.in_flight,
            read_only=one.read_only,
        )
        for one in survivors.readers
    }
