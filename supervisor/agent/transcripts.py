"""Transcripts of conversations, from memory or from the journal. Loop thread; reads in a worker thread."""

from collections import OrderedDict

from actors.conversation.orders import PendingInput, RunAgent
from actors.vocabulary.errors import UnknownConversation
from actors.vocabulary.events import READ_BY_MODELS, TaskStarted, UserMessage, durable_adapter
from actors.vocabulary.ids import ConversationId, ItemId
from actors.vocabulary.items import text_of
from actors.vocabulary.ports import Journal
from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.model.pieces import Form
from supervisor.agent.transcript import ModelTranscript
from supervisor.agent.worker_job import WorkerJob, in_worker

PAGE = 256  # events read in one go
PAGE_BYTES = 128 << 10  # the same; what is read at once is held several times over
OWN_BYTES = 4096  # of a transcript beside its items


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
            transcript = await in_worker(self._read, order.conversation, order.seq, form)
        else:
            transcript.take(TaskStarted())
            take_inputs(transcript, order.inputs)
        self.forget(order.conversation)
        self._running[order.conversation] = held(transcript)
        self._size += held(transcript)
        self._make_room()
        return transcript

    def keep(self, conversation: ConversationId, transcript: ModelTranscript) -> None:
        transcript.rest()
        self.forget(conversation)
        self._kept[conversation] = transcript
        self._size += held(transcript)
        self._make_room()

    def forget(self, conversation: ConversationId) -> None:
        """Drop the transcript; of a turn that runs, what is counted."""
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
            self._size -= held(kept)
        return kept

    def _read(self, job: WorkerJob, conversation: ConversationId, until: int, form: Form) -> ModelTranscript:
        transcript, after = ModelTranscript(form), 0
        while after < until:
            job.go_on()
            page = self._journal.read(conversation, after, PAGE, PAGE_BYTES)
            if page is None or not page.records:
                raise UnknownConversation(f"the history of {conversation} ends at {after}, not at {until}")
            for record in page.records:
                if record.type in READ_BY_MODELS and record.seq <= until:
                    transcript.take(durable_adapter.validate_json(record.body))
            after = page.records[-1].seq
        return transcript


def held(transcript: ModelTranscript) -> int:
    return transcript.size + OWN_BYTES


def take_inputs(transcript: ModelTranscript, inputs: tuple[PendingInput, ...]) -> None:
    """Add the inputs with the text that the session has stored."""
    for one in inputs:
        transcript.take(UserMessage(message=text_of(one.items), items=one.items, item_id=ItemId(one.id)))
