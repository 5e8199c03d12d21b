"""Budgets from the command line: a turn that one ends, what a person does then, and what was spent."""

import json
from collections.abc import Iterator

import pytest

from tests.supervisor.cli.place import Place, a_place
from tests.support.engine_harness import provider
from tests.support.model_server import ModelServer

LONG = "run echo 1; then run echo 2; then run echo 3; then say done"


@pytest.fixture
def short() -> Iterator[Place]:
    """A place in which a conversation may send two requests."""
    with a_place() as made:
        config = made.home / "config.toml"
        config.write_text(config.read_text() + "[greenroom.budget.conversation]\nrequests = 2\n")
        made.run("up")
        yield made


@pytest.fixture
def silent() -> Iterator[Place]:
    """A place whose model server tells no tokens."""
    with a_place() as made, ModelServer() as server:
        (made.home / "config.toml").write_text(
            f'model_provider = "mock"\nmodel = "some"\n{provider(server.base_url)}'
        )
        made.run("up")
        yield made


def test_12_a_budget_ends_the_turn_and_says_which(short: Place) -> None:
    done = short.run("run", "--approval", "never", LONG, code=12)
    assert "stopped by a budget: this conversation has used 2 of 2 requests" in done.stderr
    assert "--raise requests=NUMBER" in done.stderr


def test_a_person_raises_a_budget_and_goes_on(short: Place) -> None:
    short.run("run", "--name", "long", "--approval", "never", LONG, code=12)
    short.run("send", "long", "say again", "--wait", code=12)
    rows = short.json("budget", "long", "--raise", "requests=+2", "--json", "scope,unit,used,limit")
    assert {"scope": "conversation", "unit": "requests", "used": 2.0, "limit": 4.0} in rows
    assert "again" in short.run("send", "long", "say again", "--wait").stdout
    changed = [json.loads(line) for line in short.said("logs", "long", "--json").splitlines()]
    (raised,) = [one for one in changed if one["type"] == "settings_changed"]
    assert raised["by"].startswith("greenroom")


def test_messages_after_a_spent_budget_are_held(short: Place) -> None:
    conversation = short.new(f"run sleep 0.5; then {LONG}", "--approval", "never")
    short.run("send", conversation, "say later", "--if-busy", "enqueue")
    short.run("wait", conversation, "--for", "done", "-t", "15", code=12)
    assert "1 message, held until `greenroom queue" in short.said("status", conversation)


def test_a_killed_daemon_gives_no_request_back(short: Place) -> None:
    conversation = short.new("count 500")
    short.run("events", "-n", "1", "-t", "5", "--filter", "type=model_requested", "--since", "1m", conversation)
    short.kill()
    short.run("up")
    rows = short.json("budget", conversation, "--json", "scope,unit,used")
    assert {"scope": "conversation", "unit": "requests", "used": 1.0} in rows
    assert {"scope": "home", "unit": "requests", "used": 1.0} in rows


def test_a_limit_that_is_none_is_refused_in_one_line(short: Place) -> None:
    conversation = short.new("say x")
    for limit, told in (("usd=+1", "no limit that could be raised"), ("day.usd=1", "name no conversation")):
        assert told in short.run("budget", conversation, "--raise", limit, code=2).stderr


def test_a_budget_of_the_day_is_refused_for_one_conversation(short: Place) -> None:
    told = short.run("run", "-c", "greenroom.budget.day.usd=1", "say x", code=2).stderr
    assert "for all conversations together" in told


def test_usage_adds_up_by_day_model_directory_and_conversation(short: Place) -> None:
    first, second = short.new("say one"), short.new("say two")
    for one in (first, second):
        short.at_rest(one)
    sums = {
        by: short.json("usage", "--by", by, "--json", "group,tokens,turns") for by in ("day", "model", "directory")
    }
    totals = {by: sum(row["tokens"] for row in rows) for by, rows in sums.items()}
    table = short.said("usage", "--by", "conversation").splitlines()
    assert {len(line.partition("\t")[0]) for line in table[1:]} == {8}  # an id as other lists have it
    by_conversation = short.json("usage", "--by", "conversation", "--json", "group,tokens,turns")
    assert {row["group"] for row in by_conversation} == {first, second}
    assert set(totals.values()) == {sum(row["tokens"] for row in by_conversation)}
    short.run("rm", "-f", first)
    assert [row["group"] for row in short.json("usage", "--by", "conversation", "--json", "group")] == [second]
    assert sum(row["tokens"] for row in short.json("usage", "--json", "tokens")) == totals["day"]


def test_a_price_that_is_not_known_is_shown_as_such(short: Place) -> None:
    short.at_rest(short.new("say one"))
    assert short.json("ls", "--json", "usd,unpriced") == [{"usd": 0.0, "unpriced": 0}]  # the demo model is free
    assert "$0" in short.said("usage")


def test_tokens_that_no_server_tells_are_shown_as_unknown(silent: Place) -> None:
    done = silent.run("run", "--name", "local", "say one")
    assert "? tokens" in done.stdout + done.stderr
    (row,) = silent.json("usage", "--json", "requests,tokens,input_tokens,usd,unpriced,uncounted")
    assert row == {
        "requests": 1, "tokens": None, "input_tokens": None, "usd": None, "unpriced": 1, "uncounted": 1,
    }  # fmt: skip
    last = silent.said("usage").splitlines()[-1].split("\t")
    assert last[2] == "1"
    assert last[5:] == ["?", "?", "?"]
    assert "? tokens, cost ?" in silent.said("status", "local")
    assert silent.json("ls", "--json", "tokens,uncounted") == [{"tokens": 0, "uncounted": 1}]


# --- the budgets of the day and of the home ---


@pytest.fixture
def capped() -> Iterator[Place]:
    """A place in which all conversations together may send two requests a day, and three for ever."""
    with a_place() as made:
        config = made.home / "config.toml"
        config.write_text(
            config.read_text() + "[greenroom.budget.day]\nrequests = 2\n[greenroom.budget.home]\nrequests = 3\n"
        )
        made.run("up")
        yield made


def shared(place: Place, *words: str) -> dict[str, tuple[float, float]]:
    rows = place.json("budget", *words, "--json", "scope,unit,used,limit")
    return {f"{row['scope']}.{row['unit']}": (row["used"], row["limit"]) for row in rows if row["limit"] is not None}


def test_a_person_raises_the_budget_of_the_day_and_goes_on(capped: Place) -> None:
    done = capped.run("run", "--name", "long", "--approval", "never", LONG, code=12)
    assert "raise it for today with `greenroom budget --raise day.requests=NUMBER`" in done.stderr.replace(
        "\n  ", " "
    )
    assert shared(capped, "--raise", "day.requests=+2") == {"day.requests": (2.0, 4.0), "home.requests": (2.0, 3.0)}
    assert "again" in capped.run("send", "long", "say again", "--wait").stdout
    done = capped.run("send", "long", "say more", "--wait", code=12)
    assert "`greenroom budget --raise home.requests=NUMBER`" in done.stderr.replace("\n  ", " ")
    capped.run("budget", "--raise", "home.requests=10")
    assert "more" in capped.run("send", "long", "say more", "--wait").stdout


def test_a_raise_outlives_the_daemon_and_says_who_made_it(capped: Place) -> None:
    capped.run("budget", "--raise", "home.requests=10", "--raise", "day.requests=5")
    capped.kill()
    capped.run("up")
    rows = capped.json("budget", "--json", "scope,unit,limit,raised_by,raised_at")
    raised = [row for row in rows if row["raised_by"]]
    assert [(row["scope"], row["limit"]) for row in raised] == [("day", 5.0), ("home", 10.0)]
    assert all(row["raised_by"].startswith("greenroom") and row["raised_at"] > 0 for row in raised)
    line = capped.said("budget").splitlines()[1].split("\t")
    assert line[:3] == ["day.requests", "0", "5"]
    assert line[3].startswith("by greenroom")


def test_a_raise_that_is_taken_back_leaves_the_limit_of_the_configuration(capped: Place) -> None:
    conversation = capped.new("say one")
    capped.run("budget", "--raise", "day.requests=5")
    assert shared(capped, "--reset", "day.requests")["day.requests"][1] == 2.0
    capped.run("budget", conversation, "--raise", "turn.requests=5")
    assert shared(capped, conversation)["turn.requests"][1] == 5.0
    assert "turn.requests" not in shared(capped, conversation, "--reset", "turn.requests")


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("day.requests=2", "no more than the 2 of the configuration"),
        ("day.requests=-1", "at least 1"),
        ("day.usd=+1", "greenroom.budget.day.usd in the configuration sets one"),
        ("requests=5", "need the conversation"),
        ("day.requests=many", "is not a number"),
    ],
)
def test_a_raise_that_is_none_is_refused_in_one_line_and_nothing_is_raised(
    capped: Place, limit: str, told: str
) -> None:
    refused = capped.run("budget", "--raise", "home.requests=9", "--raise", limit, code=2)
    assert told in refused.stderr
    assert shared(capped)["home.requests"][1] == 3.0


# --- copies ---


def totals(place: Place) -> dict[str, float]:
    """The sums of all, and of each conversation."""
    rows = place.json("usage", "--by", "conversation", "--json", "group,requests,tokens")
    (all_,) = place.json("usage", "--json", "tokens")
    return {"": all_["tokens"], **{row["group"]: row["tokens"] for row in rows}}


def test_a_fork_begins_with_what_its_history_has_used_and_the_ledger_counts_it_once(short: Place) -> None:
    source = short.new("say one")
    short.at_rest(source)
    before = totals(short)
    fork = short.said("fork", source)
    assert shared(short, fork)["conversation.requests"] == (1.0, 2.0)
    assert totals(short) == before
    short.run("send", fork, "say two", "--wait")
    short.run("send", fork, "say three", "--wait", code=12)
    after = totals(short)
    assert after[""] - before[""] == after[fork] > 0
    assert after[source] == before[source]


def test_an_import_begins_with_what_its_history_has_used_and_is_not_counted_again(short: Place) -> None:
    source = short.new("say one")
    short.at_rest(source)
    file = str(short.work / "one.jsonl")
    short.run("export", source, file)
    before = totals(short)
    copy = short.said("import", file, "--new-id")
    assert shared(short, copy)["conversation.requests"] == (1.0, 2.0)
    assert totals(short) == before
    short.run("rm", "-f", source)
    assert short.said("import", file) == source
    assert totals(short) == {"": before[""]}
    (row,) = [row for row in short.json("ls", "--json", "id,tokens") if row["id"] == source]
    assert row["tokens"] == before[source]
