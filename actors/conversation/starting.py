"""The start of a turn, with input or in the middle. Its agent starts when its input is on disk."""

from msgspec.structs import replace

from actors.conversation.agents import known_to
from actors.conversation.draft import Draft
from actors.conversation.facts import TurnFacts
from actors.conversation.state import Run, Stage
from actors.messages.orders import OfferInput, PendingInput, RunAgent
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId, TurnId
from actors.vocabulary.items import words_of
from actors.vocabulary.settings import BusyPolicy, Task

FIRST_SEQ = 1  # the seq of a conversation's first event


def start_turn(draft: Draft, inputs: tuple[PendingInput, ...], name: str | None = None) -> None:
    """Begin a turn with this input, which may name the conversation. The agent gets it when it is on disk."""
    current = draft.facts.settings
    own = next((waiting.settings_over(current) for waiting in inputs if waiting.settings), None)
    turn = TurnId(draft.name())
    first = draft.facts.seq == FIRST_SEQ
    task, window = inputs[0].task, draft.facts.context_window
    started = ev.TaskStarted(settings=own, model_context_window=window, task=task)
    if task is Task.COMPACT:
        started = started.model_copy(update={"input_id": inputs[0].id, "key": inputs[0].key})
    draft.emit(started, turn)
    said = () if task is Task.COMPACT else inputs
    for waiting in said:
        emit_user_message(draft, waiting, name)
    facts = draft.facts
    order = RunAgent(facts.conversation, turn, own or facts.settings, facts.seq, inputs=said, first=first)
    run_agent(draft, replace(order, task=task, compacted=facts.compacted, spent=facts.spent))


def follow_agent(draft: Draft) -> None:
    """Begin a turn for work that the agent has begun by itself, unless an open turn takes that in."""
    facts = draft.facts
    if facts.turn is not None or facts.failed is not None or draft.state.quiescing or draft.state.retiring:
        return
    turn = TurnId(draft.name())
    draft.emit(ev.TaskStarted(model_context_window=facts.context_window, task=Task.FOLLOW), turn)
    order = RunAgent(facts.conversation, turn, facts.settings, draft.facts.seq, task=Task.FOLLOW)
    run_agent(draft, replace(order, compacted=facts.compacted, spent=facts.spent))


def resume_turn(draft: Draft, turn: TurnFacts) -> None:
    """Go on in the middle of the turn: everything needed is in the journal."""
    facts = draft.facts
    order = RunAgent(facts.conversation, turn.id, turn.settings or facts.settings, facts.seq, resume=True)
    run_agent(draft, replace(order, compacted=facts.compacted, spent=facts.spent, turn_spent=turn.spent))


def run_agent(draft: Draft, order: RunAgent) -> None:
    order = replace(order, known=known_to(draft.facts, order.settings))
    draft.state.run = Run(order.turn, Stage.RUNNING if draft.is_stored else Stage.HELD)
    draft.when_stored(order)
    if draft.facts.steering:  # said while it waited for an answer
        draft.when_stored(OfferInput(order.turn))


def emit_user_message(draft: Draft, waiting: PendingInput, name: str | None = None) -> None:
    draft.emit(
        ev.UserMessage(
            message=words_of(waiting.items),
            item_id=ItemId(waiting.id),
            items=waiting.items,
            input_id=waiting.id,
            key=waiting.key,
            by=waiting.by,
            names=name,
        )
    )


def start_next(draft: Draft) -> None:
    """Start the next turn: with input that interrupted the last or came too late for it, else from the queue.

    A paused queue is held; steering input was said after the pause.
    """
    facts = draft.facts
    if facts.turn is not None or facts.failed is not None or draft.state.quiescing or draft.state.retiring:
        return
    urgent = next((waiting for waiting in facts.pending if waiting.policy is BusyPolicy.INTERRUPT), None)
    if urgent is not None:
        start_turn(draft, (urgent,))
    elif facts.steering:
        start_turn(draft, facts.steering)
    elif facts.queue and not facts.paused:
        start_turn(draft, facts.queue[:1])
