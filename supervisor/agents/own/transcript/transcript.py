"""The conversation as a model has read and written it, projected from events; the same live and after a restart.

It is kept in the bytes of the wire that the model is asked on, so that no request encodes it again. No I/O: pictures
in files are named here and read where the request is built.
"""

import re
from collections.abc import Iterator

from pydantic_core import from_json, to_json

from actors.vocabulary import events as ev
from actors.vocabulary.items import ImageItem, LocalImageItem, TextItem
from actors.vocabulary.json_values import has_too_many_values
from supervisor.agents.gauge import Gauge
from supervisor.agents.history_outline import Words, words_of
from supervisor.agents.own.model.history_pieces import Form
from supervisor.agents.own.model.request import (
    CallItem,
    HistoryPiece,
    Image,
    LocalImage,
    MessageItem,
    OutputItem,
    Part,
    ReasoningItem,
    SearchItem,
    TextPart,
    text_message,
)
from supervisor.agents.own.transcript.entries import Entries
from supervisor.agents.own.transcript.open_calls import OpenCalls
from supervisor.agents.own.transcript.wording import replacement_text
from supervisor.agents.spending.repetition import Repetition
from supervisor.agents.tool_lines import line_of_work
from supervisor.config.bounds import DEFAULTS

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
UNNAMED = "unknown"

EMPTY = "[an empty message]"  # from an older journal: some models refuse a request with an empty text
SAID_BY_MODELS = (ev.AgentMessage, ev.ModelReasoning, ev.ToolCall)


class ModelTranscript:
    """A conversation's items in the form of a wire.

    `summed` is the event of the last summary, if there is one. The events that it replaces go to `remember`, then
    `begin_with_summary` is called, and `take` gets the later ones.
    """

    def __init__(self, form: Form, summed: ev.Compacted | None = None) -> None:
        self.form = form
        self.compaction = summed
        self.calls = OpenCalls()
        self.gauge = Gauge()
        self.futile_load = 0  # the load at which there was nothing to sum up
        self._words: list[Words] = []  # of people, in events that the summary replaces
        self._entries = Entries(form)
        self.last_context: dict[ev.MessageKind, str] = {}
        self.last_said: str | None = None
        self.repetition = Repetition()
        self.user_messages: list[str] = []  # the user's messages in this turn
        self.left_out: set[str] = set()  # notices that were shown: of pictures and files that the model does not get
        self._answering = False  # the model has said something in this turn

    def take(self, event: ev.DurableEvent) -> None:
        self._entries.join()
        self._answering = self._answering or isinstance(event, SAID_BY_MODELS)
        match event:
            case ev.TaskStarted():
                self._begin_turn()
            case ev.UserMessage():
                self._take_user_message(event)
            case ev.AgentMessage():
                self._entries.add(text_message("assistant", event.message))
                self.last_said = event.message
            case ev.ModelReasoning():
                parts = (event.id, event.summary, event.encrypted_content, event.signature, event.wire, event.model)
                self._entries.add(ReasoningItem(*parts))
            case ev.ToolCall():
                self.repetition.take(event)
                self._entries.add_call(event.item_id, sendable(event))
                self.calls.begin(event)
            case ev.ToolOutput():
                self.repetition.take(event)
                self._answer(event)
            case ev.ApprovalRequested():
                self.calls.ask(event)
            case ev.ApprovalResolved():
                self.calls.decide(event)
            case ev.ConversationRestarted(without_pictures=True):
                self._entries.leave_pictures_out()
            case ev.WorkEnded():
                self._take_work(event)
            case ev.JobEnded(how="lost"):
                lost = job_notice(f"job {event.job} was lost with the daemon")
                self._entries.add_message(text_message("user", lost))
            case ev.TokenCount():
                if event.context_tokens:
                    self.gauge = Gauge(self.load, event.context_tokens)
            case ev.Compacted():
                if event == self.compaction:
                    self.gauge = Gauge(self.load, event.tokens_after or 0)
            case _:
                pass

    def remember(self, seq: int, event: ev.DurableEvent) -> None:
        """Take an event that the summary replaces: people's words are kept, and our last notices."""
        match event:
            case ev.TaskStarted():
                self.user_messages = []
            case ev.UserMessage(kind=ev.MessageKind.PLAIN):
                self._words.append(words_of(seq, event))
                self.user_messages.append(event.message)
            case ev.UserMessage():
                self.last_context[event.kind] = event.message
            case _:
                pass

    def begin_with_summary(self) -> None:
        """Begin with our notices and the text that replaces the remembered events."""
        assert self.compaction is not None, "only a summary stands for events"  # noqa: S101  # callers have checked
        for text in self.last_context.values():
            self._entries.add(text_message("user", text))
        self._entries.add(text_message("user", replacement_text(self.compaction, self._words)))
        self._words = []
        self._entries.begin_turn()
        self._answering = True  # in the middle of a turn, unless one begins now

    @property
    def size(self) -> int:
        """The items' size in bytes."""
        return self._entries.size

    @property
    def load(self) -> int:
        """The bytes that count in a model's context."""
        return self._entries.load

    @property
    def items(self) -> list[HistoryPiece | MessageItem]:
        """All items in order, in a new list each time. The messages among them have pictures that are to be read."""
        return self._entries.items

    def drop_turn_state(self) -> None:
        """Drop the state that only a running turn needs."""
        self.calls.clear()

    def _begin_turn(self) -> None:
        self._entries.begin_turn()
        self._answering = False
        self.drop_turn_state()
        self.repetition.begin_turn()
        self.last_said = None
        self.user_messages = []

    def _take_user_message(self, event: ev.UserMessage) -> None:
        message = MessageItem(
            "user", tuple(_parts(event)) or (TextPart(event.message if event.message.strip() else EMPTY),)
        )
        if event.kind is ev.MessageKind.PLAIN:
            self._entries.add_message(message)
            self.user_messages.append(event.message)
            return
        self.last_context[event.kind] = event.message
        if self._answering:  # settings were changed in mid-turn; the model's history stays as it was read
            self._entries.add_message(message)
        else:
            self._entries.add_notice(message)

    def _take_work(self, event: ev.WorkEnded) -> None:
        """The output of a call tells of our own work, except of a search, which the provider makes."""
        if event.agent_call is not None:
            self._entries.add_message(text_message("user", other_agent_notice(line_of_work(event))))
        elif isinstance(event.subject, ev.SearchSubject):
            self._answering = True
            self._entries.add(SearchItem(event.subject.wire, event.subject.model, event.subject.kept))
        elif event.kind == "command":
            self.calls.end_command(event)

    def _answer(self, event: ev.ToolOutput) -> None:
        self.calls.answer(event.item_id)
        self._entries.add_output(event.item_id, OutputItem(event.call_id, event.output, event.failed is not None))
        if event.pictures:
            words = TextPart(f"[pictures from the call {event.call_id}]")
            pictures = (Image(picture.image_url) for picture in event.pictures)
            self._entries.add_message(MessageItem("user", (words, *pictures)))


def job_notice(text: str) -> str:
    """Mark the words as ours: a model must not take them for the person's."""
    return f"<background_commands>\n{text}\n</background_commands>"


def other_agent_notice(text: str) -> str:
    """Mark the work of another agent, before this agent went on with the conversation."""
    return f"<another_agent>\nused a tool: {text}\n</another_agent>"


def _parts(event: ev.UserMessage) -> Iterator[Part]:
    for item in event.items:
        match item:
            case TextItem():
                if item.text.strip():
                    yield TextPart(item.text)
            case ImageItem():
                yield Image(item.image_url)
            case LocalImageItem():
                yield LocalImage(item.path)


def sendable(event: ev.ToolCall) -> CallItem:
    """Return the call in a form that every provider accepts: a valid tool name, and arguments that are JSON.

    A provider that refuses a call refuses every later request with it, too.
    """
    name = event.name if NAME.fullmatch(event.name) else UNNAMED
    arguments = event.arguments if _is_object(event.arguments) else to_json({"unreadable": event.arguments}).decode()
    return CallItem(event.call_id, name, arguments, event.signature)


def _is_object(text: str) -> bool:
    data = text.encode("utf-8", "replace")
    if has_too_many_values(data, DEFAULTS.answer_event_values):
        return False
    try:
        return isinstance(from_json(data), dict)
    except ValueError:
        return False
