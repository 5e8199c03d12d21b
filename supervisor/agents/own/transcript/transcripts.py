"""Transcripts of conversations, from memory or from the journal. Loop thread; reads in a worker thread."""

from collections import OrderedDict
from collections.abc import Iterator

from msgspec import Struct, field

from actors.messages.orders import PendingInput, RunAgent
from actors.messages.ports import Journal
from actors.vocabulary.events import (
    READ_BY_MODELS,
    Compacted,
    DurableEvent,
    MessageKind,
    TaskStarted,
    UserMessage,
    durable_adapter,
    type_of,
)
from actors.vocabulary.ids import ConversationId, ItemId
from actors.vocabulary.items import text_of
from supervisor.agents.history_outline import TYPES, HistoryOutline, Words, words_of
from supervisor.agents.journal_pages import events_between
from supervisor.agents.own.model.history_pieces import Form
from supervisor.agents.own.transcript.transcript import ModelTranscript
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.loop.worker_job import WorkerJob, in_worker

BESIDE_A_SUMMARY = frozenset({type_of(TaskStarted), type_of(UserMessage)})
OWN_BYTES = 4096  # of a transcript beside its items


class HistoryToSumUp(Struct):
    """A history to be summed up: people's words before the last summary, and everything since."""

    words: list[Words] = field(default_factory=list)
    story: HistoryOutline = field(default_factory=HistoryOutline)


class TranscriptCache:
    """The transcripts of live conversations between turns. If they and those of running turns are too large together,
    those that were used longest ago are dropped, and read again when needed.

    A transcript that may differ from the journal is dropped, never repaired; one in the form of another wire, too.
    """

    def __init__(self, journal: Journal, bounds: Bounds = DEFAULTS) -> None:
        self._journal = journal
        self._bounds = bounds
        self._kept: OrderedDict[ConversationId, ModelTranscript] = OrderedDict()
        self._running: dict[ConversationId, int] = {}  # the sizes of transcripts as their turns began
        self._size = 0  # of all these

    async def open(self, order: RunAgent, form: Form) -> ModelTranscript:
        """Return the transcript with which the order's turn begins. It belongs to the caller until `keep`."""
        transcript = ModelTranscript(form) if order.first else self._take(order.conversation)
        if transcript is None or order.resume or transcript.form is not form:
            summed = (
                await in_worker(self._read_summary, order.conversation, order.compacted) if order.compacted else None
            )
            transcript = await self.read(order.conversation, order.seq, form, summed)
        else:
            transcript.take(TaskStarted())
            take_inputs(transcript, order.inputs)
        self.forget(order.conversation)
        self._running[order.conversation] = size_in_memory(transcript)
        self._size += size_in_memory(transcript)
        self._make_room()
        return transcript

    async def reopen(
        self, order: RunAgent, before: ModelTranscript, until: int, form: Form, summed: Compacted | None = None
    ) -> ModelTranscript:
        """Return the transcript of a turn under way in another form, or summed up: read up to `until`."""
        transcript = await self.read(order.conversation, until, form, summed or before.compaction)
        transcript.left_out |= before.left_out
        return transcript

    async def read(
        self, conversation: ConversationId, until: int, form: Form, summed: Compacted | None
    ) -> ModelTranscript:
        """Read the history up to `until` as a transcript of the caller's own."""
        return await in_worker(self._read, conversation, until, form, summed)

    async def read_for_summary(
        self, conversation: ConversationId, until: int, summed: Compacted | None
    ) -> HistoryToSumUp:
        """Read the history up to `until`, to be summed up."""
        return await in_worker(self._read_past, conversation, until, summed)

    def keep(self, conversation: ConversationId, transcript: ModelTranscript) -> None:
        transcript.drop_turn_state()
        self.forget(conversation)
        self._kept[conversation] = transcript
        self._size += size_in_memory(transcript)
        self._make_room()

    def forget(self, conversation: ConversationId) -> None:
        """Drop the transcript, and the size that is counted for a running turn."""
        self._take(conversation)
        self._size -= self._running.pop(conversation, 0)

    def statistics(self) -> dict[str, int]:
        return {"transcripts": len(self._kept), "size": self._size}

    def _make_room(self) -> None:
        most, most_bytes = self._bounds.transcripts, self._bounds.transcripts_bytes
        while self._kept and (len(self._kept) > most or self._size > most_bytes):
            self._take(next(iter(self._kept)))

    def _take(self, conversation: ConversationId) -> ModelTranscript | None:
        kept = self._kept.pop(conversation, None)
        if kept is not None:
            self._size -= size_in_memory(kept)
        return kept

    def _read(
        self, job: WorkerJob, conversation: ConversationId, until: int, form: Form, summed: Compacted | None
    ) -> ModelTranscript:
        transcript, stands_for = ModelTranscript(form, summed), 0 if summed is None else summed.last_seq
        begun = summed is None
        for seq, event in self._events(job, conversation, until, stands_for, READ_BY_MODELS):
            if seq <= stands_for:
                transcript.remember(seq, event)
                continue
            if not begun:
                transcript.begin_with_summary()
                begun = True
            transcript.take(event)
        if not begun:
            transcript.begin_with_summary()
        return transcript

    def _read_past(
        self, job: WorkerJob, conversation: ConversationId, until: int, summed: Compacted | None
    ) -> HistoryToSumUp:
        past, stands_for = HistoryToSumUp(), 0 if summed is None else summed.last_seq
        for seq, event in self._events(job, conversation, until, stands_for, TYPES):
            if seq > stands_for:
                past.story.take(seq, event)
            elif isinstance(event, UserMessage) and event.kind is MessageKind.PLAIN:
                past.words.append(words_of(seq, event))
        return past

    def _events(
        self, job: WorkerJob, conversation: ConversationId, until: int, stands_for: int, types: frozenset[str]
    ) -> Iterator[tuple[int, DurableEvent]]:
        """Read events of these types; of those that a summary replaces, only the types that are kept beside it."""

        def is_wanted(seq: int, kind: str) -> bool:
            return kind in (types if seq > stands_for else BESIDE_A_SUMMARY)

        return events_between(job, self._journal, conversation, 0, until, is_wanted)

    def _read_summary(self, _: WorkerJob, conversation: ConversationId, seq: int) -> Compacted | None:
        """Read the event of a summary; None if it was pruned."""
        page = self._journal.read(conversation, seq - 1, 1)
        record = page.records[0] if page and page.records else None
        if record is None or record.seq != seq:
            return None
        event = durable_adapter.validate_json(record.body)
        return event if isinstance(event, Compacted) else None


def size_in_memory(transcript: ModelTranscript) -> int:
    return transcript.size + OWN_BYTES


def take_inputs(transcript: ModelTranscript, inputs: tuple[PendingInput, ...]) -> None:
    """Add the inputs with the text that the session has stored."""
    for pending in inputs:
        transcript.take(UserMessage(message=text_of(pending.items), items=pending.items, item_id=ItemId(pending.id)))
