"""The tables of budgets and prices: the limits at which a turn is stopped, and the prices of models."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field
from pydantic.types import Strict

from supervisor.config.config_table import ConfigTable, Integer, Positive
from supervisor.config.key_types import Expect

Amount = Annotated[float, Strict(), Field(gt=0, le=1e12), Expect("a number, more than 0 and at most 10^12")]
Price = Annotated[float, Strict(), Field(ge=0, le=1e6), Expect("a number from 0 to 1,000,000")]


class BudgetTable(ConfigTable):
    """A budget. A key that is unset has no limit."""

    requests: Positive | None = Field(None, description="Requests to models. One that is tried again counts again.")
    tool_calls: Positive | None = Field(None, description="Calls of tools.")
    minutes: Amount | None = Field(
        None, description="Minutes of work: turns that run, without the time in which they wait for a person."
    )
    tokens: Positive | None = Field(None, description="Tokens, read and written together.")
    usd: Amount | None = Field(
        None, description="US dollars. A model whose price is not known is not asked while this is set."
    )


class BudgetsTable(ConfigTable):
    """Budgets. Checked before each request to a model; a turn that has used up a budget ends as `budget`."""

    turn: BudgetTable = Field(BudgetTable.model_construct(), description="For each turn.")
    conversation: BudgetTable = Field(
        BudgetTable.model_construct(), description="For each conversation, with all its turns."
    )
    day: BudgetTable = Field(
        BudgetTable.model_construct(), description="For all conversations together, on one day of local time."
    )
    home: BudgetTable = Field(
        BudgetTable.model_construct(), description="For all conversations together, from the first day on."
    )
    repetitions: Integer = Field(
        10,
        ge=0,
        le=1_000,
        description="Stop a turn whose model makes the same calls with the same results so often in a row; after the "
        "third time it is told. 0: never.",
    )


class PriceTable(ConfigTable):
    """Prices of a model in US dollars per million tokens. All of them 0: the model is free."""

    input: Price = Field(description="Tokens that it reads.")
    output: Price = Field(description="Tokens that it writes.")
    cached_input: Price | None = Field(
        None, description="Tokens that it reads from its cache. Unset: as all others that it reads."
    )
    cache_write: Price | None = Field(
        None, description="Tokens that are written to its cache. Unset: as all others that it reads."
    )


Prices = Mapping[Annotated[str, Field(min_length=1)], PriceTable]
