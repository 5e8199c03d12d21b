"""The tokens that one response of a model used, as its server reports them. A leaf."""

from msgspec import Struct


class TokenUsage(Struct, frozen=True):
    """Tokens of this response. None where the server gave no number. Those of the caches are part of `input`.

    `cost` is in US dollars, where the provider reports it.
    """

    input: int
    output: int
    total: int
    cached: int | None = None
    reasoning: int | None = None
    cache_written: int | None = None
    cost: float | None = None
