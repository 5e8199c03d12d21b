"""The decisions of a step so far. Lives inside one call of `step` and never leaves it."""

import json

from msgspec.structs import replace
from pydantic_core import PydanticSerializationError

from actors.conversation.applying import apply
from actors.conversation.facts import Facts
from actors.conversation.restore import head_of
from actors.conversation.state import HeldEffect, Limits, Stamp, State, Step
from actors.conversation.stored_tails import forget_finished_tails
from actors.conversation.tail import without_item
from actors.messages.effects import Effect, ReplyTo
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Answer
from actors.vocabulary.ids import Caller, TurnId
from actors.vocabulary.records import Append, Head, KeptText, OldText, Record
from actors.vocabulary.shortening import shorten_json
from actors.vocabulary.spent_amounts import LedgerEntry, Spent


class Draft:
    """Collects events and effects, and keeps the facts true to the events at every moment."""

    def __init__(self, state: State, stamp: Stamp, caller: Caller | None = None) -> None:
        self.state = state.copy()  # the one copy; everything below works on it
        self.now = stamp.now
        self.caller = caller  # of the command that is decided on
        self._nonce = stamp.nonce
        self._names = 0
        self._records: list[Record] = []
        self._effects: list[Effect] = []
        self._last: list[Effect] = []
        self._durable = False
        self._headline = False
        self._terminal = False
        self._kept: tuple[KeptText, ...] = ()
        self._old: tuple[OldText, ...] = ()
        self._spent: dict[str, Spent] = {}  # by model

    @property
    def facts(self) -> Facts:
        return self.state.facts

    def name(self) -> str:
        """A unique name."""
        self._names += 1
        return self._nonce if self._names == 1 else f"{self._nonce}-{self._names}"

    def emit(self, event: ev.DurableEvent, turn: TurnId | None = None) -> None:
        """Record an event. It gets the next seq, and is shown to readers when it is on disk."""
        open_turn = self.facts.turn
        turn = turn or (open_turn.id if open_turn else None)
        event, body = _serialise(event)
        if len(body) > self.state.limits.event_bytes:
            event, body = _limit_size(event, body, self.state.limits)
        before, facts = self.facts, apply(self.facts, event, self.now, turn)
        if facts.spent is not before.spent:
            self._spend(event, before, facts)
        record = Record(facts.seq, self.now, turn, event.type, body)
        self._records.append(record)
        self.state.unchecked += len(body)
        self._durable = self._durable or event.synced
        self._headline = self._headline or event.headline
        self._terminal = self._terminal or event.terminal
        self.state.facts = facts
        self.state.window = (*self.state.window, record)
        item = getattr(event, "item_id", None)
        if item and self.state.tails and not isinstance(event, ev.AgentReasoningSectionBreak):
            self.state.tails = without_item(self.state.tails, item)

    def keep(self, kept: tuple[KeptText, ...], old: tuple[OldText, ...]) -> None:
        """Have unfinished text stored beside the events. No effect waits for it."""
        self._kept, self._old = kept, old

    def _spend(self, event: ev.DurableEvent, before: Facts, after: Facts) -> None:
        """Note the spent amounts for the ledger, under the model that was asked or is in use."""
        turn = before.turn
        own = turn.settings if turn and turn.settings else before.settings
        told = event.uncounted if isinstance(event, ev.TurnEnd) else event
        model = getattr(told, "model", "") or own.agent or own.model
        spent = after.spent.minus(before.spent)
        self._spent[model] = self._spent[model].plus(spent) if model in self._spent else spent

    @property
    def is_stored(self) -> bool:
        """True if all events so far are on disk."""
        return self.facts.seq <= self.state.committed

    def at_once(self, effect: Effect) -> None:
        self._effects.append(effect)

    def after_events(self, effect: Effect) -> None:
        """Carry out after the events of this step were sent to the readers."""
        self._last.append(effect)

    def when_stored(self, effect: Effect) -> None:
        """Carry out when all events so far are on disk; at once if they are."""
        if self.is_stored:
            self._effects.append(effect)
        else:
            self.state.held = (*self.state.held, HeldEffect(self.facts.seq, effect))

    def reply_when_stored(self, answer: Answer, *, settles: bool = True) -> None:
        """Answer the caller of this command when the events that the answer is about are on disk."""
        if self.caller is not None:
            self.answer_when_stored(self.caller, answer, settles=settles)

    def reply_now(self, answer: Answer) -> None:
        """Answer the caller of this command; for answers that do not depend on the disk, such as refusals."""
        if self.caller is not None:
            self.answer_now(self.caller, answer)

    def answer_when_stored(self, caller: Caller, answer: Answer, *, settles: bool = True) -> None:
        self.when_stored(ReplyTo(caller, answer, settles))

    def answer_now(self, caller: Caller, answer: Answer) -> None:
        self.at_once(ReplyTo(caller, answer))

    def step(self) -> Step:
        append = None
        if self._records:
            self.state.versions = (*self.state.versions, self.facts)
            head = self._checkpoint() if self._headline or self._is_far_from_checkpoint else None
            append = Append(self.facts.conversation, tuple(self._records), head, self._durable, self._entries())
        if self.state.keeps and (self._records or self._kept):
            old = (*self._old, *forget_finished_tails(self.state)) if self.state.kept else self._old
            append = append or Append(self.facts.conversation, ())
            append = replace(append, kept=self._kept, old=old, clears=self._terminal)
        return Step(self.state, append, (*self._effects, *self._last))

    def _entries(self) -> tuple[LedgerEntry, ...]:
        if not self._spent:
            return ()
        cwd = str(self.facts.settings.cwd)
        return tuple(LedgerEntry(model, cwd, self.now, spent) for model, spent in self._spent.items())

    @property
    def _is_far_from_checkpoint(self) -> bool:
        """True if a waking conversation would have much to replay, in a long turn without headline events."""
        state, limits = self.state, self.state.limits
        behind = state.facts.seq - state.checkpoint
        return behind >= limits.checkpoint_records or state.unchecked >= limits.checkpoint_bytes

    def _checkpoint(self) -> Head:
        self.state.checkpoint, self.state.unchecked = self.facts.seq, 0
        return head_of(self.state)


def _serialise(event: ev.DurableEvent) -> tuple[ev.DurableEvent, bytes]:
    """Return the event and its JSON. A path may be any bytes: those that are not text are written as `?`."""
    try:
        return event, event.model_dump_json().encode()
    except PydanticSerializationError:
        body = json.dumps(event.model_dump(mode="json"), ensure_ascii=False).encode(errors="replace")
        return ev.durable_adapter.validate_json(body), body


def _limit_size(event: ev.DurableEvent, body: bytes, limits: Limits) -> tuple[ev.DurableEvent, bytes]:
    """Make the event short enough to be read again: long texts lose their middle."""
    short = shorten_json(body, limits.said_bytes if event.said_by_client else limits.event_bytes)
    return (event, body) if short is body else (ev.durable_adapter.validate_json(short), short)
