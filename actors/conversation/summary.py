"""A conversation in one word and in one row."""

from collections.abc import Mapping

from actors.conversation.agent_descriptions import agent_now, title_or_preview
from actors.conversation.facts import Facts
from actors.conversation.state import Run, Stage, State
from actors.messages.orders import PendingInput
from actors.vocabulary.answers import Condition, LastEnding, ReaderStatus, Summary, WaitingInput
from actors.vocabulary.spent_amounts import NOTHING


def condition(state: State) -> Condition:
    """The condition after everything that was decided, on disk or not."""
    return _condition_of(state.facts, state.run)


def visible(state: State) -> Condition:
    """The condition as of the events on disk: a client that hears of a question, and looks, finds it."""
    return _condition_of(state.durable or state.facts, state.run)


# Endings that need a person, until the next message. An interrupted turn had one.
OF_ENDING: Mapping[LastEnding | None, Condition] = {
    "error": Condition.FAILED,
    "failed": Condition.FAILED,
    "denied": Condition.DENIED,
    "lost": Condition.LOST,
    "budget": Condition.OVER_BUDGET,
}


def _condition_of(facts: Facts, run: Run | None) -> Condition:
    match run, facts.turn:
        case _, _ if facts.failed is not None:
            return Condition.FAILED
        case None, None:
            return Condition.ARCHIVED if facts.archived else OF_ENDING.get(facts.ended, Condition.IDLE)
        case _ if run is not None and run.stage is Stage.STOPPING:
            return Condition.INTERRUPTING
        case _, turn if turn is not None and turn.only_waits:
            return Condition.WAITING
        case _ if run is not None and run.stage is Stage.HELD:
            return Condition.STARTING
        case _:
            return Condition.RUNNING


def describe_waiting(pending: tuple[PendingInput, ...]) -> tuple[WaitingInput, ...]:
    """Input that waits, as clients see it."""
    return tuple(
        WaitingInput(waiting.id, waiting.policy, waiting.preview, waiting.items, waiting.by, waiting.since)
        for waiting in pending
    )


def summary(state: State) -> Summary:
    facts = state.facts
    durable = state.durable or facts  # a turn and its questions are shown when they are on disk, as the events are
    return Summary(
        conversation=facts.conversation,
        condition=visible(state),
        name=facts.name,
        settings=facts.settings,
        seq=state.committed,
        turn=durable.turn.id if durable.turn else None,
        waiting=describe_waiting(facts.line),
        paused=facts.paused,
        pending=durable.open_questions,
        readers=tuple(
            ReaderStatus(
                reader.connection, reader.id, reader.seq, max(0, state.committed - reader.seq), reader.read_only
            )
            for reader in state.subscribers.values()
        ),
        tokens=facts.tokens,
        usd=facts.spent.usd,
        unpriced=facts.spent.unpriced,
        uncounted=facts.spent.uncounted,
        spent=facts.spent,
        turn_spent=facts.turn.spent if facts.turn else NOTHING,
        created=facts.created,
        updated=facts.updated,
        preview=title_or_preview(facts),
        failed=facts.failed,
        ended=durable.ended,
        self_named=facts.self_named,
        context_tokens=facts.context_tokens,
        context_window=facts.context_window,
        agent_now=agent_now(facts),
    )
