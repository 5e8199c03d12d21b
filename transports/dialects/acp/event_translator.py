"""Events to updates for one client in one session, with the state that this needs. Pure.

Each event type is translated here or by the module for calls, or is in `LEFT_OUT` with the reason. The session's
settings and title are noted on the way.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import ClassVar, cast

from msgspec import Struct, field

from actors.vocabulary import events as ev
from actors.vocabulary.answers import ConversationSummary
from actors.vocabulary.conditions import Ending
from actors.vocabulary.items import ImageItem, InputItem, TextItem, first_words
from actors.vocabulary.records import Record
from actors.vocabulary.settings import Settings
from actors.vocabulary.visible_text import visible
from transports.dialects.acp import updates as u
from transports.dialects.acp.calls import pending_call
from transports.dialects.acp.shown_calls import CALL_EVENTS, ShownCalls
from transports.dialects.acp.shown_texts import SECTION, ShownTexts
from transports.dialects.kit.bounded import Bounded
from transports.notices import NOTICES
from transports.question_text import question_lines

STOP_REASONS: Mapping[str, str] = {  # the answers to prompts; after any other end they are an error
    Ending.COMPLETED: "end_turn",
    Ending.INTERRUPTED: "cancelled",
    Ending.REPLACED: "cancelled",
    Ending.LOST: "cancelled",
    Ending.BUDGET: "max_turn_requests",
}
LOST_TEXT = "The daemon was ended while this turn ran; what it had said is kept. Send a message to go on."
LINES_SHOWN = 200  # lines of a question; the middle of a longer one is left out, and a line says so

Event = Mapping[str, object]
Updates = Iterator[u.Update]


class EventTranslator(Struct, eq=False):
    """`label`: our client's name in histories. `hears`: the client learns otherwise of a failed turn with these
    inputs.

    `replays`: this is history, of which only the end is the present state.
    """

    label: Callable[[], str]
    texts: ShownTexts
    calls: ShownCalls
    replays: bool = False
    turns: bool = False  # a turn runs
    hears: Callable[[Collection[str]], bool] = lambda _: False
    inputs: set[str] = field(default_factory=set)  # taken by the running turn
    failed: str | None = None  # the error of the running turn
    settings: Settings | None = None
    agent_options: ev.AgentOptions | None = None
    commands: u.Commands | None = None
    name: str | None = None
    about: str = ""
    usd: float = 0.0
    counted_seq: int = 0  # `usd` includes spending up to here
    updated: float = 0.0
    usage: u.ContextUse | None = None
    changed: bool = False  # settings are to be sent
    sections: Bounded[str, int] = field(default_factory=Bounded)  # the current section of each open reasoning
    finished: Bounded[str, tuple[int, int]] = field(default_factory=Bounded)  # its finished parts, their characters

    @property
    def title(self) -> str | None:
        return self.name or self.about or None

    def begin_anew(self) -> None:
        """Begin a subscription: unfinished texts come from their beginning."""
        self.texts.begin_anew()
        self.calls.decoders.clear()

    def take_over(self, summary: ConversationSummary) -> None:
        """Take the session's state at the moment when its reader begins."""
        self.turns = summary.turn is not None
        # A name that was derived from the preview reads worse than the preview.
        self.settings, self.name = summary.settings, None if summary.self_named else summary.name
        self.about = self.about or summary.preview
        self.usd, self.counted_seq, self.updated = summary.usd, summary.seq, summary.updated
        if summary.context_tokens is not None and summary.context_window is not None:
            self.usage = u.ContextUse(summary.context_tokens, summary.context_window, summary.usd or None)

    # --- events ---------------------------------------------------------------------------------------------------

    def take(self, record: Record) -> Updates:
        if record.type in CALL_EVENTS:
            yield from self.calls.take(ev.durable_adapter.validate_json(record.body))
            return
        event: Event = json.loads(record.body)
        if record.type in ev.TERMINAL:
            yield from self.calls.end_all()
            yield from self._turn_ends(event, record)
        elif record.type in self.HANDLERS:
            yield from self.HANDLERS[record.type](self, event, record)

    def delta(self, delta: ev.Delta) -> Updates:
        match delta:
            case ev.AgentMessageDelta(delta=text, item_id=item):
                yield from self._piece("agent", item, self.texts.piece(item, text))
            case ev.AgentReasoningDelta(delta=text, item_id=item):
                section = self.sections.get(item, 0)
                yield from self._piece("thought", _section(item, section), self.texts.piece(item, text))
            case ev.AgentReasoningRawContentDelta(delta=text, item_id=item):
                yield from self._piece("thought", _raw(item), self.texts.piece(_raw(item), text))
            case ev.WorkOutput():
                yield from self.calls.delta(delta)

    def lose(self, delta: ev.Delta) -> None:
        """Note that pieces before this one are missing."""
        match delta:
            case ev.AgentMessageDelta(item_id=item) | ev.AgentReasoningDelta(item_id=item):
                self.texts.lose(item)
            case ev.AgentReasoningRawContentDelta(item_id=item):
                self.texts.lose(_raw(item))
            case _:
                pass  # the newest output matters most

    # --- texts ----------------------------------------------------------------------------------------------------

    def _piece(self, voice: u.Voice, item: str, text: str) -> Updates:
        if text:
            yield u.MessagePiece(voice, item, text)

    def _agent_message(self, event: Event, _: Record) -> Updates:
        item, whole = str(event["item_id"]), str(event["message"])
        yield from self._piece("agent", item, self.texts.rest(item, whole))

    def _agent_reasoning(self, event: Event, _: Record) -> Updates:
        """A finished part. The pieces before it were those of all parts, one after the other."""
        item, text = str(event["item_id"]), str(event["text"])
        part, begin = self.finished.get(item, (0, 0))
        yield from self._piece("thought", _section(item, part), self.texts.rest(item, text, begin))
        self.finished[item] = part + 1, begin + len(text)

    def _section_begins(self, event: Event, _: Record) -> Updates:
        item = str(event["item_id"])
        self.sections[item] = self.sections.get(item, 0) + 1
        yield from ()

    def _raw_reasoning(self, event: Event, _: Record) -> Updates:
        name, whole = _raw(str(event["item_id"])), str(event["text"])
        yield from self._piece("thought", name, self.texts.rest(name, whole))

    def _user_message(self, event: Event, record: Record) -> Updates:
        message = ev.UserMessage.model_validate(event)
        if message.input_id is not None:
            self.inputs.add(message.input_id)
        if message.kind is not ev.MessageKind.PLAIN:
            return
        if self.replays or message.by != self.label():
            items = message.items or ((TextItem(text=message.message),) if message.message else ())
            yield u.UserMessage(message.input_id or message.item_id, tuple(map(_block, items)))
        if not self.title:
            self.about = first_words(message.items)
            yield from self._title_update(record)

    def _remark(self, text: str, record: Record, severity: u.Severity = "info") -> Updates:
        if text:
            yield u.Remark(severity, visible(text[:1].upper() + text[1:]), f"event-{record.seq}")

    def _notice(self, event: Event, record: Record) -> Updates:
        yield from self._remark(NOTICES[record.type](event), record)

    def _warning(self, event: Event, record: Record) -> Updates:
        yield from self._remark(str(event["message"]), record, "warning")

    def _conversation_failed(self, event: Event, record: Record) -> Updates:
        yield from self._remark(str(event["message"]), record, "error")

    def _error(self, event: Event, _: Record) -> Updates:
        """Note the error. The next event ends the turn and decides how it is shown."""
        self.failed = str(event["message"])
        yield from ()

    def _plan(self, event: Event, _: Record) -> Updates:
        steps = cast("list[dict[str, str]]", event["plan"])
        yield u.PlanEntries(tuple(u.PlanEntry(step["step"], step["status"]) for step in steps))  # type: ignore[arg-type]  # stored

    # --- turns ----------------------------------------------------------------------------------------------------

    def _turn_begins(self, _: Event, __: Record) -> Updates:
        self.turns, self.failed = True, None
        self.inputs.clear()
        yield from ()

    def _turn_ends(self, event: Event, record: Record) -> Updates:
        """The title with its time: ACP has no other message about the end for clients that watch."""
        self.turns = False
        how = str(event.get("reason") or ("failed" if self.failed else "completed"))
        if how == "lost":
            yield from self._remark(LOST_TEXT, record, "warning")
        elif self.failed and (self.replays or how in STOP_REASONS or not self.hears(self.inputs)):
            yield from self._remark(self.failed, record, "error")
        yield from self._title_update(record)

    # --- questions ------------------------------------------------------------------------------------------------

    def asks(self, request: ev.ApprovalRequested) -> Updates:
        """The call that a question is about, if the client does not know it."""
        ends_with_it = isinstance(request.subject, ev.FormSubject)
        yield from self.calls.wait(question(request), request.approval_id if ends_with_it else None)

    def _approval_requested(self, event: Event, _: Record) -> Updates:
        """The call of a question. The question itself follows; from a history, only if it still waits."""
        request = ev.ApprovalRequested.model_validate(event)
        if not isinstance(request.subject, ev.FormSubject):  # no call is shown beside a form
            yield from self.asks(request)

    # --- the session ----------------------------------------------------------------------------------------------

    def _title_update(self, record: Record) -> Updates:
        if not self.replays:
            yield u.SessionTitle(self.title, record.ts)

    def _session_configured(self, event: Event, _: Record) -> Updates:
        self.name = cast("str | None", event.get("name"))
        yield from ()

    def _conversation_renamed(self, event: Event, record: Record) -> Updates:
        self.name = cast("str | None", event["name"])
        yield from self._title_update(record)

    def _agent_title(self, event: Event, record: Record) -> Updates:
        self.about = " ".join(str(event["title"]).split())
        if not self.name:
            yield from self._title_update(record)

    def _settings_changed(self, event: Event, _: Record) -> Updates:
        self.settings = Settings.model_validate(event["settings"])
        self.changed = True
        yield from ()

    def _agent_options(self, event: Event, _: Record) -> Updates:
        self.agent_options = ev.AgentOptions.model_validate(event)
        self.changed = True
        yield from ()

    def _agent_commands(self, event: Event, _: Record) -> Updates:
        commands = ev.AgentCommands.model_validate(event).commands
        self.commands = u.Commands(
            tuple(u.SlashCommand(command.name, command.description, command.hint) for command in commands)
        )
        if not self.replays:
            yield self.commands

    def _token_count(self, event: Event, record: Record) -> Updates:
        if record.seq > self.counted_seq:
            self.usd += cast("float | None", event.get("cost_usd")) or 0.0
        used, size = event.get("context_tokens"), event.get("context_window")
        if not self.replays and isinstance(used, int) and isinstance(size, int):
            yield u.ContextUse(max(0, used), max(0, size), self.usd or None)

    _BY_CLASS: ClassVar[Mapping[type[ev.BaseEvent], Callable[["EventTranslator", Event, Record], Updates]]] = {
        ev.ApprovalRequested: _approval_requested,
        ev.SessionConfigured: _session_configured,
        ev.UserMessage: _user_message,
        ev.AgentMessage: _agent_message,
        ev.AgentReasoning: _agent_reasoning,
        ev.AgentReasoningSectionBreak: _section_begins,
        ev.AgentReasoningRawContent: _raw_reasoning,
        ev.PlanUpdate: _plan,
        ev.TokenCount: _token_count,
        ev.ConversationRenamed: _conversation_renamed,
        ev.AgentTitle: _agent_title,
        ev.AgentCommands: _agent_commands,
        ev.SettingsChanged: _settings_changed,
        ev.AgentOptions: _agent_options,
        ev.ErrorEvent: _error,
        ev.TaskStarted: _turn_begins,
        ev.StreamError: _warning,
        ev.BackgroundEvent: _warning,
        ev.ConversationFailed: _conversation_failed,
        ev.Compacted: _notice,
        ev.KeptYesUsed: _notice,
        ev.QueuePaused: _notice,
    }
    HANDLERS: ClassVar = {ev.type_of(kind): handle for kind, handle in _BY_CLASS.items()}


def question(request: ev.ApprovalRequested) -> u.ToolUpdate:
    """The call that a question is about, with the whole question."""
    see = f"`greenroom approvals {request.approval_id}` shows all of it"
    lines = question_lines(request.model_dump(mode="json"), most=LINES_SHOWN, see=see)
    return pending_call(request, lines.text)


def _section(item: str, number: int) -> str:
    """The message id of a section of a reasoning: the first has the item's own id."""
    return f"{item}{SECTION}{number}" if number else item


def _raw(item: str) -> str:
    return f"{item}{SECTION}raw"


def _block(item: InputItem) -> u.Block:
    match item:
        case TextItem(text=text):
            return u.TextContent(text)
        case ImageItem(image_url=url) if url.startswith("data:"):
            mime, _, data = url.removeprefix("data:").partition(";base64,")
            return u.Picture(mime, data)
        case ImageItem(image_url=url):
            return u.ResourceLink("a picture", url)
        case _:
            return u.ResourceLink(item.path.name, item.path.as_uri() if item.path.is_absolute() else str(item.path))


DELTAS = frozenset(ev.type_of(kind) for kind in ev.DELTAS)
LEFT_OUT: Mapping[type[ev.BaseEvent], str] = {  # and why
    **dict.fromkeys((ev.InputQueued, ev.InputEdited, ev.InputMoved), "told when a turn takes the input"),
    ev.InputWithdrawn: "its sender gets the answer to its prompt",
    ev.QueueResumed: "the turns that follow are told",
    ev.BudgetReached: "an error with the same words follows",
    ev.AgentSession: "what there is to know about it is a `background_event` of its own",
    ev.CallsLeft: "a count for budgets",
    ev.ModelRequested: "a count for budgets",
    ev.ModelReasoning: "the model's own",
    ev.ToolCall: "what becomes of it is told",
    ev.TurnDiff: "each patch is told",
    ev.ConversationArchived: "it goes on to be read; a prompt is refused with the reason",
    ev.ConversationRestarted: "its next turn is told",
}
