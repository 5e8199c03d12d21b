"""Events before results: an answer waits until its client has seen the events that it refers to. Pure.

Tracks the messages of the dialect and the replies to them. An answer about the end of a turn waits for every
subscription of this connection to that conversation; it goes out when all have reached the turn's end, or are over.
"""

from collections import deque

from msgspec import Struct, field

from actors.messages.conversation import Attach, Detach, ToConversation
from actors.messages.effects import Deliver, ReplyTo
from actors.messages.routing import RegistryInput, ToRegistry, WatchList
from actors.vocabulary.answers import AttachedReader, InterruptedTurn, TurnResult
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import TERMINAL
from actors.vocabulary.ids import Caller, ConversationId, SubscriptionId, TurnId

ENDS_KEPT = 8  # ended turns remembered per reader; an answer follows its turn's end at once, so one would nearly do


class _Reader(Struct):
    conversation: ConversationId
    asked: Caller | None
    seq: int  # the last event that was handed to the dialect
    from_now: bool
    present: int = 0  # the last stored event when it began
    active: bool = False
    ends: deque[TurnId] = field(default_factory=lambda: deque(maxlen=ENDS_KEPT))


class _Held(Struct, frozen=True):
    reply: ReplyTo
    conversation: ConversationId


class Ordering:
    def __init__(self) -> None:
        self._open: dict[Caller, ConversationId | None] = {}
        self._readers: dict[SubscriptionId, _Reader] = {}
        self._held: list[_Held] = []

    @property
    def owes(self) -> bool:
        """True if the client waits for an answer that will come."""
        return bool(self._open or self._held)

    @property
    def held_count(self) -> int:
        return len(self._held)

    def holds(self, caller: Caller) -> bool:
        return any(held.reply.caller == caller for held in self._held)

    def note_message(self, message: RegistryInput) -> list[ReplyTo]:
        """Note a message from the dialect to the registry. Returns the answers that need not wait any more."""
        caller = request_of(message)
        conversation = message.conversation if isinstance(message, ToConversation) else None
        if caller is not None:
            self._open[caller] = conversation
        if not isinstance(message, ToConversation):
            return []
        command = message.command
        if isinstance(command, Attach):
            reader = _Reader(message.conversation, caller, command.after or 0, command.after is None)
            self._readers[command.subscription] = reader
        elif isinstance(command, Detach):
            return self.end_reader(command.subscription)
        return []

    def note_reply(self, reply: ReplyTo) -> list[ReplyTo]:
        """The answers to hand on: this one, or none yet."""
        conversation = self._open.pop(reply.caller, None)
        if isinstance(reply.answer, AttachedReader):
            self._note_attached(reply.answer)
        elif isinstance(reply.answer, GreenroomError):
            self._forget_refused(reply.caller)
        if conversation is None or self._all_have_seen(conversation, reply):
            return [reply]
        self._held.append(_Held(reply, conversation))
        return []

    def note_slice(self, deliver: Deliver) -> list[ReplyTo]:
        """Note that a slice was handed on; returns the answers that waited for it."""
        reader, slice_ = self._readers.get(deliver.subscription), deliver.slice
        if reader is None:
            return []
        reader.active = True
        if slice_.records:
            reader.seq = max(reader.seq, slice_.records[-1].seq)
            reader.ends.extend(
                record.turn for record in slice_.records if record.type in TERMINAL and record.turn is not None
            )
        if slice_.live:
            reader.seq = max(reader.seq, reader.present)
            for held in self._held:  # older than this slice, which therefore contains their events
                if held.conversation == reader.conversation:
                    self._note_reached(reader, held.reply)
        return self._release_seen()

    def end_reader(self, subscription: SubscriptionId) -> list[ReplyTo]:
        self._readers.pop(subscription, None)
        return self._release_seen()

    def release_overdue(self, caller: Caller) -> list[ReplyTo]:
        """Release the answer held for this caller, even if its events were not seen."""
        free = [held for held in self._held if held.reply.caller == caller]
        return self._let_go(free)

    def _note_attached(self, answer: AttachedReader) -> None:
        reader = self._readers.get(answer.subscription)
        if reader is not None:
            reader.active = True
            reader.present = answer.seq
            reader.seq = answer.seq if reader.from_now else reader.seq

    def _forget_refused(self, caller: Caller) -> None:
        refused = [key for key, reader in self._readers.items() if reader.asked == caller and not reader.active]
        for key in refused:
            del self._readers[key]

    def _release_seen(self) -> list[ReplyTo]:
        return self._let_go([held for held in self._held if self._all_have_seen(held.conversation, held.reply)])

    def _let_go(self, free: list[_Held]) -> list[ReplyTo]:
        if free:
            self._held = [held for held in self._held if held not in free]
        return [held.reply for held in free]

    def _all_have_seen(self, conversation: ConversationId, reply: ReplyTo) -> bool:
        readers = (
            reader for reader in self._readers.values() if reader.active and reader.conversation == conversation
        )
        return all(_has_seen(reader, reply) for reader in readers)

    @staticmethod
    def _note_reached(reader: _Reader, reply: ReplyTo) -> None:
        if isinstance(reply.answer, TurnResult):
            reader.seq = max(reader.seq, reply.answer.seq)
        elif isinstance(reply.answer, InterruptedTurn) and reply.answer.turn is not None:
            reader.ends.append(reply.answer.turn)


def _has_seen(reader: _Reader, reply: ReplyTo) -> bool:
    match reply.answer:
        case TurnResult(seq=seq):
            return reader.seq >= seq
        case InterruptedTurn(turn=turn) if turn is not None:
            return turn in reader.ends
        case _:
            return True


def request_of(message: RegistryInput) -> Caller | None:
    """The caller that waits for an answer to this message."""
    match message:
        case ToConversation(caller=caller):
            return caller
        case ToRegistry(query, caller) if not isinstance(query, WatchList):  # which may wait for ever
            return caller
        case _:
            return None
