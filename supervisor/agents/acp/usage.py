"""Reports of an agent on what it used: tokens by prompt, the cost as a sum that grows, the context as it is. Pure.

The sum is of a process with some agents, of a session with others, and with Claude Code it depends on how the last
process ended. So there are two quantities: what is retired, and the present sum. A sum below the last one has begun
anew, and all of it is new; otherwise what was added to it is. One that was killed may have kept the sum with which
it began, and goes on from there: what is below that has begun anew. No cent is counted twice.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from actors.vocabulary.event_bases import MOST
from actors.vocabulary.events import TokenCount
from supervisor.agents.acp.shapes import Shape, amount, count, shape, shapes, short, within

NAME = 200
A_CENT_OF_A_CENT = 1e-6  # sums of floating numbers are not exact
DOLLARS = "USD"


class Tokens(Struct, frozen=True):
    read: int = 0
    cached: int | None = None
    cache_written: int | None = None
    written: int = 0
    reasoning: int | None = None


class Usage:
    """`sum_usd`: the last sum that was told in the process before, `from_usd` the one with which that began."""

    def __init__(self, agent: str, sum_usd: float = 0.0, from_usd: float = 0.0) -> None:
        self._agent = agent
        self._sum = sum_usd
        self._kept = from_usd
        self._from: float | None = None  # known with the first sum of this process
        self._new_usd: float | None = None  # added since the last event
        self._context: int | None = None
        self._window: int | None = None
        self._told = False  # a report came since the last event
        self._model = ""

    def begin_anew(self) -> None:
        """Another session begins: what the last one has cost is no part of its sum."""
        if not self._told:
            self._sum = self._kept = 0.0

    def take(self, update: Shape) -> None:
        """A report in the middle: what it says is told with the end of its prompt."""
        self._context = _count(update.get("used"), self._context)
        self._window = _count(update.get("size"), self._window) or None
        self._model = short(within(update, "_meta", "_claude/model"), NAME) or self._model
        self._told = True
        cost = shape(update.get("cost"))
        total = amount(cost.get("amount"))
        if total is not None and cost.get("currency", DOLLARS) == DOLLARS:
            self._add(total)

    def answered(self, answer: Any = None, model: str = "") -> Iterator[TokenCount]:
        """A prompt is answered, or its work is over without: one event with all that was used since the last."""
        tokens = tokens_of(answer)
        if tokens is None and not self._told:
            return
        self._model = _model_of(answer) or self._model
        used = tokens or Tokens()
        yield TokenCount(
            input_tokens=used.read,
            cached_input_tokens=used.cached,
            cache_written_tokens=used.cache_written,
            output_tokens=used.written,
            reasoning_output_tokens=used.reasoning,
            total_tokens=used.read + used.written,
            context_tokens=self._context,
            context_window=self._window,
            model=self._model or model,
            provider=self._agent,
            cost_usd=self._new_usd,
            agent_sum_usd=self._sum or None,
            agent_sum_from_usd=self._from or None,
        )
        self._told, self._new_usd = False, None

    def _add(self, total: float) -> None:
        goes_on_from = (self._sum, self._kept) if self._from is None else (self._sum,)
        before = next((one for one in goes_on_from if total >= one - A_CENT_OF_A_CENT), 0.0)
        if self._from is None:
            self._from = before
        self._new_usd = (self._new_usd or 0.0) + max(0.0, total - before)
        self._sum = total


def tokens_of(answer: Any) -> Tokens | None:
    """The tokens of a prompt, as its answer has them; None where it says nothing of them."""
    usage = shape(within(answer, "usage"))
    if usage:
        return _of_usage(usage)
    counted = shape(within(answer, "_meta", "quota", "token_count"))  # as Gemini says it
    read, written = count(counted.get("input_tokens")), count(counted.get("output_tokens"))
    return None if read is None and written is None else Tokens(read=_count(read, 0), written=_count(written, 0))


def _of_usage(usage: Shape) -> Tokens:
    """The tokens that were read include those from the cache: agents count them apart where their sum says so."""
    names = ("inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens", "thoughtTokens", "totalTokens")
    read, written, cached, cache_written, thought, total = (_count(usage.get(name), None) for name in names)
    inside = total is not None and total == (read or 0) + (written or 0)
    beside = 0 if inside else (cached or 0) + (cache_written or 0)
    everything = (read or 0) + beside + (written or 0) + (thought or 0)
    thought_beside = thought if total == everything and not inside else 0
    return Tokens(
        read=min((read or 0) + beside, MOST),
        cached=cached,
        cache_written=cache_written,
        written=min((written or 0) + (thought_beside or 0), MOST),
        reasoning=thought,
    )


def _model_of(answer: Any) -> str:
    """The model that answered, where it was one alone."""
    models = [short(one.get("model"), NAME) for one in shapes(within(answer, "_meta", "quota", "model_usage"))]
    return models[0] if len(models) == 1 else ""


def _count(value: Any, otherwise: Any) -> Any:
    number = count(value)
    return otherwise if number is None else min(number, MOST)
