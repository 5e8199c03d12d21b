"""The live state of a conversation beyond its facts: readers, callers, the agent's run, and unstored effects."""

from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter

from msgspec import Struct, field
from msgspec.structs import fields

from actors.conversation.facts import Facts
from actors.conversation.tail import Tail, TailPlace
from actors.messages.effects import Effect
from actors.vocabulary.ids import ApprovalId, Caller, ConnectionId, InputId, SubscriptionId, TurnId
from actors.vocabulary.records import Append, Record
from actors.vocabulary.settings import AbortReason, Settings


class Stamp(Struct, frozen=True):
    """Inputs that a pure core can't make: the time, and a fresh name."""

    now: float
    nonce: str


class Limits(Struct, frozen=True):
    """Bounds, each with its reason."""

    queue: int = 100  # more than a person queues by hand; a script gets a refusal
    queue_bytes: int = 16 << 20  # of waiting input; all of it is written with each step of a turn
    event_bytes: int = 8 << 20  # of a stored event; a longer one could not be shown to every client
    said_bytes: int = 18 << 20  # of an event with a client's words: its longest message, and the JSON around it
    window_records: int = 64  # by which a reader that keeps up may be behind; more comes from the journal
    window_bytes: int = 16 * 1024  # a live session stays under 60 KiB
    checkpoint_records: int = (
        128  # after a checkpoint; replayed by a conversation that wakes, in a millisecond or two
    )
    checkpoint_bytes: int = 512 * 1024  # the same
    page_records: int = 256  # one slice from the journal; a control message never waits longer than this takes
    interrupt_when_alone: bool = False  # by default a turn outlives its clients: that is the point of it
    unanswerable_s: float = 300.0  # time enough to open a terminal and answer there
    idle_park_s: float = 600.0  # long enough that a person who thinks does not meet a cold start


class Stage(StrEnum):
    HELD = "held"  # decided, not on disk yet: the agent has not been told
    RUNNING = "running"
    STOPPING = "stopping"


class StopDecision(Struct, frozen=True):
    """A stop was decided; the turn ends when its processes are gone."""

    reason: AbortReason
    by: tuple[str, ...] = ()
    message: str = ""
    pause: bool = True


class Run(Struct, frozen=True):
    """The agent's side of the open turn. None in the state while the turn waits without an agent."""

    turn: TurnId
    stage: Stage = Stage.HELD
    stopping: StopDecision | None = None
    suspending: bool = False

    def is_source_of(self, turn: TurnId) -> bool:
        """True if news of the turn comes from this run; an agent that was not started yet sends none."""
        return self.turn == turn and self.stage is not Stage.HELD


class InputClaim(Struct, frozen=True):
    """A request whose input is not settled. `awaiting`: its one answer is how the turn ended."""

    caller: Caller
    input: InputId
    awaiting: bool
    gone_s: float | None = None  # how long its caller may be gone


class Subscriber(Struct, frozen=True):
    """The cursor of one reader, and whether it is still busy with a slice.

    `offsets` is how much it has of each unfinished tail, by its key and beginning: the same item may begin again.
    """

    id: SubscriptionId
    connection: ConnectionId
    seq: int
    offsets: Mapping[TailPlace, int] = field(default_factory=dict)
    in_flight: bool = False
    read_only: bool = False
    paging: bool = False  # it has no slice: the journal is asked for its next one
    caught_up: bool = False
    lagging: bool = False

    def without_slice(self) -> "Subscriber":
        """The reader without its slice. Written out, because it is made for every piece of every stream."""
        return Subscriber(
            self.id,
            self.connection,
            self.seq,
            self.offsets,
            read_only=self.read_only,
            caught_up=self.caught_up,
            lagging=self.lagging,
        )


class Passes(Struct, frozen=True):
    """The connections that have passed a question on, and since when no attached client can answer it."""

    by: frozenset[ConnectionId] = frozenset()
    alone_since: float | None = None
    timer: bool = False


class KeptTail(Struct, frozen=True):
    """The length of a tail as far as it is on disk, or on its way there, and the number of its pieces."""

    end: int
    pieces: int = 1


class HeldEffect(Struct, frozen=True):
    """An effect that waits until everything up to `seq` is on disk."""

    seq: int
    effect: Effect


class SettingsJson(Struct, frozen=True):
    """Settings, and their JSON."""

    settings: Settings
    json: bytes


class Retiring(Struct, frozen=True):
    """The conversation is to be deleted as soon as everything is stored; `caller` waits for that."""

    caller: Caller | None


class State(Struct):
    """The state of a conversation. Only `step` writes to it, in a copy. All inside is frozen."""

    facts: Facts
    committed: int = 0
    epoch: int = 0
    versions: tuple[Facts, ...] = ()  # after each append that is under way, oldest first
    durable: Facts | None = None  # as of `committed`; a refused append falls back to it
    checkpoint: int = 0  # the seq of the last one, stored or under way
    unchecked: int = 0  # bytes of the events after it
    settings_json: SettingsJson | None = None  # as of the last one
    window: tuple[Record, ...] = ()
    tails: tuple[Tail, ...] = ()
    kept: Mapping[TailPlace, KeptTail] = field(default_factory=dict)  # the tails that are on disk
    keeps: bool = False  # some text may be on disk
    keep_timer: bool = False
    run: Run | None = None
    held: tuple[HeldEffect, ...] = ()
    claims: tuple[InputClaim, ...] = ()
    interrupts: tuple[Caller, ...] = ()
    subscribers: Mapping[SubscriptionId, Subscriber] = field(default_factory=dict)
    passes: Mapping[ApprovalId, Passes] = field(default_factory=dict)
    storage_error: str | None = None
    idle_timer: bool = False
    quiescing: bool = False
    retiring: Retiring | None = None
    last_command: float = 0.0
    limits: Limits = Limits()

    def copy(self) -> "State":
        return State(*_everything(self))


_everything = attrgetter(*(item.name for item in fields(State)))  # faster than `replace`, at every step


class Step(Struct, frozen=True):
    """The result of one input: the append to store, the effects to carry out in order."""

    state: State
    append: Append | None = None
    effects: tuple[Effect, ...] = ()
