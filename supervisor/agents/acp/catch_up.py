"""Catch-up text for an agent that missed part of the conversation, and the notice of it that people see.

Loop thread; reads in a worker thread.
"""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from actors.messages.orders import RunAgent
from actors.messages.ports import Journal
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, ConversationId, ItemId
from supervisor.agents.acp import answered_questions, seed
from supervisor.agents.acp.answered_questions import AnsweredQuestions
from supervisor.agents.acp.seed import Seed
from supervisor.agents.acp.session_requests import StartedSession
from supervisor.agents.journal_pages import events_between
from supervisor.loop.worker_job import WorkerJob, in_worker

GO_ON = "[Your program was ended and started anew while you worked. Go on with your work.]"
OPENING_EVENTS = 1  # events of a turn before its inputs: its start
PARAGRAPH = "\n\n"  # after each text: the next block is a person's


class MissedHistory:
    """Reads the part of a conversation that an agent does not know. `room`: the most bytes that it is told."""

    def __init__(self, journal: Journal, room: Callable[[], int]) -> None:
        self._journal = journal
        self._room = room

    async def record_since(self, order: RunAgent, seen: int) -> Seed:
        """Return the record of everything after `seen`, without the inputs of this turn."""
        if order.first or order.seq - seen <= OPENING_EVENTS + len(order.inputs):
            return Seed(self._room())
        inputs = frozenset(ItemId(entry.id) for entry in order.inputs)
        return await in_worker(self._read_missed, order.conversation, seen, order.seq, inputs)

    async def answers_text(self, order: RunAgent) -> str:
        """Return the text of the questions that the turn waited for when its program ended, with their answers."""
        return await in_worker(self._read_answers, order.conversation, order.seq)

    async def decision(self, order: RunAgent, item: ItemId) -> ev.ApprovalResolved | None:
        """Return the answer to the turn's question about an item, if an earlier run of the turn has asked it."""
        return await in_worker(self._decision, order.conversation, order.seq, item)

    def _decision(
        self, job: WorkerJob, conversation: ConversationId, until: int, item: ItemId
    ) -> ev.ApprovalResolved | None:
        asked: set[ApprovalId] = set()
        found = None
        wanted = lambda _, kind: kind in answered_questions.TYPES  # noqa: E731  # short, and used once
        for _, event in events_between(job, self._journal, conversation, 0, until, wanted):
            if isinstance(event, ev.ApprovalRequest) and event.item_id == item:
                asked.add(event.approval_id)
            elif isinstance(event, ev.ApprovalResolved) and event.approval_id in asked:
                found = event
        return found

    def _read_missed(
        self, job: WorkerJob, conversation: ConversationId, seen: int, until: int, inputs: frozenset[ItemId]
    ) -> Seed:
        missed = Seed(self._room(), inputs)
        wanted = lambda _, kind: kind in seed.TYPES  # noqa: E731  # short, and used once
        for seq, event in events_between(job, self._journal, conversation, seen, until, wanted):
            missed.take(seq, event)
        return missed

    def _read_answers(self, job: WorkerJob, conversation: ConversationId, until: int) -> str:
        answers = AnsweredQuestions()
        wanted = lambda _, kind: kind in answered_questions.TYPES  # noqa: E731  # short, and used once
        for _, event in events_between(job, self._journal, conversation, 0, until, wanted):
            answers.take(event)
        return answers.text()


class CatchUp(Struct, frozen=True):
    """`texts`: for the agent, before its next prompt. `note`: for people; empty if there is nothing to report."""

    how: Literal["new", "resumed", "loaded", "seeded"]
    texts: tuple[str, ...] = ()
    note: str = ""


async def catch_up_at_start(order: RunAgent, history: MissedHistory, started: StartedSession, lost: str) -> CatchUp:
    """Compose the catch-up of an agent whose session starts in a new process."""
    agent, remembers = order.settings.agent, started.how != "new"
    seen = _last_seen(order, started)
    record = "" if remembers and order.resume else await _record(order, history, seen, remembers)
    texts = await _texts(order, history, record)
    note = ". ".join(_notes(agent, lost, bool(record), order))
    if started.how == "new":
        return CatchUp("seeded" if record else "new", texts, note)
    return CatchUp(started.how, texts, note)


async def catch_up_later(order: RunAgent, history: MissedHistory) -> tuple[str, ...]:
    """Compose the catch-up of an agent whose program has lived on while others spoke."""
    record = await _record(order, history, order.known.seen, True) if order.known is not None else ""
    return await _texts(order, history, record)


async def _texts(order: RunAgent, history: MissedHistory, record: str) -> tuple[str, ...]:
    answers = (await history.answers_text(order) or GO_ON) if order.resume else ""
    return tuple(f"{text}{PARAGRAPH}" for text in (record, answers) if text)


def _last_seen(order: RunAgent, started: StartedSession) -> int:
    return order.known.seen if order.known is not None and started.how != "new" else 0


async def _record(order: RunAgent, history: MissedHistory, seen: int, remembers: bool) -> str:
    return (await history.record_since(order, seen)).text("meanwhile" if remembers else "anew")


def _notes(agent: str, lost: str, recorded: bool, order: RunAgent) -> list[str]:
    notes = []
    if order.resume:
        notes.append(f"{agent} was ended while it waited for an answer; it was started again, and is told the answer")
    if lost:
        more = ", and is told what was said so far" if recorded else ""
        notes.append(f"{agent} could not take up its session ({lost}): it began a new one{more}")
    elif recorded and order.known is None:
        notes.append(f"{agent} is told what was said so far")
    elif recorded:
        notes.append(f"{agent} is told what was said since it last spoke")
    return notes
