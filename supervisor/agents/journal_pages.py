"""A conversation's events as they are read back from the journal, a page at a time. Worker threads."""

from collections.abc import Callable, Iterator

from actors.messages.ports import Journal
from actors.vocabulary.errors import UnknownConversation
from actors.vocabulary.events import DurableEvent, durable_adapter
from actors.vocabulary.ids import ConversationId
from supervisor.loop.worker_job import WorkerJob

PAGE = 256  # events read in one go
PAGE_BYTES = 128 << 10  # the same in bytes; events are held several times over while they are read

IsWanted = Callable[[int, str], bool]  # by seq and type


def events_between(
    job: WorkerJob, journal: Journal, conversation: ConversationId, after: int, until: int, wanted: IsWanted
) -> Iterator[tuple[int, DurableEvent]]:
    """Read the wanted events that follow `after`, up to `until`."""
    while after < until:
        job.go_on()
        page = journal.read(conversation, after, PAGE, PAGE_BYTES)
        if page is None or not page.records:
            raise UnknownConversation(f"the history of {conversation} ends at {after}, not at {until}")
        for record in page.records:
            if record.seq <= until and wanted(record.seq, record.type):
                yield record.seq, durable_adapter.validate_json(record.body)
        after = page.records[-1].seq
