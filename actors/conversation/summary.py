"""A conversation in one word and in one row."""

from collections.abc import Mapping

from actors.conversation.agent_descriptions import agent_now, title_or_preview
from actors.conversation.facts import Facts
from actors.conversation.state import Run, Stage, State
from actors.messages.orders import PendingInput
from actors.vocabulary.answers import (
    ConversationSpending,
    ConversationSummary,
    InterruptedTurn,
    ReaderStatus,
    WaitingInput,
    WaitingInputs,
)
from actors.vocabulary.conditions import Condition, Ending, LastEnding
from actors.vocabulary.ids import InputId, TurnId
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


def describe_waiting(pending: tuple[PendingInput, ...], whole: InputId | None = None) -> tuple[WaitingInput, ...]:
    """Input that waits, as clients see it. `whole`: the input that is described with its items."""
    return tuple(
        WaitingInput(
            waiting.id,
            waiting.policy,
            waiting.preview,
            waiting.by,
            waiting.since,
            waiting.items if waiting.id == whole else None,
        )
        for waiting in pending
    )


def interrupted(turn: TurnId | None, ending: Ending | None, waiting: tuple[PendingInput, ...]) -> InterruptedTurn:
    return InterruptedTurn(turn, ending, len(waiting), describe_waiting(waiting))


def waiting_inputs(state: State, only: InputId | None) -> WaitingInputs:
    """The inputs that wait; with `only`, that one whole."""
    facts = state.facts
    durable = state.durable or facts
    shown = describe_waiting(tuple(waiting for waiting in facts.line if only in {None, waiting.id}), only)
    return WaitingInputs(facts.paused, durable.turn.id if durable.turn else None, shown)


def spending(state: State) -> ConversationSpending:
    facts = state.facts
    return ConversationSpending(facts.settings, facts.spent, facts.turn.spent if facts.turn else NOTHING)


def summary(state: State) -> ConversationSummary:
    facts = state.facts
    durable = state.durable or facts  # a turn and its questions are shown when they are on disk, as the events are
    return ConversationSummary(
        conversation=facts.conversation,
        state=visible(state),
        name=facts.name,
        settings=facts.settings,
        seq=state.committed,
        turn=durable.turn.id if durable.turn else None,
        queued=len(facts.line),
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
