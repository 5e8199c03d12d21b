"""A conversation's transcript, from memory or from the journal. Loop thread; reads in a worker thread."""

import asyncio
from collections import OrderedDict

from actors.errors import UnknownConversation
from actors.events import TaskStarted, UserMessage, durable_adapter
from actors.ids import ConversationId, ItemId
from actors.items import text_of
from actors.orders import PendingInput, RunAgent
from actors.ports import Journal
from supervisor.agent.transcript import READ_BY_MODELS, Transcript

KEPT = 64  # transcripts of conversations that went well; the rest is read again when needed
PAGE = 1024  # events read in one go


class Histories:
    """Remembers transcripts between turns. One that may differ from the journal is forgotten, never mended."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept: OrderedDict[ConversationId, Transcript] = OrderedDict()

    async def open(self, order: RunAgent) -> Transcript:
        """With everything the order's turn begins with. It is the caller's until `keep`."""
        kept = Transcript() if order.first else self._kept.pop(order.conversation, None)
        if kept is None or order.resume:
            return await asyncio.to_thread(self._read, order.conversation, order.seq)
        kept.take(TaskStarted())
        take_inputs(kept, order.inputs)
        return kept

    def keep(self, conversation: ConversationId, transcript: Transcript) -> None:
        self._kept[conversation] = transcript
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def forget(self, conversation: ConversationId) -> None:
        self._kept.pop(conversation, None)

    def _read(self, conversation: ConversationId, until: int) -> Transcript:
        transcript, after = Transcript(), 0
        while after < until:
            page = self._journal.read(conversation, after, PAGE)
            if page is None or not page.records:
                raise UnknownConversation(f"the history of {conversation} ends at {after}, not at {until}")
            for record in page.records:
                if record.type in READ_BY_MODELS and record.seq <= until:
                    transcript.take(durable_adapter.validate_json(record.body))
            after = page.records[-1].seq
        return transcript


def take_inputs(transcript: Transcript, inputs: tuple[PendingInput, ...]) -> None:
    """What the session has stored as taken, in the same words."""
    for one in inputs:
        transcript.take(UserMessage(message=text_of(one.items), items=one.items, item_id=ItemId(one.id)))
