"""What the model has read and said so far, as the events tell it. The same projection live and after a restart.

No I/O: pictures in files are named here and read where the request is built.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from actors import events as ev
from actors.ids import ApprovalId, CallId, ItemId
from actors.items import ImageItem, LocalImageItem, TextItem
from actors.settings import Decision
from supervisor.agent.model.history import (
    Answered,
    Called,
    HistoryItem,
    Image,
    LocalImage,
    Part,
    Reasoned,
    Said,
    Text,
    said,
)


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A tool call of the model without an output."""

    call: CallId
    item: ItemId
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Decided:
    """A question of this turn that was answered, maybe in an earlier life of the daemon."""

    request: ev.ApprovalRequest
    decision: Decision
    reason: str


READ_BY_MODELS = frozenset(
    {"user_message", "agent_message", "model_reasoning", "tool_call", "tool_output"}
    | {"exec_approval_request", "apply_patch_approval_request", "approval_resolved", "exec_command_end"}
    | {"task_started", "conversation_restarted"}
)  # events of other types need not even be parsed

LEFT_OUT = "[a picture that was left out when the conversation was restarted]"


class Transcript:
    def __init__(self) -> None:
        self.items: list[HistoryItem] = []
        self.last_context: dict[ev.MessageKind, str] = {}
        self.last_said: str | None = None
        self.heard: list[str] = []  # what the user said in this turn
        self.left_out: set[str] = set()  # pictures of which a person was told that the model does not get them
        self._notices_end = 0  # where this turn's notices go
        self._open: dict[ItemId, OpenCall] = {}
        self._asked: dict[ApprovalId, ev.ApprovalRequest] = {}
        self._decided: dict[ItemId, list[Decided]] = {}
        self._ended: dict[ItemId, ev.ExecCommandEnd] = {}

    def take(self, event: ev.DurableEvent) -> None:
        match event:
            case ev.TaskStarted():
                self._begin_turn()
            case ev.UserMessage():
                self._take_user_message(event)
            case ev.AgentMessage():
                self.items.append(said("assistant", event.message))
                self.last_said = event.message
            case ev.ModelReasoning():
                self.items.append(Reasoned(event.id, event.summary, event.encrypted_content))
            case ev.ToolCall():
                self.items.append(Called(event.call_id, event.name, event.arguments))
                self._open[event.item_id] = OpenCall(event.call_id, event.item_id, event.name, event.arguments)
            case ev.ToolOutput():
                self._answer(event)
            case ev.ExecApprovalRequest() | ev.ApplyPatchApprovalRequest():
                self._asked[event.approval_id] = event
            case ev.ApprovalResolved():
                self._decide(event)
            case ev.ConversationRestarted(without_pictures=True):
                self.items = [_in_words(item) for item in self.items]
            case ev.ExecCommandEnd():
                self._ended[event.item_id] = event
            case _:
                pass

    @property
    def open_calls(self) -> tuple[OpenCall, ...]:
        return tuple(self._open.values())

    def decided(self, item: ItemId, *, retry: bool = False) -> Decided | None:
        """The answer to the question about an item, if there was one."""
        for one in self._decided.get(item, ()):
            if getattr(one.request, "retry", False) == retry:
                return one
        return None

    def ended(self, item: ItemId) -> ev.ExecCommandEnd | None:
        """How the item's command ended, if it ran."""
        return self._ended.get(item)

    def _begin_turn(self) -> None:
        self._notices_end = len(self.items)
        self._open.clear()
        self._asked.clear()
        self._decided.clear()
        self._ended.clear()
        self.last_said = None
        self.heard = []

    def _take_user_message(self, event: ev.UserMessage) -> None:
        message = Said("user", tuple(_parts(event)) or (Text(event.message),))
        if event.kind is ev.MessageKind.PLAIN:
            self.items.append(message)
            self.heard.append(event.message)
            return
        # What we tell the model about its surroundings goes before what the person has said in this turn, and behind
        # what we told it earlier.
        self.items.insert(self._notices_end, message)
        self._notices_end += 1
        self.last_context[event.kind] = event.message

    def _answer(self, event: ev.ToolOutput) -> None:
        """Behind its call and the calls beside it, whatever the model said between the call and its end."""
        self._open.pop(event.item_id, None)
        items = self.items
        last = len(items) - 1
        place = next((at for at in range(last, -1, -1) if _is_call(items[at], event.call_id)), last) + 1
        while place < len(items) and isinstance(items[place], Called | Answered):
            place += 1
        items.insert(place, Answered(event.call_id, event.output))

    def _decide(self, event: ev.ApprovalResolved) -> None:
        request = self._asked.pop(event.approval_id, None)
        if request is not None:
            decided = Decided(request, event.decision, event.reason)
            self._decided.setdefault(request.item_id, []).append(decided)


def _parts(event: ev.UserMessage) -> Iterator[Part]:
    for item in event.items:
        match item:
            case TextItem():
                yield Text(item.text)
            case ImageItem():
                yield Image(item.image_url)
            case LocalImageItem():
                yield LocalImage(item.path)


def _in_words(item: HistoryItem) -> HistoryItem:
    if not isinstance(item, Said):
        return item
    return replace(item, parts=tuple(part if isinstance(part, Text) else Text(LEFT_OUT) for part in item.parts))


def _is_call(item: HistoryItem, call: CallId) -> bool:
    return isinstance(item, Called) and item.call_id == call
