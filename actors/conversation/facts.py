"""The facts that follow from the events: the durable half of a conversation's state, and the one way it changes.

`apply` is used on every new event and on every event read back from the journal, so a restored
state equals the one before.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from actors.conversation.orders import PendingInput
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ConversationId, InputId, ItemId, TurnId
from actors.vocabulary.items import text_of
from actors.vocabulary.settings import BusyPolicy, Decision, ReadOnly, Settings

KEYS_KEPT_S = 24 * 3600.0  # a client may repeat a request for a day
ANSWERS_KEPT = 64  # enough to name the winner to everyone who was asked
KEYS_KEPT = 1_000  # all of them are in each checkpoint; nobody repeats a request after so many others
STANDING_KEPT = 256  # the same; what is forgotten is asked again
STANDING_LENGTH = 16_384  # characters of a command that is remembered; a longer one is asked each time
PREVIEW_LENGTH = 80  # what a line of `ls` has room for

ItemKind = Literal["exec", "patch", "mcp"]

MOST_TOKENS = 2**53 - 1  # of a conversation: what JSON readers hold exactly


@dataclass(frozen=True, slots=True)
class OpenItem:
    """Begun and not ended."""

    kind: ItemKind
    call: CallId
    invocation: ev.McpInvocation | None = None


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """A turn that has no terminal event yet."""

    id: TurnId
    settings: Settings | None
    inputs: tuple[InputId, ...] = ()
    items: tuple[tuple[ItemId, OpenItem], ...] = ()
    calls: tuple[tuple[CallId, ItemId], ...] = ()
    approvals: tuple[ev.AnyApprovalRequest, ...] = ()
    granted: tuple[ItemId, ...] = ()  # approved, and not begun since

    @property
    def only_waits(self) -> bool:
        """True if the turn only waits for answers: nothing of it runs, so it survives the process."""
        return bool(self.approvals) and not self.items


@dataclass(frozen=True, slots=True)
class Key:
    """An idempotency key and the input it stands for. `ended`: the seq at which the turn that took it ended."""

    key: str
    ts: float
    input: InputId
    turn: TurnId | None = None
    ended: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    conversation: ConversationId
    settings: Settings
    seq: int = 0
    created: float = 0.0
    updated: float = 0.0
    name: str | None = None
    archived: bool = False
    failed: str | None = None
    turn: TurnFacts | None = None
    pending: tuple[PendingInput, ...] = ()
    paused: bool = False
    standing: tuple[ev.Standing, ...] = ()
    answered: tuple[tuple[ApprovalId, Decision, str], ...] = ()
    keys: tuple[Key, ...] = ()
    preview: str = ""
    tokens: int = 0
    stumbled: bool = False  # the last turn that ended emitted an error

    @property
    def steering(self) -> tuple[PendingInput, ...]:
        return tuple(waiting for waiting in self.pending if waiting.policy is BusyPolicy.STEER)

    @property
    def queue(self) -> tuple[PendingInput, ...]:
        return tuple(waiting for waiting in self.pending if waiting.policy is not BusyPolicy.STEER)

    @property
    def asked(self) -> tuple[ev.ApprovalRequest, ...]:
        return self.turn.approvals if self.turn else ()

    def approval(self, approval: ApprovalId) -> ev.ApprovalRequest | None:
        return next((request for request in self.asked if request.approval_id == approval), None)

    def is_standing(self, request: ev.ApprovalRequest) -> bool:
        """True if an earlier answer approved this for the whole session."""
        return request.standing in self.standing


def unborn(conversation: ConversationId) -> Facts:
    """The facts before the first event, which replaces these settings."""
    return Facts(conversation, Settings(model="", cwd=Path("/"), sandbox=ReadOnly()))


def apply(facts: Facts, event: ev.DurableEvent, ts: float, turn: TurnId | None) -> Facts:
    """The facts after one more event."""
    facts = replace(facts, seq=facts.seq + 1, updated=ts)
    match event:
        case ev.SessionConfigured():
            return replace(facts, created=ts, name=event.name, settings=event.settings or facts.settings)
        case ev.SettingsChanged():
            return replace(facts, settings=event.settings)
        case ev.ConversationRenamed():
            return replace(facts, name=event.name)
        case ev.ConversationArchived():
            return replace(facts, archived=event.archived)
        case ev.ConversationFailed():
            return replace(facts, failed=event.message)
        case ev.ConversationRestarted():
            return replace(facts, failed=None, stumbled=False)
        case ev.InputQueued() | ev.InputWithdrawn() | ev.QueuePaused() | ev.QueueResumed() | ev.UserMessage():
            return _apply_input(facts, event, ts, turn)
        case ev.TaskStarted() if turn is not None:
            return replace(facts, turn=TurnFacts(turn, event.settings), stumbled=False)
        case ev.ErrorEvent():
            return replace(facts, stumbled=True)
        case ev.TaskComplete() | ev.TurnAborted():
            return replace(facts, turn=None, keys=_ended(facts))
        case ev.TokenCount():
            return replace(facts, tokens=_summed(facts.tokens, event.total_tokens))
        case _ if facts.turn is not None:
            return _apply_to_turn(facts, facts.turn, event)
        case _:
            return facts


def _summed(tokens: int, more: int) -> int:
    """Add token counts. A server may report any number; the sum stays within what every reader can hold."""
    return max(0, min(tokens + max(0, more), MOST_TOKENS))


def _apply_input(
    facts: Facts,
    event: ev.InputQueued | ev.InputWithdrawn | ev.QueuePaused | ev.QueueResumed | ev.UserMessage,
    ts: float,
    turn: TurnId | None,
) -> Facts:
    match event:
        case ev.InputQueued():
            waiting = PendingInput(event.input_id, event.items, event.policy, event.settings, event.key, event.by)
            keys = _remember(facts, event.key, event.input_id, ts, None)
            return replace(facts, pending=_in_line(facts.pending, waiting), keys=keys)
        case ev.InputWithdrawn():
            keys = tuple(known for known in facts.keys if known.input != event.input_id)
            return replace(facts, pending=_without(facts.pending, event.input_id), keys=keys)
        case ev.QueuePaused():
            return replace(facts, paused=True, pending=_unhurried(facts))
        case ev.QueueResumed():
            return replace(facts, paused=False)
        case ev.UserMessage():
            return _apply_user_message(facts, event, ts, turn)


def _apply_user_message(facts: Facts, event: ev.UserMessage, ts: float, turn: TurnId | None) -> Facts:
    if event.input_id is None:
        return facts
    return replace(
        facts,
        pending=_without(facts.pending, event.input_id),
        keys=_remember(facts, event.key, event.input_id, ts, turn),
        preview=facts.preview or " ".join((event.message or text_of(event.items)).split())[:PREVIEW_LENGTH],
        turn=replace(facts.turn, inputs=(*facts.turn.inputs, event.input_id)) if facts.turn else None,
    )


def _apply_to_turn(facts: Facts, turn: TurnFacts, event: ev.DurableEvent) -> Facts:
    match event:
        case ev.ApprovalRequest():
            turn = replace(turn, approvals=(*turn.approvals, event))
        case ev.ApprovalResolved():
            facts = _remember_answer(facts, event)
            rest = tuple(asked for asked in turn.approvals if asked.approval_id != event.approval_id)
            turn = replace(turn, approvals=rest, granted=(*turn.granted, *_granted(turn, event)))
        case ev.ExecCommandBegin():
            turn = _opened(turn, event.item_id, OpenItem("exec", event.call_id))
        case ev.PatchApplyBegin():
            turn = _opened(turn, event.item_id, OpenItem("patch", event.call_id))
        case ev.McpToolCallBegin():
            turn = _opened(turn, event.item_id, OpenItem("mcp", event.call_id, event.invocation))
        case ev.ExecCommandEnd() | ev.PatchApplyEnd() | ev.McpToolCallEnd():
            turn = replace(turn, items=tuple(item for item in turn.items if item[0] != event.item_id))
        case ev.ToolCall():
            turn = replace(turn, calls=(*turn.calls, (event.call_id, event.item_id)))
        case ev.ToolOutput():
            turn = replace(turn, calls=tuple(call for call in turn.calls if call[1] != event.item_id))
        case _:
            return facts
    return replace(facts, turn=turn)


def _opened(turn: TurnFacts, item: ItemId, opened: OpenItem) -> TurnFacts:
    granted = tuple(one for one in turn.granted if one != item)
    return replace(turn, items=(*turn.items, (item, opened)), granted=granted)


def _granted(turn: TurnFacts, event: ev.ApprovalResolved) -> tuple[ItemId, ...]:
    if event.decision not in {Decision.APPROVED, Decision.APPROVED_FOR_SESSION}:
        return ()
    return tuple(asked.item_id for asked in turn.approvals if asked.approval_id == event.approval_id)


def _remember_answer(facts: Facts, event: ev.ApprovalResolved) -> Facts:
    answered = (*facts.answered, (event.approval_id, event.decision, event.by))[-ANSWERS_KEPT:]
    asked = facts.approval(event.approval_id)
    standing = facts.standing
    approved = asked.standing if asked and event.decision is Decision.APPROVED_FOR_SESSION else None
    if approved is not None and sum(map(len, approved[0])) <= STANDING_LENGTH:
        standing = (*standing, approved)[-STANDING_KEPT:]
    return replace(facts, answered=answered, standing=standing)


def _remember(facts: Facts, key: str | None, taken: InputId, ts: float, turn: TurnId | None) -> tuple[Key, ...]:
    if key is None:
        return facts.keys
    kept = (known for known in facts.keys if known.key != key and known.ts > ts - KEYS_KEPT_S)
    return (*kept, Key(key, ts, taken, turn))[-KEYS_KEPT:]


def _ended(facts: Facts) -> tuple[Key, ...]:
    """The keys, with the seq at which their turn ended: a repeated request looks the end up in the history there."""
    taken = facts.turn.inputs if facts.turn else ()
    return tuple(replace(known, ended=facts.seq) if known.input in taken else known for known in facts.keys)


def _in_line(pending: tuple[PendingInput, ...], waiting: PendingInput) -> tuple[PendingInput, ...]:
    """The queue with one more input: one that interrupts goes before the others, behind those of its kind."""
    if waiting.policy is not BusyPolicy.INTERRUPT:
        return (*pending, waiting)
    urgent = sum(1 for other in pending if other.policy is BusyPolicy.INTERRUPT)
    return (*pending[:urgent], waiting, *pending[urgent:])


def _unhurried(facts: Facts) -> tuple[PendingInput, ...]:
    """The queue after a pause: input that was to replace the open turn waits like all the others."""
    if facts.turn is None:
        return facts.pending
    return tuple(
        replace(one, policy=BusyPolicy.ENQUEUE) if one.policy is BusyPolicy.INTERRUPT else one
        for one in facts.pending
    )


def _without(pending: tuple[PendingInput, ...], taken: InputId) -> tuple[PendingInput, ...]:
    return tuple(waiting for waiting in pending if waiting.id != taken)
