"""The search of a whole daemon over its socket, through deletions, reloads and kill -9."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.supervisor.journal.sample import conversation
from tests.supervisor.search.histories import Histories, user
from tests.support.bridge import wait_until
from tests.support.control_client import ControlClient, Refused
from tests.support.home import Home

WORD = "quixotichippopotamus"


def create(client: ControlClient, **more: object) -> str:
    made = client.ask("conversation/create", provider="demo", model="demo", cwd="/tmp", **more)
    return str(made["conversation"])


def is_read(client: ControlClient, query: str) -> bool:
    """True if a search knows all events. A busy daemon answers with those that it has read by then."""
    try:
        return bool(client.ask("conversation/search", query=query)["read"] == 1.0)
    except Refused as refused:
        if refused.code != "storage_failed":
            raise
        return False  # a search saw the damage before the index did


def hits_of(client: ControlClient, query: str, **more: object) -> list[dict[str, Any]]:
    wait_until(lambda: is_read(client, query), "it was never read")
    answer = client.ask("conversation/search", query=query, **more)
    assert (answer["read"], answer["complete"]) == (1.0, True)
    hits: list[dict[str, Any]] = answer["hits"]
    return hits


def found(client: ControlClient, query: str, **more: object) -> list[tuple[str, int]]:
    return [(hit["conversation"], hit["seq"]) for hit in hits_of(client, query, **more)]


def say(client: ControlClient, one: str, prompt: str) -> None:
    assert client.ask("conversation/send", conversation=one, prompt=prompt, wait=True)["ending"] == "completed"


def traces(home: Home) -> list[str]:
    files = Path(home.paths.search_file).parent.glob("search.sqlite3*")
    return [file.name for file in files if WORD.encode() in file.read_bytes()]


def test_a_new_message_is_found_with_its_place_until_it_is_deleted(home: Home) -> None:
    with home.daemon(), home.client() as client:
        one, other = create(client, name="first"), create(client)
        say(client, one, f"say the {WORD} is here")
        say(client, other, "say nothing of it")
        hits = hits_of(client, WORD.upper())
        assert {hit["conversation"] for hit in hits} == {one}
        assert {hit["kind"] for hit in hits} >= {"user", "agent"}
        hit = next(hit for hit in hits if hit["kind"] == "agent")
        assert hit["name"] == "first"
        assert [hit["text"][begin:end] for begin, end in hit["marks"]] == [WORD]
        (said,) = client.ask("conversation/history", conversation=one, after=hit["seq"] - 1, limit=1)["events"]
        assert WORD in said["event"]["message"]
        assert found(client, f"{WORD} -nothing OR (") == []
        assert found(client, WORD, conversation="first") == [(hit["conversation"], hit["seq"]) for hit in hits]
        client.ask("conversation/delete", conversation=one)
        assert found(client, WORD) == []
        wait_until(lambda: not traces(home), "the words are still in the search's file")
        assert found(client, "nothing") != []


def test_a_name_and_a_command_with_its_output_are_found(home: Home) -> None:
    with home.daemon(), home.client() as client:
        one = create(client, sandbox="danger-full-access", approval_policy="never")
        client.ask("conversation/rename", conversation=one, name="hippo")
        say(client, one, "run echo w$((1+1))rus")
        kinds = {hit["kind"] for hit in hits_of(client, "w2rus")}
        assert "output" in kinds
        assert [hit["kind"] for hit in hits_of(client, "hippo")] == ["name"]
        assert "command" in {hit["kind"] for hit in hits_of(client, "echo")}


def test_turned_off_by_a_reload_its_file_goes_and_turned_on_it_comes_back(home: Home) -> None:
    file, config = Path(home.paths.search_file), home.directory / "config.toml"
    config.write_text("")
    with home.daemon(), home.client() as client:
        say(client, create(client), f"say {WORD}")
        assert len(found(client, WORD)) >= 2
        config.write_text("[greenroom]\nsearch = false\n")
        (change,) = client.ask("daemon/reload")["changes"]
        assert (change["key"], change["live"]) == ("greenroom.search", True)
        with pytest.raises(Refused) as refused:
            client.ask("conversation/search", query=WORD)
        assert "the search is off" in str(refused.value)
        wait_until(lambda: not file.exists(), "the file is still there")
        assert not traces(home)
        assert client.ask("daemon/status")["search_bytes"] == 0
        config.write_text("")
        client.ask("daemon/reload")
        assert len(found(client, WORD)) >= 2


def test_a_history_that_was_there_before_is_read_in_pieces_meanwhile(home: Home) -> None:
    state = Path(home.paths.state)
    state.mkdir(mode=0o700, parents=True)
    old = Histories(state)
    old.say(conversation(1), *[user(f"walrus {number}") for number in range(2_000)])
    old.close()
    with home.daemon(), home.client() as client:
        first = client.ask("conversation/search", query="walrus")
        wait_until(lambda: client.ask("conversation/search", query="walrus")["read"] == 1.0, "it was never read")
        assert first["read"] <= 1.0
        hits, cursor = 0, None
        while True:
            page = client.ask("conversation/search", query="walrus", limit=200, cursor=cursor)
            hits, cursor = hits + len(page["hits"]), page["next_cursor"]
            if cursor is None:
                break
        assert hits == 2_000


def killed_at(home: Home, least: float) -> None:
    """Kill a daemon that has read as much of all events."""
    with home.daemon() as daemon:
        with home.client() as client:

            def read() -> float:
                answer: dict[str, Any] = client.ask("conversation/search", query="walrus", limit=1)
                return float(answer["read"])

            wait_until(lambda: read() >= least, "it reads nothing")
        daemon.kill()


def test_kill_9_while_it_reads_loses_nothing_and_finds_nothing_twice(home: Home) -> None:
    state = Path(home.paths.state)
    state.mkdir(mode=0o700, parents=True)
    old = Histories(state)
    for one in range(1, 6):
        old.say(conversation(one), *[user(f"walrus {number}") for number in range(1_000)])
    old.close()
    for least in (0.0, 0.05, 0.3, 0.6):
        killed_at(home, least)
    with home.daemon(), home.client() as client:
        for one in range(1, 6):
            assert found(client, "walrus 999", conversation=conversation(one)) == [(conversation(one), 1_000)]
    with closing(sqlite3.connect(home.paths.search_file)) as db:
        assert db.execute("SELECT count(*), count(DISTINCT conversation * 10000 + seq) FROM passages").fetchone() == (
            5_000,
            5_000,
        )
        db.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")  # raises if it is not sound


def test_a_search_that_can_have_no_file_is_trouble_that_is_told_and_nothing_else(home: Home) -> None:
    Path(home.paths.search_file).mkdir(parents=True)
    Path(home.paths.state).chmod(0o700)
    with home.daemon(), home.client() as client:
        one = create(client)
        say(client, one, "say on")
        with pytest.raises(Refused):
            client.ask("conversation/search", query="on")
        wait_until(lambda: client.ask("daemon/status")["search_trouble"] is not None, "no trouble is told")
        assert client.ask("daemon/status")["trouble"] is None
        say(client, one, "say on and on")


def gone(file: Path) -> None:
    file.unlink()


def garbage(file: Path) -> None:
    file.write_bytes(b"no database " * 10_000)


@pytest.mark.parametrize("harm", [gone, garbage])
def test_a_file_that_is_lost_is_made_again_by_the_next_life(home: Home, harm: Callable[[Path], None]) -> None:
    with home.daemon(), home.client() as client:
        say(client, create(client), f"say {WORD}")
        before = found(client, WORD)
    harm(Path(home.paths.search_file))
    with home.daemon(), home.client() as client:
        assert found(client, WORD) == before


def test_an_orderly_end_leaves_no_write_ahead_log(home: Home) -> None:
    with home.daemon() as daemon, home.client() as client:
        say(client, create(client), f"say {WORD}")
        assert found(client, WORD)
        began = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - began < 10
    left = {file.name for file in Path(home.paths.state).iterdir() if "sqlite3" in file.name}
    assert left == {"journal.sqlite3", "journal.sqlite3.lock", "search.sqlite3"}
