"""The conversation as a model has read and written it, projected from events; the same live and after a restart.

No I/O: pictures in files are named here and read where the request is built.
"""

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace
from pydantic_core import from_json, to_json

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.items import ImageItem, LocalImageItem, TextItem
from actors.vocabulary.settings import Decision
from supervisor.agent.bounds import DEFAULTS
from supervisor.agent.model.decoding import intricate
from supervisor.agent.model.request import (
    Called,
    HistoryItem,
    Image,
    LocalImage,
    Part,
    Reasoned,
    Returned,
    Said,
    Text,
    said,
)


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


Calls = list[Called | Returned]


class ModelTranscript:
    """A conversation's items. Adjacent calls and their outputs share a list, so an output finds its place at once."""

    def __init__(self) -> None:
        self.size = 0  # of the items, in characters
        self.count = 0  # of the items
        self._entries: list[HistoryItem | Calls] = []
        self._calls_with: dict[CallId, Calls] = {}
        self.last_context: dict[ev.MessageKind, str] = {}
        self.last_said: str | None = None
        self.heard: list[str] = []  # the user's messages in this turn
        self.has_pictures = False
        self.left_out: set[str] = set()  # words for pictures that the model does not get, of which a person was told
        self._notices_end = 0  # the place for this turn's next notice
        self._open: dict[ItemId, OpenCall] = {}
        self._asked: dict[ApprovalId, ev.ApprovalRequest] = {}
        self._decided: dict[ItemId, list[PastDecision]] = {}
        self._ended: dict[ItemId, ev.ExecCommandEnd] = {}

    def take(self, event: ev.DurableEvent) -> None:
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
                self._entries = [entry if isinstance(entry, list) else _in_words(entry) for entry in self._entries]
                self.size = sum(weight(item) for item in self.items)
            case ev.ExecCommandEnd():
                self._ended[event.item_id] = event
            case _:
                pass

    @property
    def items(self) -> list[HistoryItem]:
        """All items in order, in a new list each time."""
        made: list[HistoryItem] = []
        for entry in self._entries:
            if isinstance(entry, list):
                made += entry
            else:
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
        self.has_pictures = self.has_pictures or any(not isinstance(part, Text) for part in message.parts)
        if event.kind is ev.MessageKind.PLAIN:
            self._add(message)
            self.heard.append(event.message)
            return
        # Context for the model goes before the person's words in this turn, and behind earlier context.
        self._entries.insert(self._notices_end, message)
        self._weigh(message)
        self._notices_end += 1
        self.last_context[event.kind] = event.message

    def _weigh(self, item: HistoryItem) -> None:
        self.size += weight(item)
        self.count += 1

    def _add(self, item: HistoryItem) -> None:
        self._entries.append(item)
        self._weigh(item)

    def _call(self, event: ev.ToolCall) -> None:
        called = sendable(event)
        self._calls_with[event.call_id] = calls = self._last_calls()
        calls.append(called)
        self._weigh(called)

    def _last_calls(self) -> Calls:
        last = self._entries[-1] if self._entries else None
        if not isinstance(last, list):
            last = []
            self._entries.append(last)
        return last

    def _answer(self, event: ev.ToolOutput) -> None:
        """Place the output behind its call and the adjacent calls, whatever the model said in between.

        The approval and the command's end are of no more use, and are dropped.
        """
        self._open.pop(event.item_id, None)
        self._decided.pop(event.item_id, None)
        self._ended.pop(event.item_id, None)
        answered = Returned(event.call_id, event.output)
        calls = self._calls_with.get(event.call_id)
        (self._last_calls() if calls is None else calls).append(answered)
        self._weigh(answered)

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


def _in_words(item: HistoryItem) -> HistoryItem:
    if not isinstance(item, Said):
        return item
    return replace(item, parts=tuple(part if isinstance(part, Text) else Text(LEFT_OUT) for part in item.parts))


def weight(item: HistoryItem) -> int:
    """Count the characters of an item that a model is sent."""
    match item:
        case Said():
            return sum(map(_length, item.parts))
        case Called():
            return len(item.name) + len(item.arguments)
        case Returned():
            return len(item.output)
        case Reasoned():
            return sum(map(len, item.summary)) + len(item.encrypted_content or "")


def _length(part: Part) -> int:
    match part:
        case Text(text):
            return len(text)
        case Image(url):
            return len(url)
        case LocalImage(path):
            return len(str(path))
