"""Usage that a third-party agent reports: tokens of each prompt, the cost as a growing sum, the context in use. Pure.

With some agents the sum is that of a process, with others that of a session, and with Claude Code it depends on how
the last process ended. So a sum below the last one has begun at zero, and all of it is new cost; of another sum, the
increase is. A process that was killed may go on from the sum with which it had begun: only a first sum below that has
begun at zero. No cent is counted twice.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from actors.vocabulary.event_bases import MOST
from actors.vocabulary.events import TokenCount
from supervisor.agents.acp.json_readers import Shape, amount, count, member_at, shape, shapes, short

NAME = 200
A_CENT_OF_A_CENT = 1e-6  # sums of floating numbers are not exact
DOLLARS = "USD"


class Tokens(Struct, frozen=True):
    read: int = 0
    cached: int | None = None
    cache_written: int | None = None
    written: int = 0
    reasoning: int | None = None


class AgentUsage:
    """`sum_usd`: the last sum of the process before; `from_usd`: the sum with which that process began."""

    def __init__(self, agent: str, sum_usd: float = 0.0, from_usd: float = 0.0) -> None:
        self._agent = agent
        self._sum = sum_usd
        self._kept = from_usd
        self._from: float | None = None  # known with the first sum of this process
        self._new_usd: float | None = None  # added since the last event
        self._context: int | None = None
        self._window: int | None = None
        self._has_report = False  # a report came since the last event
        self._model = ""

    def begin_anew(self) -> None:
        """Begin another session, whose sum does not include the last session's cost."""
        if not self._has_report:
            self._sum = self._kept = 0.0

    def take(self, update: Shape) -> None:
        """Take a report in the middle of a prompt; the event at its end has it."""
        self._context = _count(update.get("used"), self._context)
        self._window = _count(update.get("size"), self._window) or None
        self._model = short(member_at(update, "_meta", "_claude/model"), NAME) or self._model
        self._has_report = True
        cost = shape(update.get("cost"))
        total = amount(cost.get("amount"))
        if total is not None and cost.get("currency", DOLLARS) == DOLLARS:
            self._add(total)

    def usage_event(self, answer: Any = None, model: str = "") -> Iterator[TokenCount]:
        """Yield an event with all usage since the last one, after a prompt's answer or the end of unprompted work."""
        tokens = tokens_of(answer)
        if tokens is None and not self._has_report:
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
        self._has_report, self._new_usd = False, None

    def _add(self, total: float) -> None:
        goes_on_from = (self._sum, self._kept) if self._from is None else (self._sum,)
        before = next((start for start in goes_on_from if total >= start - A_CENT_OF_A_CENT), 0.0)
        if self._from is None:
            self._from = before
        self._new_usd = (self._new_usd or 0.0) + max(0.0, total - before)
        self._sum = total


def tokens_of(answer: Any) -> Tokens | None:
    """Return the tokens of a prompt from its answer; None if it has none."""
    usage = shape(member_at(answer, "usage"))
    if usage:
        return _of_usage(usage)
    counted = shape(member_at(answer, "_meta", "quota", "token_count"))  # Gemini's form
    read, written = count(counted.get("input_tokens")), count(counted.get("output_tokens"))
    return None if read is None and written is None else Tokens(read=_count(read, 0), written=_count(written, 0))


def _of_usage(usage: Shape) -> Tokens:
    """Return the tokens, the cached ones among those read. The total shows whether the agent counts them apart."""
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
    """Return the model that answered, if it was only one."""
    models = [short(entry.get("model"), NAME) for entry in shapes(member_at(answer, "_meta", "quota", "model_usage"))]
    return models[0] if len(models) == 1 else ""


def _count(value: Any, otherwise: Any) -> Any:
    number = count(value)
    return otherwise if number is None else min(number, MOST)
