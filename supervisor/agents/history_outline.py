"""A history to be summed up: steps that belong together, people's words, the plan, the files. Pure.

A step begins with a turn, or with the words of a person or a model when all earlier calls are answered. So a history
may be divided between two steps, and no call loses its output.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct, field
from pydantic_core import from_json

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId
from actors.vocabulary.items import ImageItem, LocalImageItem
from supervisor.agents.gauge import PICTURE_BYTES
from supervisor.agents.tool_lines import changes_in, line_of_work

FILES = 20  # named after a compaction: those opened last
AROUND = 60  # bytes of a wire around each item
PATH_TOOLS = frozenset({"read_file", "view_image"})

TYPES = frozenset(
    ev.type_of(kind)
    for kind in (
        *(ev.TaskStarted, ev.UserMessage, ev.AgentMessage, ev.ModelReasoning, ev.ToolCall, ev.ToolOutput),
        *(ev.PlanUpdate, ev.WorkBegan, ev.WorkEnded, ev.Compacted),
    )
)


class Words(Struct, frozen=True):
    """A message of a person. `pictures`: how many came with it."""

    seq: int
    text: str
    pictures: int = 0


class HistoryStep(Struct):
    """Adjacent events that are kept or summed up together. `weight` is in bytes, `items` counts those for a model."""

    first_seq: int
    last_seq: int
    weight: int = 0
    items: int = 0
    words: list[Words] = field(default_factory=list)
    answered: bool = False  # a model has said something in it

    @property
    def is_unanswered(self) -> bool:
        return bool(self.words) and not self.answered


class HistoryOutline(Struct):
    """A history since it was last summed up."""

    steps: list[HistoryStep] = field(default_factory=list)
    plan: tuple[ev.PlanStep, ...] = ()
    files: list[str] = field(default_factory=list)
    _open: set[ItemId] = field(default_factory=set)
    _last: type[ev.DurableEvent] | None = None

    def take(self, seq: int, event: ev.DurableEvent) -> None:
        match event:
            case ev.PlanUpdate():
                self.plan = event.plan
            case ev.WorkBegan(agent_call=None) | ev.WorkEnded(agent_call=ev.AgentCall()):
                self._note_files(_files_in(event.subject))
            case ev.WorkBegan() | ev.WorkEnded():
                return  # our own work is known as it begins, and that of a third-party agent as it ends
            case ev.ToolCall():
                self._note_files(_named_in(event))
            case _:
                pass
        if self._begins_a_step(event):
            self.steps.append(HistoryStep(seq, seq))
        if self.steps:
            self._add(self.steps[-1], seq, event)

    def _begins_a_step(self, event: ev.DurableEvent) -> bool:
        if self._open:
            return False
        match event:
            case ev.TaskStarted():
                return True
            case ev.UserMessage(kind=ev.MessageKind.PLAIN):
                return self._last not in {None, ev.TaskStarted, ev.UserMessage}
            case ev.AgentMessage() | ev.ModelReasoning() | ev.ToolCall():
                return self._last in {None, ev.ToolOutput}
            case _:
                return False

    def _add(self, step: HistoryStep, seq: int, event: ev.DurableEvent) -> None:
        step.last_seq = seq
        weight = weight_of(event)
        if weight:
            step.weight += weight
            step.items += 1
        match event:
            case ev.TaskStarted() | ev.UserMessage(kind=ev.MessageKind.PLAIN):
                self._last = type(event)
                if isinstance(event, ev.UserMessage):
                    step.words.append(words_of(seq, event))
            case ev.AgentMessage() | ev.ModelReasoning() | ev.ToolCall():
                step.answered = True
                self._last = type(event)
                if isinstance(event, ev.ToolCall):
                    self._open.add(event.item_id)
            case ev.WorkEnded():
                step.answered = True
                self._last = ev.ToolOutput  # a step may begin after it, as after an output of our own tools
            case ev.ToolOutput():
                self._last = ev.ToolOutput
                self._open.discard(event.item_id)
            case _:
                pass

    def _note_files(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path in self.files:
                self.files.remove(path)
            self.files.append(path)
        del self.files[:-FILES]


def words_of(seq: int, event: ev.UserMessage) -> Words:
    pictures = sum(isinstance(item, ImageItem | LocalImageItem) for item in event.items)
    return Words(seq, event.message, pictures)


def weight_of(event: ev.DurableEvent) -> int:
    """Estimate the bytes of an event in a request. A picture counts as PICTURE_BYTES."""
    match event:
        case ev.UserMessage():
            pictures = words_of(0, event).pictures
            return AROUND + len(event.message.encode(errors="replace")) + PICTURE_BYTES * pictures
        case ev.AgentMessage():
            return AROUND + len(event.message.encode(errors="replace"))
        case ev.ToolCall():
            return AROUND + len(event.name) + len(event.arguments.encode(errors="replace"))
        case ev.ToolOutput():
            return AROUND + len(event.output.encode(errors="replace")) + PICTURE_BYTES * len(event.pictures)
        case ev.WorkEnded() if event.agent_call is not None:
            return AROUND + len(line_of_work(event).encode(errors="replace"))
        case ev.ModelReasoning():
            return AROUND + sum(map(len, event.summary)) + len(event.encrypted_content or "")
        case _:
            return 0


def _files_in(subject: ev.WorkSubject | None) -> Iterator[str]:
    """Name the files that are changed, and those that a command reads."""
    yield from changes_in(subject)
    for hint in subject.hints if isinstance(subject, ev.CommandSubject) else ():
        if hint.purpose == "reads" and hint.name is not None:
            yield hint.name


def _named_in(call: ev.ToolCall) -> Iterator[str]:
    if call.name in PATH_TOOLS:
        try:
            given = from_json(call.arguments)
        except ValueError:
            return
        path = given.get("path") if isinstance(given, dict) else None
        if isinstance(path, str):
            yield path
