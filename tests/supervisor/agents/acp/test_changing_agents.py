"""A conversation that goes from a third-party agent to our own and back: each knows what the other did."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from tests.supervisor.agents.acp.scripted import NAME, agent_table
from tests.support.engine_harness import harness_at
from tests.support.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def test_each_agent_knows_what_the_other_said_and_did(tmp_path: Path, server: ModelServer) -> None:
    kept = tmp_path / "kept"
    with harness_at(tmp_path, server.base_url, tables=agent_table(f"sessions={kept}")) as harness:
        talk = harness.talk()
        talk.ask("say from us")
        talk.change(talk.settings.model_copy(update={"agent": NAME}))
        talk.ask("run echo from them")
        talk.change(talk.settings.model_copy(update={"agent": ""}))
        talk.ask("say from us again")
        request = json.dumps(server.requests[-1].body)
        assert "used a tool: echo from them: completed" in request
        assert request.index("from us") < request.index("from them") < request.index("from us again")
        talk.change(talk.settings.model_copy(update={"agent": NAME}))
        talk.ask("say last")
        ((first, second),) = json.loads(kept.read_text()).values()
        assert "The person:\nsay from us\n\nThe agent:\nfrom us" in first
        assert "from us again" in second
        assert "say from us\n" not in second
        assert [one.how for one in talk.all(ev.AgentSession)] == ["seeded"]
