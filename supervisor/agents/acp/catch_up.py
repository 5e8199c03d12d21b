"""Catch-up text for an agent that missed part of the conversation, and the notice of it that people see.

It has two parts: a record of what was said and done, of which the newest part is told in full and older parts that
don't fit are left out with a count; and, for a program that was ended while its turn waited, the answers to its
questions. The text goes to the agent with a person's next words, and is no event itself. Loop thread; reads in a
worker thread.
"""

from collections import deque
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from actors.messages.orders import RunAgent
from actors.messages.ports import Journal
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, ConversationId, ItemId
from actors.vocabulary.settings import AbortReason, Decision
from supervisor.agents.acp.session_start import StartedSession
from supervisor.agents.history_outline import words_of
from supervisor.agents.journal_pages import events_between
from supervisor.agents.tool_lines import line_of_action, line_of_call, line_of_work
from supervisor.config.bounds import DEFAULTS
from supervisor.formats.head_and_tail import head_and_tail
from supervisor.loop.worker_job import WorkerJob, in_worker
from transports.question_text import OURSELVES

GO_ON = "[Your program was ended and started anew while you worked. Go on with your work.]"
OPENING_EVENTS = 1  # events of a turn before its inputs: its start
PARAGRAPH = "\n\n"  # after each text: the next block is a person's


# --- the record of what was said and done ---------------------------------------------------------------------------

RECORD_TYPES = frozenset(
    ev.type_of(kind)
    for kind in (
        *(ev.UserMessage, ev.AgentMessage, ev.WorkEnded, ev.ToolCall, ev.ToolOutput, ev.PlanUpdate),
        *(ev.Compacted, ev.TurnAborted),
    )
)

RECORD_OPENING = {
    "anew": "[You have taken over a conversation. This is what was said and done in it before. It is a record: "
    "act only on what follows it.]",
    "meanwhile": "[This was said and done in the conversation since you last spoke in it; some of it you may know. "
    "It is a record: act only on what follows it.]",
}
RECORD_CLOSING = "[End of the record.]"
PERSON, AGENT = "The person:", "The agent:"
CUT = {
    AbortReason.INTERRUPTED: "[the person stopped the agent here]",
    AbortReason.REPLACED: "[the person stopped the agent here, to say something else]",
    AbortReason.BUDGET: "[the agent was stopped here, because a budget was used up]",
}
CUT_OTHERWISE = "[the agent ended here without being done]"
SHARE = 2  # a single text gets at most half of the room
CALLS = DEFAULTS.answer_tool_calls  # calls of an answer that have no output yet


class Seed:
    """Builds the record. `room`: its most bytes. `leave_out`: messages that the agent gets in another way."""

    def __init__(self, room: int = DEFAULTS.agent_seed_bytes, leave_out: frozenset[ItemId] = frozenset()) -> None:
        self._room = room
        self._leave_out = leave_out
        self._parts: deque[str] = deque()
        self._size = 0
        self._left_out = 0
        self._speaker = ""
        self._calls: dict[ItemId, ev.ToolCall] = {}
        self._plan: tuple[ev.PlanStep, ...] = ()
        self._summary = ""

    def __bool__(self) -> bool:
        return bool(self._parts)

    def take(self, seq: int, event: ev.DurableEvent) -> None:
        match event:
            case ev.UserMessage(kind=ev.MessageKind.PLAIN) if event.item_id not in self._leave_out:
                pictures = words_of(seq, event).pictures
                self._add(PERSON, event.message + (f"\n[with {pictures} pictures, not shown]" if pictures else ""))
            case ev.AgentMessage():
                self._add(AGENT, event.message)
            case ev.WorkEnded(agent_call=ev.AgentCall()):  # our own agent's work is told as its tool's call
                self._add(AGENT, f"- {line_of_work(event)}")
            case ev.ToolCall() if len(self._calls) < CALLS:
                self._calls[event.item_id] = event
            case ev.ToolOutput():
                self._take_output(event)
            case ev.TurnAborted():
                self._add("", CUT.get(event.reason, CUT_OTHERWISE))
            case ev.PlanUpdate():
                self._plan = event.plan
            case ev.Compacted():
                self._summary = event.summary
            case _:
                pass

    def text(self, opening: str) -> str:
        """Compose the record; empty if there is nothing to tell."""
        if not self:
            return ""
        plan = ["The plan:\n" + "\n".join(f"[{step.status}] {self._shorten(step.step)}" for step in self._plan)]
        parts = [
            RECORD_OPENING[opening],
            *self._omission_notes(),
            *self._parts,
            *(plan if self._plan else []),
            RECORD_CLOSING,
        ]
        return "\n\n".join(parts)

    def _omission_notes(self) -> list[str]:
        if not self._left_out:
            return []
        notes = [f"[{self._left_out} older messages and tool uses are left out: they don't fit]"]
        return [*notes, f"Notes on the earlier part:\n{self._shorten(self._summary)}"] if self._summary else notes

    def _take_output(self, event: ev.ToolOutput) -> None:
        call = self._calls.pop(event.item_id, None)
        if call is not None:
            self._add(AGENT, f"- {line_of_call(call, event)}")

    def _add(self, speaker: str, text: str) -> None:
        words = self._shorten(text)
        part = f"{speaker}\n{words}" if speaker and speaker != self._speaker else words
        self._speaker = speaker
        self._parts.append(part)
        self._size += len(part.encode(errors="replace"))
        while self._size > self._room and len(self._parts) > 1:
            self._size -= len(self._parts.popleft().encode(errors="replace"))
            self._left_out += 1

    def _shorten(self, text: str) -> str:
        """Leave out the middle of a text that would take up the others' room."""
        return head_and_tail(text.encode(errors="replace").decode(), self._room // SHARE, self._room)


# --- answered questions ---------------------------------------------------------------------------------------------

MOST_QUESTIONS = 64  # questions in the text; of more, the last ones
SIGNS_OF_LIFE = (ev.TaskStarted, ev.AgentSession, ev.AgentMessage, ev.WorkBegan, ev.WorkEnded)
QUESTION_TYPES = {ev.type_of(kind) for kind in (*SIGNS_OF_LIFE, ev.ApprovalRequested, ev.ApprovalResolved)}
QUESTION_LENGTH = 500  # characters of a question, and of a reason

ANSWERS_OPENING = (
    "[Your program was ended and started anew while you waited for an answer of the person. This is what you had "
    "asked, and the answer:]"
)
ANSWERS_CLOSING = (
    "[Nothing of it has been done yet. Go on with your work from there: do what was allowed; find another way for "
    "what was refused.]"
)
ALLOWED = dict.fromkeys(
    (Decision.APPROVED, Decision.APPROVED_FOR_SESSION), "allowed"
)  # the rule for the session is ours


class AnsweredQuestions:
    """Collects answered questions from events. A sign of life of the agent shows that it got all earlier answers."""

    def __init__(self) -> None:
        self._asked: dict[ApprovalId, ev.ApprovalRequested] = {}
        self._answers: dict[ApprovalId, tuple[ev.ApprovalRequested, ev.ApprovalResolved]] = {}

    def take(self, event: ev.DurableEvent) -> None:
        match event:
            case ev.ApprovalResolved():
                self._resolve(event)
            case ev.ApprovalRequested(agent=agent) if agent == OURSELVES:
                """Greenroom's own question, of which the agent knows nothing."""
            case ev.ApprovalRequested():
                self._answers.clear()
                self._asked[event.approval_id] = event
            case _:
                self._answers.clear()

    def text(self) -> str:
        latest = list(self._answers.values())[-MOST_QUESTIONS:]
        lines = [answer_line(request, answer) for request, answer in latest]
        return "\n".join([ANSWERS_OPENING, *lines, ANSWERS_CLOSING]) if lines else ""

    def _resolve(self, event: ev.ApprovalResolved) -> None:
        request = self._asked.pop(event.approval_id, None)
        if request is not None:
            self._answers[event.approval_id] = (request, event)


def answer_line(request: ev.ApprovalRequested, answer: ev.ApprovalResolved) -> str:
    """Return a line with the question and its answer."""
    verdict = ALLOWED.get(answer.decision, "refused")
    reason = f", because: {_line(answer.reason)}" if answer.reason else ""
    return f"- {_line(line_of_action(request.subject, request.agent_call))}: {verdict}{reason}"


def _line(text: str) -> str:
    line = " ".join(text[: QUESTION_LENGTH + 1].split())
    return line if len(text) <= QUESTION_LENGTH else f"{line[:QUESTION_LENGTH]}…"


# --- both, for an agent and for people ------------------------------------------------------------------------------


class CatchUp(Struct, frozen=True):
    """`texts`: for the agent, before its next prompt. `note`: for people; empty if there is nothing to report."""

    how: Literal["new", "resumed", "loaded", "seeded"]
    texts: tuple[str, ...] = ()
    note: str = ""


class MissedHistory:
    """Reads the part of a conversation that an agent does not know. `room`: the most bytes that it is told."""

    def __init__(self, journal: Journal, room: Callable[[], int]) -> None:
        self._journal = journal
        self._room = room

    async def catch_up_at_start(self, order: RunAgent, started: StartedSession, lost: str) -> CatchUp:
        """Compose the catch-up of an agent whose session starts in a new process."""
        remembers = started.how != "new"
        seen = order.known.seen if order.known is not None and remembers else 0
        record = (
            ""
            if remembers and order.resume
            else await self._record(order, seen, "meanwhile" if remembers else "anew")
        )
        texts = await self._texts(order, record)
        note = ". ".join(_notes(order, lost, recorded=bool(record)))
        if started.how == "new":
            return CatchUp("seeded" if record else "new", texts, note)
        return CatchUp(started.how, texts, note)

    async def catch_up_later(self, order: RunAgent) -> tuple[str, ...]:
        """Compose the catch-up of an agent whose program has lived on while others spoke."""
        record = await self._record(order, order.known.seen, "meanwhile") if order.known is not None else ""
        return await self._texts(order, record)

    async def _texts(self, order: RunAgent, record: str) -> tuple[str, ...]:
        answers = (await self.answers_text(order) or GO_ON) if order.resume else ""
        return tuple(f"{text}{PARAGRAPH}" for text in (record, answers) if text)

    async def _record(self, order: RunAgent, seen: int, opening: str) -> str:
        return (await self.record_since(order, seen)).text(opening)

    # --- reading ----------------------------------------------------------------------------------------------------

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
        wanted = lambda _, kind: kind in QUESTION_TYPES  # noqa: E731  # short, and used once
        for _, event in events_between(job, self._journal, conversation, 0, until, wanted):
            if isinstance(event, ev.ApprovalRequested) and event.item_id == item:
                asked.add(event.approval_id)
            elif isinstance(event, ev.ApprovalResolved) and event.approval_id in asked:
                found = event
        return found

    def _read_missed(
        self, job: WorkerJob, conversation: ConversationId, seen: int, until: int, inputs: frozenset[ItemId]
    ) -> Seed:
        missed = Seed(self._room(), inputs)
        wanted = lambda _, kind: kind in RECORD_TYPES  # noqa: E731  # short, and used once
        for seq, event in events_between(job, self._journal, conversation, seen, until, wanted):
            missed.take(seq, event)
        return missed

    def _read_answers(self, job: WorkerJob, conversation: ConversationId, until: int) -> str:
        answers = AnsweredQuestions()
        wanted = lambda _, kind: kind in QUESTION_TYPES  # noqa: E731  # short, and used once
        for _, event in events_between(job, self._journal, conversation, 0, until, wanted):
            answers.take(event)
        return answers.text()


def _notes(order: RunAgent, lost: str, *, recorded: bool) -> list[str]:
    agent, notes = order.settings.agent, []
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
