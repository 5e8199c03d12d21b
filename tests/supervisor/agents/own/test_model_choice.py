"""The choice of a turn's model, and preparation for the first."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import ReadOnly, Settings
from supervisor.agents.own import model_choice
from supervisor.agents.own.model.client import ModelClient, build_http
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model_choice import MOST_CHOICES, Models
from supervisor.config.load import LoadedConfig, load
from supervisor.config.providers import Provider
from supervisor.config.whole_config import Config

KEY = {"OPENAI_API_KEY": "a key"}


def built(tmp_path: Path, config: str, environ: Mapping[str, str]) -> int:
    """The number of HTTP clients built by `prepare`."""
    (tmp_path / "config.toml").write_text(config)
    environ = {"GREENROOM_HOME": str(tmp_path), "HOME": str(tmp_path), **environ}
    builds: list[str] = []

    def build() -> httpx.AsyncClient:
        builds.append("")
        return build_http()

    async def prepare() -> None:
        async with ModelClient(build) as client:
            Models(client, lambda: load(environ=environ), lambda _: environ, environ).prepare()

    asyncio.run(prepare())
    return len(builds)


@pytest.mark.parametrize(
    ("config", "environ", "builds"),
    [("", KEY, 1), ("", {}, 0), ('model_provider = "demo"', KEY, 0), ('model_provider = "nobody"', KEY, 0)],
    ids=["a key", "nothing", "the demo", "a provider that is not there"],
)
def test_the_http_client_is_built_ahead_where_a_model_of_the_network_is_the_default(
    tmp_path: Path, config: str, environ: Mapping[str, str], builds: int
) -> None:
    assert built(tmp_path, config, environ) == builds


class Chosen:
    """Models whose config, environment and settings can be changed, and the endpoints that were worked out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loaded, self.env = LoadedConfig(Config()), KEY
        self.settings = Settings(model="large", cwd=Path("/"), sandbox=ReadOnly(), provider="openai")
        self.worked_out: list[Mapping[str, str]] = []
        made = model_choice.endpoint_of

        def endpoint_of(
            provider: Provider, env: Mapping[str, str], longest: int | None, *, web_search: bool
        ) -> Endpoint:
            self.worked_out.append(env)
            return made(provider, env, longest, web_search=web_search)

        monkeypatch.setattr(model_choice, "endpoint_of", endpoint_of)
        self.models = Models(ModelClient(), lambda: self.loaded, lambda _: self.env, {})

    def turn(self, conversation: str = "one") -> int:
        """The number of endpoints that were worked out by the end of this turn."""
        self.models.model_for(ConversationId(conversation), self.settings)
        return len(self.worked_out)


def test_an_endpoint_is_worked_out_again_when_something_changes_that_it_follows_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = Chosen(monkeypatch)
    assert [chosen.turn(), chosen.turn()] == [1, 1]
    chosen.settings = chosen.settings.model_copy(update={"model": "small"})
    assert [chosen.turn(), chosen.turn()] == [2, 2]
    chosen.env = {"OPENAI_API_KEY": "another"}
    assert [chosen.turn(), chosen.turn()] == [3, 3]
    chosen.loaded = LoadedConfig(Config())
    assert [chosen.turn(), chosen.turn()] == [4, 4]
    chosen.models.forget(ConversationId("one"))
    assert chosen.turn() == 5


def test_endpoints_of_many_conversations_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = Chosen(monkeypatch)
    for number in range(MOST_CHOICES + 1):
        chosen.turn(str(number))
    assert len(chosen.models._known) == 1
    assert "a key" not in repr(chosen.models._known)
