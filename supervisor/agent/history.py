"""A conversation's transcript, from memory or from the journal. Loop thread; reads in a worker thread."""

from collections import OrderedDict

from actors.errors import UnknownConversation
from actors.events import READ_BY_MODELS, TaskStarted, UserMessage, durable_adapter
from actors.ids import ConversationId, ItemId
from actors.items import text_of
from actors.orders import PendingInput, RunAgent
from actors.ports import Journal
from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.chore import Chore, in_worker
from supervisor.agent.transcript import Transcript

PAGE = 1024  # events read in one go
ITEM_BYTES = 512  # of an item, beside its letters; a model may say many that have none


class Histories:
    """Remembers some transcripts between turns; the rest is read again when needed.

    One that may differ from the journal is forgotten, never mended.
    """

    def __init__(self, journal: Journal, bounds: Bounds = DEFAULTS) -> None:
        self._journal = journal
        self._bounds = bounds
        self._kept: OrderedDict[ConversationId, Transcript] = OrderedDict()
        self._size = 0  # of those that are kept

    async def open(self, order: RunAgent) -> Transcript:
        """With everything the order's turn begins with. It is the caller's until `keep`."""
        kept = Transcript() if order.first else self._take(order.conversation)
        if kept is None or order.resume:
            return await in_worker(self._read, order.conversation, order.seq)
        kept.take(TaskStarted())
        take_inputs(kept, order.inputs)
        return kept

    def keep(self, conversation: ConversationId, transcript: Transcript) -> None:
        transcript.rest()
        self.forget(conversation)
        self._kept[conversation] = transcript
        self._size += held(transcript)
        while len(self._kept) > self._bounds.transcripts or self._size > self._bounds.transcripts_bytes:
            self.forget(next(iter(self._kept)))

    def forget(self, conversation: ConversationId) -> None:
        self._take(conversation)

    def statistics(self) -> dict[str, int]:
        return {"transcripts": len(self._kept), "size": self._size}

    def _take(self, conversation: ConversationId) -> Transcript | None:
        kept = self._kept.pop(conversation, None)
        if kept is not None:
            self._size -= held(kept)
        return kept

    def _read(self, chore: Chore, conversation: ConversationId, until: int) -> Transcript:
        transcript, after = Transcript(), 0
        while after < until:
            chore.go_on()
            page = self._journal.read(conversation, after, PAGE)
            if page is None or not page.records:
                raise UnknownConversation(f"the history of {conversation} ends at {after}, not at {until}")
            for record in page.records:
                if record.type in READ_BY_MODELS and record.seq <= until:
                    transcript.take(durable_adapter.validate_json(record.body))
            after = page.records[-1].seq
        return transcript


def held(transcript: Transcript) -> int:
    return transcript.size + ITEM_BYTES * transcript.count


def take_inputs(transcript: Transcript, inputs: tuple[PendingInput, ...]) -> None:
    """What the session has stored as taken, in the same words."""
    for one in inputs:
        transcript.take(UserMessage(message=text_of(one.items), items=one.items, item_id=ItemId(one.id)))
