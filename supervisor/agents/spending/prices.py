"""Prices of models: a dated file of list prices, which the config can override. Unknown stays unknown."""

import tomllib
from collections.abc import Mapping
from datetime import date
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, convert

from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.budgets import PriceTable

FILE = Path(__file__).with_name("prices.toml")
MILLION = 1_000_000


class Rates(Struct, frozen=True):
    """US dollars per million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None

    def cost(self, usage: TokenUsage) -> float:
        """Return the cost. The tokens of caches are part of the input, and may cost less or more than the rest."""
        cached, written = usage.cached or 0, usage.cache_written or 0
        plain = max(0, usage.input - cached - written)
        read = self.input if self.cached_input is None else self.cached_input
        write = self.input if self.cache_write is None else self.cache_write
        return (plain * self.input + cached * read + written * write + usage.output * self.output) / MILLION


class LongRates(Rates, frozen=True, kw_only=True):
    """The rates of a request with more input than `above`."""

    above: int


class Price(Struct, frozen=True):
    """The price of a model at a provider. Without `rates`, the provider reports the cost of each response."""

    rates: Rates | None = None
    long: LongRates | None = None

    @property
    def is_free(self) -> bool:
        """Tell whether a response costs nothing, however many tokens it takes."""
        return self.long is None and self.rates is not None and not (self.rates.input or self.rates.output)

    def cost_of(self, usage: TokenUsage) -> float | None:
        """Return the cost of a response, by the provider's own report if there is one; None: not known."""
        if usage.cost is not None:
            return usage.cost
        rates = self.long if self.long is not None and usage.input > self.long.above else self.rates
        return None if rates is None else rates.cost(usage)


FREE = Price(Rates(0.0, 0.0))


class ListedPrice(Struct, frozen=True):
    hosts: tuple[str, ...]
    models: tuple[str, ...]
    input: float = 0.0
    output: float = 0.0
    cached_input: float | None = None
    cache_write: float | None = None
    reported: bool = False
    long: LongRates | None = None

    @property
    def price(self) -> Price:
        rates = Rates(self.input, self.output, self.cached_input, self.cache_write)
        return Price(None if self.reported else rates, self.long)


class PriceList(Struct, frozen=True):
    """The prices of the file, and the day on which they were looked up."""

    date: date
    prices: tuple[ListedPrice, ...]


@cache
def price_list() -> PriceList:
    """Read the file, at the first turn that wants a price."""
    tree: Any = tomllib.loads(FILE.read_text())
    return convert(tree, PriceList)


def price_of(own: Mapping[str, PriceTable], provider: str, base_url: str, model: str) -> Price | None:
    """Return the config's price for the model, or its list price, which holds only at the vendor's own address."""
    for pattern, table in own.items():
        if fnmatchcase(model, pattern) or fnmatchcase(f"{provider}/{model}", pattern):
            return Price(Rates(table.input, table.output, table.cached_input, table.cache_write))
    return _list_price(base_url, model)


@lru_cache(256)  # the models in use, with room to spare: every turn asks
def _list_price(base_url: str, model: str) -> Price | None:
    host = _host(base_url)
    for entry in price_list().prices:
        if host in entry.hosts and any(fnmatchcase(model, pattern) for pattern in entry.models):
            return entry.price
    return None


def _host(base_url: str) -> str:
    try:
        return urlsplit(base_url).hostname or ""
    except ValueError:
        return ""
