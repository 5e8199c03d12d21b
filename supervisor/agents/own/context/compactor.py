"""Summing up a history: the model is asked for notes, which replace the part that they describe. Loop thread.

The request is the history as the model has read it, followed by the question, so that a provider's cache has all but
the last lines. A history that does not fit is summed up in pieces. Nothing is changed before the notes are there.
"""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary import events as ev
from actors.vocabulary.settings import Settings
from supervisor.agents.errors import ContextFull, FatalModelError
from supervisor.agents.history_outline import FILES, HistoryStep
from supervisor.agents.own.context.history_division import CompactionReason, Division, Measure, divide_history
from supervisor.agents.own.model import stream_events as stream
from supervisor.agents.own.model.answer_reader import Deliver
from supervisor.agents.own.model.request import MessageItem, ModelRequest, text_message
from supervisor.agents.own.model.retry import Build, Pause
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.model_events import token_count
from supervisor.agents.own.transcript.transcript import ModelTranscript
from supervisor.agents.own.transcript.transcripts import HistoryToSumUp, TranscriptCache
from supervisor.agents.own.transcript.wording import join_files, notes_request
from supervisor.agents.spending.usage import TokenUsage

REQUESTS = 24  # of one compaction: twenty full windows, and some that were refused
NOTES_ATTEMPTS = 2  # attempts: a model may call a tool instead of writing notes
WORDS_A_TOKEN = 0.7
BYTES_A_TOKEN = 4
LEAST_ROOM = 500  # tokens beside instructions and tools: no history fits into less
FITTING = 0.95  # of the window, for a request to sum up: the rest is room for an estimate that is wrong
WAY_OUT = "choose a model that reads more, or fork the conversation at an earlier point"
CUT_NOTE = "\n[the notes were cut here, as they were too long]"
LEFT_OUT = "[{count} items were too long to be read here, and are not in these notes]"

RequestFor = Callable[[Work, Settings, ModelTranscript, MessageItem], Awaitable[ModelRequest]]
Respond = Callable[[Build, Deliver, Callable[[Pause], Awaitable[None]]], Awaitable[None]]


class NothingToSumUp(FatalModelError):
    code = "nothing_to_sum_up"
    jsonrpc = -31512


class NoSummary(FatalModelError):
    code = "no_summary"
    jsonrpc = -31513


class TooManyRequests(FatalModelError):
    code = "too_many_requests"
    jsonrpc = -31514


class CompactionRequest(Struct, frozen=True):
    """A request to sum up. `before`: the tokens in the context now; `window`: the tokens that fit, where known."""

    why: CompactionReason
    measure: Measure
    settings: Settings
    before: int | None
    window: int | None


class Compactor:
    """One compaction of a turn's history."""

    def __init__(
        self,
        work: Work,
        wanted: CompactionRequest,
        transcripts: TranscriptCache,
        request_for: RequestFor,
        respond: Respond,
    ) -> None:
        self._work = work
        self._wanted = wanted
        self._transcripts = transcripts
        self._request_for = request_for
        self._respond = respond
        self._measure = wanted.measure
        self._window = wanted.window
        self._requests = 0
        self._left_out = 0

    async def compact(self) -> ev.Compacted:
        """Sum up, emit the event, and read the transcript anew. An interrupt before the event changes nothing."""
        work, order = self._work, self._work.turn.order
        until = await work.turn.wait_until_stored()
        past = await self._transcripts.read_for_summary(order.conversation, until, work.transcript.compaction)
        event = await self._sum_up(past, until)
        self._tell_losses(event)
        work.turn.emit(event)
        until = await work.turn.wait_until_stored()
        form = work.transcript.form
        work.transcript = await self._transcripts.reopen(order, work.transcript, until, form, event)
        return event

    async def _sum_up(self, past: HistoryToSumUp, until: int) -> ev.Compacted:
        """Divide the history and get notes about its older part; again, if the window proves smaller."""
        steps, announced = past.story.steps, False
        while True:
            parting = divide_history(steps, past.words, self._measure, self._wanted.why)
            if not parting.summed:
                raise NothingToSumUp("there is nothing to sum up: what there is stays as it is, word for word")
            end = steps[parting.summed].first_seq - 1 if parting.summed < len(steps) else until
            if not announced:
                self._tell(f"summing up the conversation up to event {end}{self._fullness}")
                announced = True
            try:
                notes = await self._notes(past, parting, end)
            except _SmallerThanThought as smaller:
                self._narrow(smaller.tokens)
                continue
            event = self._event(past, parting, end, notes.text)
            after = self._tokens_after(past, event)
            return event.model_copy(update={"response_id": notes.response_id, "tokens_after": after})

    def _narrow(self, refused: int) -> None:
        """Assume a window of half the refused size."""
        self._window = refused // 2
        if self._window < self._measure.overhead + LEAST_ROOM:
            raise ContextFull(f"the history does not fit into the model's context even in pieces; {WAY_OUT}")
        limit = min(self._measure.limit, round(self._window * FITTING))
        self._measure = replace(self._measure, limit=limit, firm=True)

    @property
    def _fullness(self) -> str:
        before, window = self._wanted.before, self._wanted.window
        if before is None:
            return ""
        of = f" of {window:,}" if window else ""
        return f": its context has {before:,}{of} tokens"

    def _tell(self, message: str) -> None:
        self._work.turn.emit(ev.BackgroundEvent(message=message))

    def _tell_losses(self, event: ev.Compacted) -> None:
        if event.words_cut_seq is not None:
            left = f"shortened to {event.words_cut_to} characters" if event.words_cut_to else "left out"
            self._tell(
                f"your messages up to event {event.words_cut_seq} are {left} in what the model reads: all of them "
                "together do not fit into its context; they stay in the history"
            )
        if event.left_out:
            self._tell(f"{event.left_out} items were too long for the model to read and are not in the summary")

    async def _notes(self, past: HistoryToSumUp, parting: Division, end: int) -> "Notes":
        """Return notes about all steps that are summed up, with the model's id of the last response."""
        steps = past.story.steps[: parting.summed]
        base, done, last = self._work.transcript.compaction, 0, None
        self._left_out = 0
        while done < len(steps):
            upto, size = self._fitting(past, steps, done, base)
            piece_end = steps[upto].first_seq - 1 if upto < len(steps) else end
            try:
                last = await self._ask(piece_end, base)
                text = last.text
            except ContextFull as refusal:
                if upto - done > 1:
                    raise _SmallerThanThought(size) from refusal
                text = self._notes_without(steps[done], base)
            base = self._event(past, parting, piece_end, text)
            done = upto
        assert base is not None, "at least one step is summed up"  # noqa: S101  # see _summed
        return Notes(base.summary, last.response_id if last else "")

    def _notes_without(self, step: HistoryStep, base: ev.Compacted | None) -> str:
        self._left_out += step.items
        before = f"{base.summary}\n\n" if base else ""
        return before + LEFT_OUT.format(count=step.items)

    def _fitting(
        self, past: HistoryToSumUp, steps: Sequence[HistoryStep], done: int, base: ev.Compacted | None
    ) -> tuple[int, int]:
        """Return the step before which the next request ends, at least one further, and its estimated tokens."""
        measure = self._measure
        said_before = [*past.words, *(spoken for step in steps[:done] for spoken in step.words)] if base else []
        stands = sum(len(spoken.text.encode(errors="replace")) for spoken in said_before) + len(
            base.summary if base else ""
        )
        size = measure.overhead + measure.tokens(stands) + measure.summary
        most = None if self._window is None else round(self._window * FITTING)
        for number in range(done, len(steps)):
            more = measure.tokens(steps[number].weight)
            if most is not None and number > done and size + more > most:
                return number, size
            size += more
        return len(steps), size

    async def _ask(self, until: int, base: ev.Compacted | None) -> "Notes":
        """Ask for notes about the history up to `until`."""
        work, wanted = self._work, self._wanted
        conversation, form = work.turn.order.conversation, work.transcript.form
        transcript = await self._transcripts.read(conversation, until, form, base)
        for again in range(NOTES_ATTEMPTS):
            if self._requests >= REQUESTS:
                raise TooManyRequests(f"the history could not be summed up in {REQUESTS} requests; {WAY_OUT}")
            self._requests += 1
            question = text_message(
                "user", notes_request(round(self._measure.summary * WORDS_A_TOKEN), again=bool(again))
            )
            heard = NotesReader(work)

            async def build(question: MessageItem = question, heard: NotesReader = heard) -> ModelRequest:
                heard.text = ""
                return await self._request_for(work, wanted.settings, transcript, question)

            await self._respond(build, heard.hear, self._notify)
            if heard.text.strip():
                return Notes(self._cut_to_bound(heard.text.strip()), heard.response_id)
        raise NoSummary(
            "the model gave no summary of the conversation, whose history stays as it was; try again, or choose "
            "another model"
        )

    async def _notify(self, pause: Pause) -> None:
        delay_ms = round(pause.delay_s * 1000)
        self._work.turn.emit(ev.StreamError(message=pause.text, attempt=pause.attempt, delay_ms=delay_ms))

    def _cut_to_bound(self, text: str) -> str:
        """Cut notes that are much longer than they were asked to be."""
        most = 2 * self._measure.summary * BYTES_A_TOKEN
        return text if len(text) <= most else text[:most] + CUT_NOTE

    def _event(self, past: HistoryToSumUp, parting: Division, end: int, notes: str) -> ev.Compacted:
        before = self._work.transcript.compaction
        return ev.Compacted(
            why=self._wanted.why,
            summary=notes,
            first_seq=before.first_seq if before else 1,
            last_seq=end,
            plan=past.story.plan or (before.plan if before else ()),
            files=join_files(before.files if before else (), past.story.files, FILES),
            model=self._wanted.settings.model,
            requests=max(1, self._requests),
            left_out=self._left_out,
            words_cut_seq=parting.cut_seq,
            words_cut_to=parting.cut_to,
            tokens_before=self._wanted.before,
            context_window=self._wanted.window,
        )

    def _tokens_after(self, past: HistoryToSumUp, event: ev.Compacted) -> int:
        """Estimate the tokens in the context after the event."""
        measure = self._measure
        words = [*past.words, *(spoken for step in past.story.steps for spoken in step.words)]
        kept = sum(step.weight for step in past.story.steps if step.first_seq > event.last_seq)
        stands = sum(
            min(len(spoken.text), event.words_cut_to)
            if spoken.seq <= (event.words_cut_seq or 0)
            else len(spoken.text)
            for spoken in words
            if spoken.seq <= event.last_seq
        )
        return measure.overhead + measure.tokens(kept + stands + len(event.summary))


class _SmallerThanThought(Exception):
    """A piece of so many tokens, by estimate, was refused."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens)
        self.tokens = tokens


class Notes(Struct, frozen=True):
    text: str
    response_id: str


class NotesReader:
    """The notes as they arrive. Only their cost becomes part of the conversation."""

    def __init__(self, work: Work) -> None:
        self.text = ""
        self.response_id = ""
        self._work = work

    async def hear(self, batch: Sequence[stream.StreamEvent]) -> None:
        for streamed in batch:
            match streamed:
                case stream.TextDone(text):
                    self.text += text
                case TokenUsage():
                    count = self._work.account.bill_response(token_count(streamed), streamed)
                    self._work.account.take(count)
                    self._work.turn.emit(count)
                case stream.ResponseEnd(response_id):
                    self.response_id = response_id
                case _:
                    pass
        await self._work.turn.wait_for_room()
