"""Raises of the budgets that all conversations share, and which are in force. A leaf."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

SharedScope = Literal["day", "home"]
Unit = Literal["requests", "tool_calls", "minutes", "tokens", "usd"]


class Raise(Struct, frozen=True):
    """A larger limit than the configuration has. A day's counts on that day, the home's until taken back."""

    scope: SharedScope
    unit: Unit
    day: str  # of local time, 2026-03-01; empty: every day
    limit: float
    ts: float
    by: str


def in_force(raises: Iterable[Raise], day: str) -> tuple[Raise, ...]:
    return tuple(known for known in raises if known.day in {"", day})
