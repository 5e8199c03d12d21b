"""A conversation as the journal keeps it: its events, its row, and pieces of both. A leaf."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from actors.vocabulary.conditions import ENDED, Condition, LastEnding
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.spent_amounts import LedgerEntry

PAGE_BYTES = 256 << 10  # of a page for a client; to encode and write more would keep everybody else waiting


class Record(Struct, frozen=True):
    """One durable event as the journal keeps it. `body` is the event's JSON object, `type` included.

    `stored_bytes` is how long it is in the journal where `body` is a shortened one; 0: it is whole.
    """

    seq: int
    ts: float
    turn: TurnId | None
    type: str
    body: bytes
    stored_bytes: int = 0


class ConversationRow(Struct, frozen=True):
    conversation: Annotated[ConversationId, Meta(description="The conversation's id.")]
    name: Annotated[str | None, Meta(description="Its name.")]
    cwd: Annotated[str, Meta(description="Its working directory.")]
    model: Annotated[
        str, Meta(description="Its model, as far as it is known; empty: one that another agent has chosen itself.")
    ]
    state: Annotated[
        Condition, Meta(description="Its state; failed, denied, lost and over-budget stand until the next message.")
    ]
    preview: Annotated[str, Meta(description="What it is about: its agent's title for it, or how it began.")]
    created: Annotated[float, Meta(description="When, in seconds since 1970.")]
    updated: Annotated[float, Meta(description="When its last event happened.")]
    last_seq: Annotated[int, Meta(description="The number of its last event.")] = field(name="seq")
    archived: Annotated[bool, Meta(description="Left out of lists unless asked for.")] = False
    tokens: Annotated[int, Meta(description="Tokens used so far, as far as servers tell them.")] = 0
    context_tokens: Annotated[
        int | None, Meta(description="How full the model's context is; null where nobody knows.")
    ] = None
    context_window: Annotated[
        int | None, Meta(description="Tokens that the model can read at once; null where unknown.")
    ] = None
    usd: Annotated[float, Meta(description="Their price in US dollars, as far as it is known.")] = 0.0
    unpriced: Annotated[int, Meta(description="Responses whose price is not known.")] = 0
    queued: Annotated[int | None, Meta(description="How many inputs wait; null where that was not noted.")] = None
    agent: Annotated[str, Meta(description="The agent of its turns; empty: Greenroom's own.")] = ""
    uncounted: Annotated[int, Meta(description="Responses whose tokens the server has not told.")] = 0
    ended: Annotated[LastEnding | None, Meta(description=ENDED)] = None
    self_named: Annotated[bool, Meta(description="Its name was made of its first words.")] = False

    @property
    def title(self) -> str:
        """The name that a client gave it, or else its preview, which reads better than a name made of that."""
        return self.name if self.name and not self.self_named else self.preview


class Head(ConversationRow, frozen=True, kw_only=True):
    """The row of a conversation beside its events, so that a list or a wake-up reads nothing else.

    `checkpoint` is the durable part of the core's state as of `checkpoint_seq`; events after it are replayed.
    """

    settings: bytes
    checkpoint: bytes
    checkpoint_seq: int
    generation: int

    @property
    def row(self) -> ConversationRow:
        """The part for clients."""
        return ConversationRow(*(getattr(self, name) for name in ConversationRow.__struct_fields__))


# States that a restart of the daemon leaves as they are.
AT_REST = frozenset({"idle", "archived", "failed", "denied", "lost", "over-budget"})


class ListPlace(Struct, frozen=True):
    """The place of a conversation in a list: the time that the list is sorted by, and the key that breaks ties."""

    at: float
    key: int


class ListQuery(Struct, frozen=True):
    """A page of a list, newest first: the conversations that all the filters fit. `after` is the last page's `next`.

    `archived` includes the archived. `updated` is here when the head was stored, not when the last event happened.
    """

    archived: bool = False
    state: str | None = None
    cwd: str | None = None
    name: str | None = None
    order: Literal["updated", "created"] = "updated"
    after: ListPlace | None = None
    limit: int = 100


class HeadPage(Struct, frozen=True):
    """Heads in the order of the list, without settings and checkpoint. `total` counts all that the filters fit."""

    heads: tuple[Head, ...]
    next: ListPlace | None
    total: int


class KeptText(Struct, frozen=True):
    """A piece of an item's text that is not finished, kept beside the events until the item has its own.

    `tail` and `since` name the text, `start` and `end` the piece in it; `body` is the piece as a delta's JSON object.
    """

    tail: str
    since: int
    start: int
    end: int
    body: bytes


class OldText(Struct, frozen=True):
    """The pieces of a text that are of no more use: those that end at `end` or before."""

    tail: str
    since: int
    end: int


class Append(Struct, frozen=True):
    """New records of one conversation, dense, following what is already there.

    `head`, when given, is stored in the same transaction; its last_seq must be that of the last record.
    `durable` asks for a commit that survives a power cut: accepted input, approvals, terminal events.
    `kept` is unfinished text to store, `old` the text to remove; `clears` removes all, because the turn has ended.
    `spent` has the amounts in these records for the ledger, which is kept in the same transaction.
    """

    conversation: ConversationId
    records: tuple[Record, ...]
    head: Head | None = None
    durable: bool = False
    spent: tuple[LedgerEntry, ...] = ()
    kept: tuple[KeptText, ...] = ()
    old: tuple[OldText, ...] = ()
    clears: bool = False


class Page(Struct, frozen=True):
    """Adjacent records, oldest first. `first_seq` is the oldest still kept: retention may have pruned."""

    records: tuple[Record, ...]
    first_seq: int
    last_seq: int

    @property
    def complete(self) -> bool:
        """True if nothing comes after it."""
        return not self.records or self.records[-1].seq >= self.last_seq

    @property
    def is_the_beginning(self) -> bool:
        """True if nothing comes before it."""
        return not self.records or self.records[0].seq <= self.first_seq
