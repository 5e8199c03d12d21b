"""Between a conversation and its row: the checkpoint that is written, and the state that is read back."""

from dataclasses import replace
from functools import cache

from pydantic import TypeAdapter

from actors.conversation.agent_descriptions import model_now, title_or_preview
from actors.conversation.applying import apply
from actors.conversation.facts import Facts, KeptYes, empty_facts
from actors.conversation.state import KeptTail, Limits, SettingsJson, State, Subscriber
from actors.conversation.stored_tails import restored_tails
from actors.conversation.summary import condition
from actors.conversation.waiting_line import defer_steering
from actors.messages.effects import ReaderState, ReplyTo, Survivors
from actors.vocabulary.events import durable_adapter
from actors.vocabulary.ids import ApprovalId, Caller, ConversationId, SubscriptionId
from actors.vocabulary.records import Head, KeptText, Record

SETTINGS = {"settings"}


@cache
def checkpoint_adapter() -> TypeAdapter[Facts]:
    """The adapter for checkpoints, built at the first use: an idle daemon needs none."""
    return TypeAdapter(Facts)


def head_of(state: State) -> Head:
    facts, settings = state.facts, _settings_in(state)
    return Head(
        conversation=facts.conversation,
        name=facts.name,
        cwd=str(facts.settings.cwd),
        model=model_now(facts),
        state=condition(state),
        preview=title_or_preview(facts),
        settings=settings,
        checkpoint=b'{"settings":%b,%b' % (settings, checkpoint_adapter().dump_json(facts, exclude=SETTINGS)[1:]),
        checkpoint_seq=facts.seq,
        created=facts.created,
        updated=facts.updated,
        last_seq=facts.seq,
        generation=0,
        archived=facts.archived,
        tokens=facts.tokens,
        context_tokens=facts.context_tokens,
        context_window=facts.context_window,
        usd=facts.spent.usd,
        unpriced=facts.spent.unpriced,
        queued=len(facts.pending),
        agent=facts.settings.agent,
        uncounted=facts.spent.uncounted,
        ended=facts.ended,
        self_named=facts.self_named,
    )


def _settings_in(state: State) -> bytes:
    """The settings in JSON, kept while they are the same: each turn has several checkpoints."""
    settings, kept = state.facts.settings, state.settings_json
    if kept is None or kept.settings is not settings:
        kept = state.settings_json = SettingsJson(settings, settings.model_dump_json().encode())
    return kept.json


def restore(
    conversation: ConversationId,
    head: Head | None,
    records: tuple[Record, ...],
    limits: Limits | None = None,
    kept: tuple[KeptText, ...] = (),
) -> State:
    """The state that the journal holds: the checkpoint, every event after it, and the text that was not finished."""
    facts = _upgrade(checkpoint_adapter().validate_json(head.checkpoint)) if head else empty_facts(conversation)
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
        tails=restored_tails(kept, facts.seq) if facts.turn is not None else (),
        kept={(text.tail, text.since): KeptTail(text.end) for text in kept},
        keeps=bool(kept),
        limits=limits or Limits(),
    )


def _upgrade(facts: Facts) -> Facts:
    """Upgrade the facts of a checkpoint that an earlier version may have written.

    An early version counted tokens and no costs. A later one had steering input in paused queues, and paused queues
    in which nothing waited. Another kept a yes without its question.
    """
    if facts.tokens != facts.spent.tokens:
        facts = replace(facts, spent=replace(facts.spent, tokens=facts.tokens, unpriced=1))
    if facts.paused and facts.turn is None:
        facts = replace(facts, pending=defer_steering(facts.pending))
    if facts.standing:
        older = (KeptYes(standing, ApprovalId("")) for standing in facts.standing)
        facts = replace(facts, standing=(), kept=(*older, *facts.kept))
    return replace(facts, paused=facts.paused and bool(facts.queue))


def survivors_of(state: State) -> Survivors:
    """The survivors of a failed session: its readers with their cursors, and the callers that wait for an answer."""
    held = tuple(waiting.effect.caller for waiting in state.held if isinstance(waiting.effect, ReplyTo))
    waiting = tuple(claim.caller for claim in state.claims if claim.awaiting)
    callers: dict[Caller, None] = dict.fromkeys((*held, *waiting, *state.interrupts))
    readers = tuple(
        ReaderState(
            reader.id, reader.connection, reader.seq, reader.in_flight and not reader.paging, reader.read_only
        )
        for reader in state.subscribers.values()
    )
    passes = tuple((approval, passed.by) for approval, passed in state.passes.items())
    return Survivors(readers, tuple(callers), passes)


def adopt_readers(state: State, survivors: Survivors) -> dict[SubscriptionId, Subscriber]:
    """The readers of the failed session, with their cursors. The unfinished text that they saw is gone."""
    return {
        reader.subscription: Subscriber(
            reader.subscription,
            reader.connection,
            min(reader.seq, state.facts.seq),
            in_flight=reader.in_flight,
            read_only=reader.read_only,
        )
        for reader in survivors.readers
    }
