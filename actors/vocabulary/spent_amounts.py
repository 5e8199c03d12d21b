"""The amounts that turns use up: counted from events, added, entered into the ledger. A leaf, plain arithmetic."""

from dataclasses import dataclass, fields

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.fast_replace import replace

MOST = 2**53 - 1  # of any amount: the most that JSON readers hold exactly
MOST_USD = 1e9  # the same for money, so that no server's number makes all sums meaningless


@dataclass(frozen=True)  # no slots: see `replacing`
class Spent:
    """Amounts that were used. `seconds`: of work, without waiting for people. `unpriced`: responses of unknown cost,
    so that `usd` is only the least that it may have been; `uncounted`: those of unknown tokens, likewise.
    """

    turns: int = 0
    requests: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_written_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    uncounted: int = 0

    def plus(self, more: "Spent") -> "Spent":
        """The sum. Most events tell of one or two amounts: only these are added."""
        if self is NOTHING:
            return more
        had = vars(self)
        changed = {name: min(had[name] + some, MOST) for name, some in vars(more).items() if some}
        return replace(self, **changed) if changed else self

    def minus(self, less: "Spent") -> "Spent":
        """The amounts that were added since; negative where some were taken back."""
        had = vars(less)
        return replace(NOTHING, **{name: now - had[name] for name, now in vars(self).items() if now != had[name]})

    @property
    def minutes(self) -> float:
        return self.seconds / 60


AMOUNTS = tuple(amount.name for amount in fields(Spent))
NOTHING = Spent()


class LedgerEntry(Struct, frozen=True):
    """Amounts for the ledger: on which model, in which directory and when they were spent."""

    model: str
    cwd: str
    ts: float
    spent: Spent


def spent_on(event: ev.DurableEvent) -> Spent | None:
    """The amounts that an event tells of. The time of a turn follows from the times of its events."""
    match event:
        case ev.TokenCount():
            return _counted_amounts(event) if event.counted else _uncounted_amounts(event)
        case ev.ToolCall():
            return _A_CALL
        case ev.WorkBegan():  # our own agent's work has its `tool_call`
            return None if event.agent_call is None else _A_CALL
        case ev.CallsLeft():
            return Spent(tool_calls=-_clamp(event.count))
        case ev.ModelRequested():
            return _A_REQUEST
        case ev.TurnEnd():
            return None if event.uncounted is None else _uncounted_amounts(event.uncounted)
        case _:
            return None


def _counted_amounts(count: ev.TokenCount) -> Spent:
    return Spent(
        requests=_clamp(count.requests),
        input_tokens=_clamp(count.input_tokens),
        cached_tokens=_clamp(count.cached_input_tokens or 0),
        cache_written_tokens=_clamp(count.cache_written_tokens or 0),
        output_tokens=_clamp(count.output_tokens),
        reasoning_tokens=_clamp(count.reasoning_output_tokens or 0),
        tokens=_clamp(count.total_tokens),
        usd=_usd(count.cost_usd),
        unpriced=int(count.cost_usd is None),
    )


def _uncounted_amounts(answer: ev.UncountedAnswer | ev.TokenCount) -> Spent:
    cost, requests = answer.cost_usd, _clamp(answer.requests)
    return replace(NOTHING, requests=requests, usd=_usd(cost), unpriced=int(cost is None), uncounted=1)


def _usd(cost: float | None) -> float:
    return 0.0 if cost is None else max(0.0, min(cost, MOST_USD))


def _clamp(number: int) -> int:
    """Limit a count to the possible ones: a server may report any number."""
    return max(0, min(number, MOST))


_A_CALL = Spent(tool_calls=1)
_A_REQUEST = Spent(requests=1)
