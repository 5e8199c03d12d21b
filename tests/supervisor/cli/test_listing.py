"""`ls`, `top` and `status` in windows of three widths, and what they say of a turn that did not end well."""

import json
from collections.abc import Iterator

import pytest

from tests.supervisor.cli.place import Place, a_place, until
from tests.supervisor.cli.test_top import HELP
from tests.support.engine_harness import provider

ALWAYS = ["ID", "NAME", "STATE", "AGE", "DIRECTORY", "ABOUT"]
LONG_NAME = "a-name-that-is-long-enough-for-two"
NOBODY = "http://127.0.0.1:1"  # no port that anybody listens at
TURNS = "[greenroom.budget.turn]\nrequests = 2\n"


@pytest.fixture(scope="module")
def ended() -> Iterator[Place]:
    """A conversation for each way in which a turn can end, named for it."""
    with a_place() as made:
        config = made.home / "config.toml"
        config.write_text(f"{config.read_text()}{provider(NOBODY)}{TURNS}", encoding="utf-8")
        made.run("up")
        made.run("run", "--name", "completed", "say x")
        made.run("run", "--name", "error", "-m", "some", "--provider", "mock", "say x", code=10)
        made.run("run", "--name", "budget", "--approval", "never", "run echo 1; then run echo 2; then say y", code=12)
        made.asking("--name", "denied")
        made.run("deny", "denied", "--abort")
        made.run("wait", "denied", code=13)
        made.new("count 500", "--name", "interrupted")
        made.run("interrupt", "interrupted")
        made.new("count 500", "--name", "lost")
        until(lambda: made.said("inspect", "lost", "--format", "{state}") == "running")
        made.kill()
        made.run("up")
        made.run("wait", "lost", "--for", "idle")
        yield made


STATE_OF = {
    "completed": "parked",
    "interrupted": "parked",
    "error": "failed",
    "budget": "over-budget",
    "denied": "denied",
    "lost": "lost",
}


def test_the_state_tells_how_the_last_turn_ended_also_after_a_restart(ended: Place) -> None:
    """All but the lost one were asleep when the daemon was killed, and are rows alone."""
    rows = {row["name"]: row for row in ended.json("ls", "--json")}
    assert {name: row["ended"] for name, row in rows.items()} == {name: name for name in STATE_OF}
    assert {name: row["state"] for name, row in rows.items()} | {"lost": "lost"} == STATE_OF
    found = {name: json.loads(ended.said("inspect", name)) for name in STATE_OF}
    assert {name: (one["state"].replace("idle", "parked"), one["ended"]) for name, one in found.items()} == {
        name: (state, name) for name, state in STATE_OF.items()
    }


@pytest.mark.parametrize("state", ["failed", "denied", "lost", "over-budget"])
def test_a_filter_knows_each_of_them(ended: Place, state: str) -> None:
    names = [name for name, one in STATE_OF.items() if one == state]
    assert [row["name"] for row in ended.json("ls", "--state", state, "--json", "name")] == names
    assert [row["name"] for row in ended.json("ls", "--filter", f"state={state}", "--json", "name")] == names


def test_people_read_it_in_ls_top_and_status(ended: Place) -> None:
    for verb in ("ls", "top", "status"):
        lines = ended.said(verb).splitlines()
        for name in ("error", "budget", "denied", "lost"):
            (line,) = (line for line in lines if f"\t{name}\t" in line)
            assert line.split("\t")[2] == STATE_OF[name]
    assert "1 failed, 1 denied, 1 lost, 1 over-budget" in ended.said("status")
    assert "last turn   budget" in ended.said("status", "budget")
    assert "last turn" not in ended.said("status", "completed")


def test_the_next_message_takes_it_away_and_so_does_a_restart(ended: Place) -> None:
    ended.run("fork", "denied", "--name", "again")
    assert ended.said("inspect", "again", "--format", "{state}") == "denied"
    ended.run("send", "again", "say fine", "--wait")
    assert ended.said("inspect", "again", "--format", "{state} {ended}") == "idle completed"
    ended.run("fork", "error", "--name", "restarted")
    ended.run("restart", "restarted")
    assert ended.said("inspect", "restarted", "--format", "{state}") == "idle"
    for one in ("again", "restarted"):
        ended.run("rm", "-f", one)


def test_an_export_brings_it_along(ended: Place) -> None:
    ended.run("export", "budget", "budget.jsonl")
    copy = ended.said("import", "--new-id", "budget.jsonl")
    assert ended.said("inspect", copy, "--format", "{state} {ended}") == "over-budget budget"
    ended.run("rm", "-f", copy)


# --- names ---


@pytest.fixture(scope="module")
def nameless() -> Iterator[Place]:
    with a_place() as made:
        made.run("up")
        yield made


def test_a_conversation_without_a_name_is_called_by_its_first_words(nameless: Place) -> None:
    first = nameless.new("say why does it fail, please?")
    nameless.at_rest(first)
    assert nameless.said("ls").splitlines()[1].split("\t")[1] == "say-why-does-it"
    assert nameless.run("send", "say-why-does-it", "say again", "--wait").stdout == "again\n"
    nameless.kill()
    nameless.run("up")
    assert nameless.said("inspect", "say-why-does-it", "--format", "{id}") == first
    nameless.run("rename", first, "")
    nameless.run("send", first, "say still none", "--wait")
    assert nameless.said("inspect", first, "--format", "{name}") == ""


def test_of_many_that_begin_at_once_with_the_same_words_each_has_its_own_name(nameless: Place) -> None:
    runs = [nameless.begin("run", "-d", "say the same") for _ in range(6)]
    ids = [run.communicate(timeout=60)[0].strip() for run in runs]
    names = {nameless.said("inspect", one, "--format", "{name}") for one in ids}
    assert len(names) == len(ids)
    assert "say-the-same" in names


def test_a_fork_gets_a_name_with_its_own_first_message_and_emoji_alone_make_none(nameless: Place) -> None:
    nameless.at_rest(nameless.new("say forked"))
    fork = nameless.said("fork", "say-forked")
    assert nameless.said("inspect", fork, "--format", "{name}") == ""
    nameless.run("send", fork, "say more", "--wait")
    assert nameless.said("inspect", fork, "--format", "{name}") == "say-forked-2"
    smile = nameless.new("🙂")
    nameless.at_rest(smile)
    assert nameless.said("inspect", smile, "--format", "{name}") == ""


# --- windows ---


@pytest.fixture(scope="module")
def crowd() -> Iterator[Place]:
    """Conversations with names that are long and short, in a deep directory."""
    with a_place() as made:
        made.run("up")
        deep = made.work / "a-directory-with-a-long-name" / "and-another-one-below"
        deep.mkdir(parents=True)
        for name in ("n", LONG_NAME):
            made.at_rest(made.new("say " + "words " * 30, "--name", name, "-C", str(deep)))
        yield made


@pytest.mark.parametrize("verb", ["ls", "status"])
@pytest.mark.parametrize("columns", [80, 100])
def test_a_narrow_window_keeps_what_tells_conversations_apart(crowd: Place, verb: str, columns: int) -> None:
    terminal = crowd.terminal(verb, columns=columns)
    assert terminal.end() == 0
    head, *rows = terminal.screen.splitlines()[-3:]
    assert head.split() == ALWAYS
    assert any(f"  {LONG_NAME}  " in row for row in rows)
    assert max(map(len, (head, *rows))) <= columns


@pytest.mark.parametrize(("verb", "more"), [("ls", "TOKENS MODEL"), ("status", "TOKENS"), ("top", "EV/S")])
@pytest.mark.parametrize("wide", [True, False])
def test_cost_and_tokens_are_shown_in_a_wide_window_or_on_request(
    crowd: Place, verb: str, more: str, wide: bool
) -> None:
    words, columns = ((verb,), 120) if wide else ((verb, "-l"), 110)
    terminal = crowd.terminal(*words, columns=columns)
    if verb == "top":
        terminal.expect(HELP)
        terminal.send("q")
        terminal.expect("\x1b[?1049l")
    assert terminal.end() == 0
    assert all(title in terminal.screen for title in more.split())
    assert LONG_NAME in terminal.screen


@pytest.mark.parametrize("columns", [80, 60])
def test_top_keeps_the_same(crowd: Place, columns: int) -> None:
    terminal = crowd.terminal("top", columns=columns)
    terminal.expect(HELP)
    (head,) = (line for line in terminal.screen.splitlines() if "STATE" in line)
    assert head.split() == ALWAYS[: len(head.split())]
    assert columns < 80 or head.split() == ALWAYS
    assert f"  {LONG_NAME}  " in terminal.screen
    assert max(map(len, terminal.screen.splitlines())) < columns
    terminal.send("q")
    assert terminal.end() == 0


def test_in_the_narrowest_window_the_name_is_what_stays(crowd: Place) -> None:
    terminal = crowd.terminal("ls", columns=40)
    assert terminal.end() == 0
    assert LONG_NAME in terminal.screen
