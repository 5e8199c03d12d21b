"""The conversation as a model has read and written it, projected from events; the same live and after a restart.

It is kept in the bytes of the wire that the model is asked on, so that no request encodes it again. No I/O: pictures
in files are named here and read where the request is built.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic_core import from_json, to_json

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.items import ImageItem, LocalImageItem, TextItem
from actors.vocabulary.settings import Decision
from supervisor.agent.bounds import DEFAULTS
from supervisor.agent.model.decoding import intricate
from supervisor.agent.model.pieces import Form, packed
from supervisor.agent.model.request import (
    Called,
    HistoryItem,
    Image,
    LocalImage,
    Part,
    Piece,
    Reasoned,
    Returned,
    Said,
    Text,
    said,
)
from supervisor.agent.pictures import is_address


class OpenCall(Struct, frozen=True):
    """A tool call of the model without an output."""

    call: CallId
    item: ItemId
    name: str
    arguments: str


class PastDecision(Struct, frozen=True):
    """An approval of this turn that was decided, maybe in an earlier life of the daemon."""

    request: ev.ApprovalRequest
    decision: Decision
    reason: str


NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
UNNAMED = "unknown"

LEFT_OUT = "[a picture that was left out when the conversation was restarted]"
EMPTY = "[an empty message]"  # from an older journal: some models refuse a request with an empty text


LOOSE = 256  # pieces that are not joined yet


class Calls(Struct):
    """Adjacent calls and their outputs, so that an output finds its place at once. `open`: calls without one."""

    pieces: list[Piece] = field(default_factory=list)
    open: set[ItemId] = field(default_factory=set)


class Pictured(Struct, frozen=True):
    """A message with pictures, and the same with words in their place. One with pictures in files is not encoded."""

    whole: Piece | Said
    in_words: Piece


Entry = Piece | Pictured | Calls


class ModelTranscript:
    """A conversation's items in the form of a wire. What nothing can come between any more is joined to blocks."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.size = 0  # of the items, in bytes
        self._entries: list[Entry] = []
        self._loose = 0
        self._calls_with: dict[CallId, Calls] = {}
        self.last_context: dict[ev.MessageKind, str] = {}
        self.last_said: str | None = None
        self.heard: list[str] = []  # the user's messages in this turn
        self.left_out: set[str] = set()  # words for pictures that the model does not get, of which a person was told
        self._notices_end = 0  # the place for this turn's next notice
        self._open: dict[ItemId, OpenCall] = {}
        self._asked: dict[ApprovalId, ev.ApprovalRequest] = {}
        self._decided: dict[ItemId, list[PastDecision]] = {}
        self._ended: dict[ItemId, ev.ExecCommandEnd] = {}

    def take(self, event: ev.DurableEvent) -> None:
        if self._loose >= LOOSE:
            self._join()
        match event:
            case ev.TaskStarted():
                self._begin_turn()
            case ev.UserMessage():
                self._take_user_message(event)
            case ev.AgentMessage():
                self._add(said("assistant", event.message))
                self.last_said = event.message
            case ev.ModelReasoning():
                self._add(Reasoned(event.id, event.summary, event.encrypted_content))
            case ev.ToolCall():
                self._call(event)
                self._open[event.item_id] = OpenCall(event.call_id, event.item_id, event.name, event.arguments)
            case ev.ToolOutput():
                self._answer(event)
            case ev.ApprovalRequest():
                self._asked[event.approval_id] = event
            case ev.ApprovalResolved():
                self._decide(event)
            case ev.ConversationRestarted(without_pictures=True):
                self._leave_pictures_out()
            case ev.ExecCommandEnd():
                self._ended[event.item_id] = event
            case _:
                pass

    @property
    def items(self) -> list[Piece | Said]:
        """All items in order, in a new list each time. The messages among them have pictures that are to be read."""
        made: list[Piece | Said] = []
        for entry in self._entries:
            match entry:
                case Calls():
                    made += entry.pieces
                case Pictured():
                    made.append(entry.whole)
                case _:
                    made.append(entry)
        return made

    @property
    def open_calls(self) -> tuple[OpenCall, ...]:
        return tuple(self._open.values())

    def decided(self, item: ItemId, *, retry: bool = False) -> PastDecision | None:
        """Return the decision about an item, if there was one."""
        for one in self._decided.get(item, ()):
            if getattr(one.request, "retry", False) == retry:
                return one
        return None

    def ended(self, item: ItemId) -> ev.ExecCommandEnd | None:
        """Return the end of the item's command, if it ran."""
        return self._ended.get(item)

    def rest(self) -> None:
        """Drop the state that only a running turn needs."""
        self._open.clear()
        self._asked.clear()
        self._decided.clear()
        self._ended.clear()

    def _begin_turn(self) -> None:
        self._notices_end = len(self._entries)
        self.rest()
        self.last_said = None
        self.heard = []

    def _take_user_message(self, event: ev.UserMessage) -> None:
        message = Said("user", tuple(_parts(event)) or (Text(event.message if event.message.strip() else EMPTY),))
        if event.kind is ev.MessageKind.PLAIN:
            self._insert(len(self._entries), message)
            self.heard.append(event.message)
            return
        # Context for the model goes before the person's words in this turn, and behind earlier context.
        self._insert(self._notices_end, message)
        self._notices_end += 1
        self.last_context[event.kind] = event.message

    def _insert(self, place: int, message: Said) -> None:
        whole = self._encoded(message)
        pictures = [part for part in message.parts if not isinstance(part, Text)]
        if pictures:
            ready = all(isinstance(part, Image) and is_address(part.url) for part in pictures)
            in_words = self.form.encode(_in_words(message))
            self._entries.insert(place, Pictured(whole if ready else message, in_words))
        else:
            self._entries.insert(place, whole)

    def _encoded(self, item: HistoryItem) -> Piece:
        self._loose += 1
        piece = self.form.encode(item)
        self.size += len(piece.data)
        return piece

    def _add(self, item: HistoryItem) -> None:
        self._entries.append(self._encoded(item))

    def _call(self, event: ev.ToolCall) -> None:
        called = self._encoded(sendable(event))
        self._calls_with[event.call_id] = calls = self._last_calls()
        calls.pieces.append(called)
        calls.open.add(event.item_id)

    def _last_calls(self) -> Calls:
        last = self._entries[-1] if len(self._entries) > self._notices_end else None
        if not isinstance(last, Calls):
            last = Calls()
            self._entries.append(last)
        return last

    def _answer(self, event: ev.ToolOutput) -> None:
        """Place the output behind its call and the adjacent calls, whatever the model said in between.

        The approval and the command's end are of no more use, and are dropped.
        """
        self._open.pop(event.item_id, None)
        self._decided.pop(event.item_id, None)
        self._ended.pop(event.item_id, None)
        answered = self._encoded(Returned(event.call_id, event.output))
        calls = self._calls_with.get(event.call_id) or self._last_calls()
        calls.pieces.append(answered)
        calls.open.discard(event.item_id)

    def _join(self) -> None:
        """Join the pieces before the first call without an output, but not across the place for notices."""
        self._loose = 0
        settled = len(self._entries)
        for place, entry in enumerate(self._entries):
            if isinstance(entry, Calls) and entry.open:
                settled = place
                break
        notices = min(self._notices_end, settled)
        older = self._packed(self._entries[:notices])
        newer = self._packed(self._entries[notices:settled])
        self._notices_end += len(older) - notices
        self._entries[:settled] = [*older, *newer]
        self._calls_with = {name: calls for name, calls in self._calls_with.items() if calls.open}

    def _packed(self, entries: list[Entry]) -> list[Entry]:
        made: list[Entry] = []
        run: list[Piece] = []
        for entry in entries:
            if isinstance(entry, Pictured):
                made += (*packed(self.form, run), entry)
                run = []
            else:
                run += _pieces_of(entry)
        return [*made, *packed(self.form, run)]

    def _leave_pictures_out(self) -> None:
        self._entries = [entry.in_words if isinstance(entry, Pictured) else entry for entry in self._entries]
        self.size = sum(len(piece.data) for piece in chain.from_iterable(map(_pieces_of, self._entries)))

    def _decide(self, event: ev.ApprovalResolved) -> None:
        request = self._asked.pop(event.approval_id, None)
        if request is not None:
            decided = PastDecision(request, event.decision, event.reason)
            self._decided.setdefault(request.item_id, []).append(decided)


def _parts(event: ev.UserMessage) -> Iterator[Part]:
    for item in event.items:
        match item:
            case TextItem():
                if item.text.strip():
                    yield Text(item.text)
            case ImageItem():
                yield Image(item.image_url)
            case LocalImageItem():
                yield LocalImage(item.path)


def sendable(event: ev.ToolCall) -> Called:
    """Return the call in a form that every provider accepts: a valid tool name, and arguments that are JSON.

    A provider that refuses a call refuses every later request with it, too.
    """
    name = event.name if NAME.fullmatch(event.name) else UNNAMED
    arguments = event.arguments if _is_object(event.arguments) else to_json({"unreadable": event.arguments}).decode()
    return Called(event.call_id, name, arguments)


def _is_object(text: str) -> bool:
    data = text.encode("utf-8", "replace")
    if intricate(data, DEFAULTS.answer_event_values):
        return False
    try:
        return isinstance(from_json(data), dict)
    except ValueError:
        return False


def _in_words(message: Said) -> Said:
    return replace(message, parts=tuple(part if isinstance(part, Text) else Text(LEFT_OUT) for part in message.parts))


def _pieces_of(entry: Entry) -> Iterable[Piece]:
    match entry:
        case Calls():
            return entry.pieces
        case Pictured():
            return (entry.in_words,)
        case _:
            return (entry,)
