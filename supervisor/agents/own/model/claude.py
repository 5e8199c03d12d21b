"""Claude models, as documented in November 2026: how they think, and how long their answers get. Pure.

A newer model is taken to be like the newest one here. Models of other makers have no entry.
"""

import re
from functools import lru_cache

from msgspec import Struct

from actors.vocabulary.settings import ReasoningEffort, ReasoningSummary
from supervisor.agents.own.model.decoding import Object

LONG_ANSWER = 64_000  # tokens: enough for long thinking and a large file, and far below the limit of these models
ANSWER = 32_000  # of older models and of other makers'; a cut answer ends the turn, and unused tokens cost nothing
LEAST_BUDGET = 1024  # of thinking; a smaller one is refused

BOUND_THINKING = "thinking-binding-controls-2026-08-01"  # the feature's name in `anthropic-beta`

BUDGETS = {
    ReasoningEffort.MINIMAL: 1_024,
    ReasoningEffort.LOW: 4_096,
    ReasoningEffort.MEDIUM: 10_000,
    ReasoningEffort.HIGH: 24_000,
}
EFFORTS = {
    ReasoningEffort.MINIMAL: "low",
    ReasoningEffort.LOW: "low",
    ReasoningEffort.MEDIUM: "medium",
    ReasoningEffort.HIGH: "high",
}
_FAMILY_FIRST = re.compile(r"claude-([a-z]+)-(?:(\d)(?:[-.](\d)(?!\d))?|preview)")
_VERSION_FIRST = re.compile(r"claude-(\d)(?:[-.](\d))?-([a-z]+)")


class Claude(Struct, frozen=True):
    family: str
    version: tuple[int, int]

    @property
    def thinks(self) -> bool:
        return self.version >= (3, 7)

    @property
    def thinks_adaptively(self) -> bool:
        """The model decides how long to think, by effort; newer models refuse a budget."""
        return self.version >= (4, 6)

    @property
    def binds_thinking(self) -> bool:
        """Thinking that follows a changed part is refused, unless a request says to drop it."""
        return self.version >= ((5, 1) if self.family in {"fable", "mythos"} else (5, 5))

    @property
    def always_thinks(self) -> bool:
        return self.binds_thinking or self.family in {"fable", "mythos"}


@lru_cache(64)
def claude_named(model: str) -> Claude | None:
    """Return the Claude model of this name, which may have a maker before it and a date after it."""
    if found := _VERSION_FIRST.search(model):
        return Claude(found[3], (int(found[1]), int(found[2] or 0)))
    if found := _FAMILY_FIRST.search(model):
        return Claude(found[1], (int(found[2] or 5), int(found[3] or 0)))
    return None


def longest_answer(model: str) -> int:
    """Return the tokens to allow for an answer, its thinking included, where the config says nothing."""
    claude = claude_named(model)
    if claude is None or (3, 7) <= claude.version < (4, 6):
        return ANSWER
    if claude.version < (3, 7):
        return 8_192 if claude.version >= (3, 5) else 4_096
    return LONG_ANSWER


def thinking(model: str, effort: ReasoningEffort, summary: ReasoningSummary, longest: int) -> Object:
    """Return the members of a request that say how much to think."""
    claude, off = claude_named(model), effort is ReasoningEffort.NONE
    if claude is None:  # other makers' models think as they do by default; some refuse to be asked for it
        return {"thinking": {"type": "disabled"}} if off else {}
    if claude.thinks_adaptively:
        return _adaptive(claude, effort, summary)
    budget = min(BUDGETS.get(effort, 0), longest // 2)
    enough = claude.thinks and budget >= LEAST_BUDGET
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if enough else {}


def _adaptive(claude: Claude, effort: ReasoningEffort, summary: ReasoningSummary) -> Object:
    off = effort is ReasoningEffort.NONE
    if off and not claude.always_thinks:
        return {"thinking": {"type": "disabled"}} if claude.version >= (5, 0) else {}
    shown = "omitted" if off or summary is ReasoningSummary.NONE else "summarized"
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}} if claude.binds_thinking else {}
    return {
        "thinking": {"type": "adaptive", "display": shown, **binding},
        "output_config": {"effort": EFFORTS.get(effort, "low")},
    }


def features(model: str) -> str:
    """Return the features that a request to the model uses before they are part of the API."""
    claude = claude_named(model)
    return BOUND_THINKING if claude is not None and claude.binds_thinking else ""
