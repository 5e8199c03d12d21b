"""Room for the next request: checked before each, made when it is short, after a refusal, or when a person asks.

Loop thread. A request's size is an estimate, see gauge.py; an unknown window is never guessed.
"""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.settings import Settings
from supervisor.agents.errors import ContextFull
from supervisor.agents.own.context.compactor import (
    WAY_OUT,
    CompactionRequest,
    Compactor,
    NothingToSumUp,
    RequestFor,
    Respond,
)
from supervisor.agents.own.context.history_division import CompactionReason, Measure
from supervisor.agents.own.context.window import ContextWindow
from supervisor.agents.own.model.window_refusals import refusal_in
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.transcripts import TranscriptCache

SURE_LOAD = 8_000  # bytes of a history that fit everywhere: before more is sent, a server's answer is waited for
GROWN = 1.1  # a history in which nothing could be summed up is looked at again when it has grown by a tenth
REFUSED_SHARE = 0.8  # of a request that was refused by a server whose window is not known
LEAST = 1_000  # tokens: no turn could go on with less

Overhead = Callable[[Work, Settings], Awaitable[int]]


class CompactAt(Struct, frozen=True):
    """The fullness at which a history is summed up: a share of the window, or a number of tokens."""

    share: float = 0.8
    tokens: int | None = None

    def limit(self, window: int | None) -> int | None:
        limits = [self.tokens, None if window is None else round(window * self.share)]
        return min((limit for limit in limits if limit is not None), default=None)


class ContextKeeper:
    def __init__(
        self, transcripts: TranscriptCache, at: CompactAt, request_for: RequestFor, overhead: Overhead
    ) -> None:
        self._transcripts = transcripts
        self._at = at
        self._request_for = request_for
        self._overhead = overhead

    async def make_room(self, work: Work, settings: Settings, window: ContextWindow, respond: Respond) -> None:
        """Sum up before the next request, if that would exceed the limit."""
        load = work.transcript.load
        tokens = window.tokens
        if load <= SURE_LOAD and (tokens is None or tokens > SURE_LOAD):
            return
        limit = self._at.limit(tokens or await window.wait_until_known())
        gauge = work.transcript.gauge
        if limit is None or gauge.at_most(load) < limit or load < work.transcript.futile_load * GROWN:
            return
        overhead = await self._overhead(work, settings)
        before, rate = gauge.estimate(load, overhead), gauge.rate(overhead)
        if before < limit:
            return
        try:
            await self._compact("limit", work, settings, window, respond, _Count(limit, before, rate, overhead))
        except NothingToSumUp:
            work.transcript.futile_load = load  # the server will say if it does not fit

    async def make_room_after_refusal(
        self, refusal: ContextFull, work: Work, settings: Settings, window: ContextWindow, respond: Respond
    ) -> None:
        """Sum up because a server has refused the history as too long."""
        numbers, overhead = refusal_in(refusal.message), await self._overhead(work, settings)
        if numbers.window is not None:
            window.learn(numbers.window)
        estimated = work.transcript.gauge.estimate(work.transcript.load, overhead)
        before = numbers.counted or max(estimated, window.tokens or 0)
        limit = min(self._at.limit(window.tokens) or before, round(before * REFUSED_SHARE))
        rate = max(work.transcript.gauge.rate(overhead), before / max(1, work.transcript.load + overhead))
        try:
            await self._compact(
                "refused", work, settings, window, respond, _Count(max(limit, LEAST), before, rate, overhead)
            )
        except NothingToSumUp as nothing:
            raise ContextFull(
                "the model's server says that the message does not fit into its context, and there is nothing to sum "
                f"up: send a shorter one, or choose a model that reads more ({refusal.message})"
            ) from nothing

    async def make_room_on_request(
        self, work: Work, settings: Settings, window: ContextWindow, respond: Respond
    ) -> ev.Compacted:
        """Sum up because a person asked for it."""
        overhead, gauge = await self._overhead(work, settings), work.transcript.gauge
        before = gauge.estimate(work.transcript.load, overhead)
        limit = self._at.limit(await window.wait_until_known())
        count = _Count(limit or max(before, LEAST), before, gauge.rate(overhead), overhead, firm=limit is not None)
        return await self._compact("asked", work, settings, window, respond, count)

    async def _compact(
        self,
        why: CompactionReason,
        work: Work,
        settings: Settings,
        window: ContextWindow,
        respond: Respond,
        count: "_Count",
    ) -> ev.Compacted:
        measure = Measure(count.limit, round(count.overhead * count.rate), count.rate, count.firm)
        wanted = CompactionRequest(why, measure, settings, count.before, window.tokens)
        return await Compactor(work, wanted, self._transcripts, self._request_for, respond).compact()


class _Count(Struct, frozen=True):
    """The limit, the tokens in the context, the tokens a byte, and the bytes of a request that are not history."""

    limit: int
    before: int
    rate: float
    overhead: int
    firm: bool = True


def still_too_long(refusal: ContextFull) -> ContextFull:
    return ContextFull(
        f"the history does not fit into the model's context, though it was summed up just now; {WAY_OUT} "
        f"({refusal.message})"
    )
