"""Searches by the provider in a conversation: seen by people, sent back with later requests, off by default."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from tests.support.engine_harness import EngineHarness, harness_at
from tests.support.model_server import ModelServer
from tests.support.work import subject_of


@pytest.fixture(params=["responses", "messages"])
def searching(tmp_path: Path, server: ModelServer, request: pytest.FixtureRequest) -> Iterator[EngineHarness]:
    with harness_at(tmp_path, server.base_url, str(request.param), tables="[tools]\nweb_search = true\n") as harness:
        yield harness


def test_a_search_is_seen_and_goes_back_also_after_a_restart(searching: EngineHarness, server: ModelServer) -> None:
    conversation = searching.talk(model="claude-sonnet-4-5")
    conversation.ask("search the weather; say rain")
    end = conversation.wait(ev.WorkEnded)
    found = subject_of(end, ev.SearchSubject)
    assert (found.query, found.model) == ("the weather", "claude-sonnet-4-5")
    conversation.ask("say more")
    live = server.requests[-1].body
    assert all(block in json.dumps(live) for block in ("the weather", end.call_id))
    searching.restart()
    conversation.ask("say and more")
    again = server.requests[-1].body
    name = "input" if "input" in live else "messages"
    assert again[name][: len(live[name]) - 1] == live[name][:-1]


def test_a_search_is_offered_only_if_the_config_says_so(searching: EngineHarness, server: ModelServer) -> None:
    def offered() -> bool:
        return any(tool.get("type", "").startswith("web_search") for tool in server.requests[-1].body["tools"])

    searching.talk().ask("say hi")
    assert offered()
    searching.talk(overrides={"tools": {"web_search": False}}).ask("say hi")
    assert not offered()
