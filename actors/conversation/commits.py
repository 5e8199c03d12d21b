"""The answers of the journal: a commit releases the effects that waited for it, a refusal takes them back."""

from collections.abc import Collection

from msgspec.structs import replace

from actors.conversation.closing import close_turn, uncertainty_note
from actors.conversation.draft import Draft
from actors.conversation.reading import trim_window
from actors.conversation.state import HeldEffect, Run, Stage, StopDecision
from actors.conversation.turns import stop_turn
from actors.messages.conversation import AppendRefused, Committed
from actors.messages.effects import ReplyTo, SetTimer, Settle, Stay
from actors.messages.orders import AgentStopped, RunAgent
from actors.vocabulary.answers import InterruptedTurn
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller
from actors.vocabulary.settings import AbortReason

RETRY_STORAGE_S = 5.0  # a full disk is looked at again this often; any command looks at once


def take_commit(draft: Draft, news: Committed) -> None:
    state = draft.state
    if news.epoch != state.epoch or news.seq <= state.committed:
        return
    stored = tuple(facts for facts in state.versions if facts.seq <= news.seq)
    state.committed = news.seq
    state.durable = stored[-1] if stored else state.durable
    state.versions = state.versions[len(stored) :]
    state.window = trim_window(state.window, news.seq, state.limits)
    state.storage_error = None
    _release(draft)


def _release(draft: Draft) -> None:
    """Carry out the effects whose events are on disk now."""
    due = tuple(held for held in draft.state.held if held.seq <= draft.state.committed)
    draft.state.held = draft.state.held[len(due) :]
    for held in due:
        if isinstance(held.effect, RunAgent):
            draft.state.run = Run(held.effect.turn, Stage.RUNNING)
        draft.after_events(held.effect)


def take_refusal(draft: Draft, news: AppendRefused) -> None:
    """Take back everything since the last commit: no client has seen any of it."""
    state = draft.state
    if news.epoch != state.epoch or state.durable is None:
        return
    taken_back = state.held
    state.facts = state.durable
    state.epoch += 1
    state.versions = state.held = state.tails = ()
    state.subscribers = {key: replace(reader, offsets={}) for key, reader in state.subscribers.items()}
    state.window = tuple(record for record in state.window if record.seq <= state.committed)
    state.storage_error = f"{news.error.code}: {news.error.message}"
    refused = {held.effect.caller for held in taken_back if isinstance(held.effect, ReplyTo)}
    for held in taken_back:
        if not (isinstance(held.effect, Settle) and held.effect.caller in refused):  # the refusal settles it
            _take_back(draft, held, news.error)
    _fail_lost_claims(draft, news.error, refused)
    _stop_run(draft, news.error)
    _stay_after_all(draft, news.error)
    draft.at_once(SetTimer("storage", RETRY_STORAGE_S))


def _take_back(draft: Draft, held: HeldEffect, error: GreenroomError) -> None:
    match held.effect:
        case ReplyTo(caller, InterruptedTurn() as answer) if not _waits_without_agent(draft):
            draft.at_once(ReplyTo(caller, answer))  # the answer is true: nothing runs any more
        case ReplyTo(caller, _):
            draft.answer_now(caller, error)
        case Settle() as settle:
            draft.at_once(settle)
        case RunAgent():
            draft.state.run = None
        case _:
            pass  # addressed to the agent, which is stopped below


def _waits_without_agent(draft: Draft) -> bool:
    """True if the turn has no agent but an answer would go on with it: then an interrupt has not succeeded."""
    turn = draft.facts.turn
    return turn is not None and turn.only_waits and draft.state.run is None


def _fail_lost_claims(draft: Draft, error: GreenroomError, refused: Collection[Caller]) -> None:
    """Refuse the inputs that the disk refused. A caller that was answered already, such as the sender of a repeated
    input that is on disk, has no claim any more.
    """
    facts, claims = draft.facts, draft.state.claims
    known = {waiting.id for waiting in facts.pending} | set(facts.turn.inputs if facts.turn else ())
    for claim in claims:
        if claim.awaiting and claim.input not in known:
            draft.answer_now(claim.caller, error)
    draft.state.claims = tuple(claim for claim in claims if claim.input in known and claim.caller not in refused)


def _stay_after_all(draft: Draft, error: GreenroomError) -> None:
    """Fail a pending deletion, which can't complete on a refused append, and stay."""
    if draft.state.retiring is not None:
        if draft.state.retiring.caller is not None:
            draft.answer_now(draft.state.retiring.caller, error)
        draft.state.retiring = None
        draft.at_once(Stay())


def _stop_run(draft: Draft, error: GreenroomError) -> None:
    run = draft.state.run
    if run is None or run.stage is Stage.STOPPING:
        return
    stopping = StopDecision(AbortReason.FAILED, message=f"{error.code}: {error.message}")
    stop_turn(draft, stopping)


def is_stranded(draft: Draft) -> bool:
    """True if a turn is open and no agent works on it: the last daemon lost it, or the disk refused its end."""
    turn = draft.facts.turn
    return turn is not None and draft.state.run is None and not turn.only_waits


def settle_stranded(draft: Draft, reason: AbortReason, message: str) -> None:
    turn = draft.facts.turn
    if turn is not None and is_stranded(draft):
        known = uncertainty_note(turn) if reason is AbortReason.LOST else ""
        close_turn(draft, AgentStopped(), StopDecision(reason, message=message + known))
