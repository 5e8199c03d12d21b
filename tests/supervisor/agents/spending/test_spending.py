"""Prices, the sums of the day, and circles: the parts of an account, without a turn."""

from datetime import date

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.errors import StorageFailed
from actors.vocabulary.ids import CallId, ItemId
from actors.vocabulary.spent_amounts import NOTHING, Spent
from supervisor.agents.spending.budget_checks import SCOPES, budget_reached
from supervisor.agents.spending.ledger import Ledger
from supervisor.agents.spending.prices import price_list, price_of
from supervisor.agents.spending.repetition import WARNING_MARK, Repetition, rounds
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.budgets import PriceTable

OPENAI, ROUTER = "https://api.openai.com/v1", "https://openrouter.ai/api/v1"
MILLION = 1_000_000


# --- prices ---


def cost(model: str, url: str, usage: TokenUsage, own: dict[str, PriceTable] | None = None) -> float | None:
    price = price_of(own or {}, "here", url, model)
    return None if price is None else price.cost_of(usage)


def test_the_file_of_prices_has_a_date_and_no_price_below_nothing() -> None:
    assert isinstance(price_list().date, date)
    for one in price_list().prices:
        assert one.hosts
        assert one.reported or one.output >= one.input > 0
        assert one.cached_input is None or one.cached_input <= one.input


def test_tokens_of_the_cache_have_their_own_price() -> None:
    usage = TokenUsage(3 * MILLION, MILLION, 4 * MILLION, cached=MILLION, cache_written=MILLION)
    assert cost("claude-sonnet-4-5", "https://api.anthropic.com/v1", usage) == 3.0 + 0.3 + 3.75 + 15.0


def test_a_long_request_has_the_price_of_long_requests() -> None:
    google = "https://generativelanguage.googleapis.com/v1beta/openai"
    assert cost("gemini-2.5-pro", google, TokenUsage(200_000, 0, 200_000)) == pytest.approx(0.25)
    assert cost("gemini-2.5-pro", google, TokenUsage(200_001, 0, 200_001)) == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("gpt-5", "http://localhost:11434/v1"),
        ("gpt-5", "https://a.gateway/v1"),
        ("gpt-99", OPENAI),
        ("x", "http://["),
    ],
)
def test_a_list_price_holds_at_the_vendors_own_address_only(model: str, url: str) -> None:
    assert price_of({}, "here", url, model) is None


@pytest.mark.parametrize("pattern", ["gpt-5", "gpt-*", "here/*", "here/gpt-5"])
def test_the_persons_own_price_goes_before_the_list(pattern: str) -> None:
    own = {pattern: PriceTable(input=1.0, output=2.0)}
    assert cost("gpt-5", OPENAI, TokenUsage(MILLION, MILLION, 2 * MILLION), own) == 3.0


def test_a_price_of_nothing_is_free_and_not_unknown() -> None:
    own = {"here/*": PriceTable(input=0.0, output=0.0)}
    assert cost("llama", "http://localhost:1/v1", TokenUsage(MILLION, MILLION, 2 * MILLION), own) == 0.0


def test_the_providers_own_word_goes_before_every_price() -> None:
    assert cost("anything", ROUTER, TokenUsage(10, 10, 20, cost=0.07)) == 0.07
    assert cost("anything", ROUTER, TokenUsage(10, 10, 20)) is None
    assert cost("gpt-5", OPENAI, TokenUsage(10, 10, 20, cost=0.07)) == 0.07


# --- the ledger ---


class Worker:
    unbegun = 0
    worked_s = 90.0


def test_a_new_day_begins_with_nothing_and_the_home_goes_on() -> None:
    now = "2026-03-01"
    ledger = Ledger(lambda since: Spent(requests=3 if since else 10), lambda: now)
    assert (ledger.day.requests, ledger.home.requests) == (3, 10)
    now = "2026-03-02"
    ledger.add(Spent(requests=1))
    assert (ledger.day.requests, ledger.home.requests) == (1, 11)


def test_a_clock_that_is_set_back_and_forth_gives_nothing_back() -> None:
    now = "2026-03-02"
    ledger = Ledger(lambda since: Spent(requests=3 if since else 10), lambda: now)
    ledger.add(Spent(requests=1))
    now = "2026-03-01"
    assert ledger.day.requests == 4
    ledger.add(Spent(requests=5))
    now = "2026-03-02"
    assert ledger.day.requests == 4
    now = "2030-01-01"
    assert ledger.day.requests == 0
    ledger.add(Spent(requests=1))
    now = "2026-03-02"
    assert ledger.day.requests == 5


def test_days_without_end_are_kept_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supervisor.agents.spending.ledger.DAYS", 3)
    now = [0]
    ledger = Ledger(day=lambda: str(now[0]))
    for day in range(1, 6):
        now[0] = day
        ledger.add(Spent(requests=1))
    assert len(ledger._days) == 3
    now[0] = 0
    assert ledger.day.requests == 5


def test_the_time_of_turns_that_run_is_part_of_the_sums() -> None:
    ledger = Ledger()
    ledger.running.add(Worker())
    assert (ledger.day.minutes, ledger.home.minutes) == (1.5, 1.5)


def test_a_ledger_that_cannot_be_read_says_why() -> None:
    def fails(_: str) -> Spent:
        raise StorageFailed("disk I/O error")

    ledger = Ledger(fails)
    assert ledger.trouble == "disk I/O error"
    assert ledger.home == NOTHING


# --- circles ---


@pytest.mark.parametrize(
    ("results", "times"),
    [([], 0), ([1], 1), ([1, 1, 1], 3), ([1, 2, 1, 2], 2), ([1, 2, 3, 1, 2, 3, 1, 2, 3], 3), ([1, 1, 2], 1),
     ([9, 1, 2, 1, 2, 1, 2], 3), ([1, 2, 3, 4, 5, 1, 2, 3, 4, 5], 1)],
)  # fmt: skip
def test_a_circle_is_counted_by_its_rounds(results: list[int], times: int) -> None:
    assert rounds(results) == times


def test_how_long_a_command_took_makes_no_other_result() -> None:
    seen = Repetition()
    for number, took in enumerate(("0.1", "2.5", "10.0")):
        item = ItemId(f"i{number}")
        seen.take(ev.ToolCall(call_id=CallId("c"), item_id=item, name="shell", arguments="{}"))
        text = '{"output":"x","metadata":{"exit_code":0,"duration_seconds":' + took + "}}"
        told = seen.with_warning(item, text)
        assert (WARNING_MARK in told) == (number == 2)
        seen.take(ev.ToolOutput(call_id=CallId("c"), item_id=item, output=told))
    assert seen.times() == 3


# --- words ---


@pytest.mark.parametrize(
    ("used", "limit", "words"),
    [
        (3, 2, "3 of 2 minutes"),
        (0.0043, 0.001, "0.0043 of 0.001"),
        (1.256, 1.25, "1.26 of 1.25"),
        (0.5, 0.1, "0.5 of 0.1"),
    ],
)
def test_a_small_amount_is_never_told_as_nothing(used: float, limit: float, words: str) -> None:
    assert f"has used {words}" in budget_reached("turn", "minutes", limit, used).message


def test_a_budget_for_all_says_that_it_is_for_all_and_since_when() -> None:
    told = {scope: budget_reached(scope, "requests", 2, 2).message.partition(";")[0] for scope in SCOPES}
    assert told["conversation"] == "this conversation has used 2 of 2 requests"
    assert told["day"] == "all conversations together have used 2 of 2 requests today"
    assert told["home"] == "all conversations together have used 2 of 2 requests since the first day"
