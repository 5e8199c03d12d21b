"""Preparation for the first turn's model."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from supervisor.agent.model.client import ModelClient, build_http
from supervisor.config.load import load
from supervisor.engine.model_choice import Models

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
