"""A transcript's items in the bytes of a wire, in order. Settled items are joined to blocks.

Knows calls with their outputs, messages with pictures and the place for notices; no events. No I/O.
"""

from collections.abc import Iterable
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from actors.vocabulary.ids import CallId, ItemId
from supervisor.agents.gauge import PICTURE_BYTES
from supervisor.agents.own.model.history_pieces import Form, join_pieces
from supervisor.agents.own.model.pictures import is_address
from supervisor.agents.own.model.request import (
    CallItem,
    HistoryItem,
    HistoryPiece,
    Image,
    MessageItem,
    OutputItem,
    TextPart,
)

LEFT_OUT = "[a picture that was left out when the conversation was restarted]"
LOOSE = 32  # pieces that are not joined yet: each request goes through them, each joining copies a block
LAST = 12  # entries that are never joined: the last requests ended there, and a wire may tell a cache so


class AdjacentCalls(Struct):
    """Adjacent calls and their outputs, so that an output finds its place at once. `open`: calls without one."""

    pieces: list[HistoryPiece] = field(default_factory=list)
    open: set[ItemId] = field(default_factory=set)


class MessageWithPictures(Struct, frozen=True):
    """A message with pictures, not encoded if they are in files, and the same message with words in their place."""

    whole: HistoryPiece | MessageItem
    in_words: HistoryPiece


Entry = HistoryPiece | MessageWithPictures | AdjacentCalls


class Entries:
    """The items of a transcript. `size` is in bytes."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.size = 0
        self._pictures = 0
        self._picture_bytes = 0  # part of the size; in a context every picture counts the same
        self._entries: list[Entry] = []
        self._loose = 0
        self._calls_with: dict[CallId, AdjacentCalls] = {}
        self._notices_end = 0  # the place for this turn's next notice

    @property
    def load(self) -> int:
        """The bytes that count in a model's context."""
        return self.size - self._picture_bytes + self._pictures * PICTURE_BYTES

    @property
    def items(self) -> list[HistoryPiece | MessageItem]:
        """All items in order, in a new list each time. The messages among them have pictures that are to be read."""
        made: list[HistoryPiece | MessageItem] = []
        for entry in self._entries:
            match entry:
                case AdjacentCalls():
                    made += entry.pieces
                case MessageWithPictures():
                    made.append(entry.whole)
                case _:
                    made.append(entry)
        return made

    def begin_turn(self) -> None:
        self._notices_end = len(self._entries)

    def add(self, item: HistoryItem) -> None:
        """Add an item that is no call, no output, and no message with pictures."""
        self._entries.append(self._encode(item))

    def add_message(self, message: MessageItem) -> None:
        self._insert(len(self._entries), message)

    def add_notice(self, message: MessageItem) -> None:
        """Add context for the model before the person's words in this turn, and after earlier context."""
        self._insert(self._notices_end, message)
        self._notices_end += 1

    def add_call(self, item: ItemId, called: CallItem) -> None:
        piece = self._encode(called)
        self._calls_with[called.call_id] = calls = self._last_calls()
        calls.pieces.append(piece)
        calls.open.add(item)

    def add_output(self, item: ItemId, returned: OutputItem) -> None:
        """Place the output after its call and the adjacent calls, whatever the model said in between."""
        piece = self._encode(returned)
        calls = self._calls_with.get(returned.call_id) or self._last_calls()
        calls.pieces.append(piece)
        calls.open.discard(item)

    def join(self) -> None:
        """Join the settled entries, if many have come since the last time."""
        if self._loose >= LOOSE:
            self._join()

    def leave_pictures_out(self) -> None:
        self._entries = [
            entry.in_words if isinstance(entry, MessageWithPictures) else entry for entry in self._entries
        ]
        self.size = sum(len(piece.data) for piece in chain.from_iterable(map(_pieces_of, self._entries)))
        self._pictures = self._picture_bytes = 0

    def _insert(self, place: int, message: MessageItem) -> None:
        whole = self._encode(message)
        pictures = [part for part in message.parts if not isinstance(part, TextPart)]
        if pictures:
            ready = all(isinstance(part, Image) and is_address(part.url) for part in pictures)
            in_words = self.form.encode(_in_words(message))
            self._pictures += len(pictures)
            self._picture_bytes += len(whole.data) - len(in_words.data)
            self._entries.insert(place, MessageWithPictures(whole if ready else message, in_words))
        else:
            self._entries.insert(place, whole)

    def _encode(self, item: HistoryItem) -> HistoryPiece:
        self._loose += 1
        piece = self.form.encode(item)
        self.size += len(piece.data)
        return piece

    def _last_calls(self) -> AdjacentCalls:
        last = self._entries[-1] if len(self._entries) > self._notices_end else None
        if not isinstance(last, AdjacentCalls):
            last = AdjacentCalls()
            self._entries.append(last)
        return last

    def _join(self) -> None:
        """Join the pieces before the first call without an output, but not across the place for notices."""
        self._loose = 0
        settled = max(0, len(self._entries) - LAST)
        for place, entry in enumerate(self._entries[:settled]):
            if isinstance(entry, AdjacentCalls) and entry.open:
                settled = place
                break
        notices = min(self._notices_end, settled)
        older = self._pack(self._entries[:notices])
        newer = self._pack(self._entries[notices:settled])
        self._notices_end += len(older) - notices
        self._entries[:settled] = [*older, *newer]
        self._calls_with = {name: calls for name, calls in self._calls_with.items() if calls.open}

    def _pack(self, entries: list[Entry]) -> list[Entry]:
        made: list[Entry] = []
        run: list[HistoryPiece] = []
        for entry in entries:
            if isinstance(entry, MessageWithPictures):
                made += (*join_pieces(self.form, run), entry)
                run = []
            else:
                run += _pieces_of(entry)
        return [*made, *join_pieces(self.form, run)]


def _in_words(message: MessageItem) -> MessageItem:
    return replace(
        message, parts=tuple(part if isinstance(part, TextPart) else TextPart(LEFT_OUT) for part in message.parts)
    )


def _pieces_of(entry: Entry) -> Iterable[HistoryPiece]:
    match entry:
        case AdjacentCalls():
            return entry.pieces
        case MessageWithPictures():
            return (entry.in_words,)
        case _:
            return (entry,)
