from collections.abc import Iterator

from pydantic import BaseModel

from supervisor.config.budgets import PriceTable
from supervisor.config.built_in_providers import OLLAMA_PORT
from supervisor.config.command_environment import CORE
from supervisor.config.config_problems import BUILT_IN_PROVIDERS
from supervisor.config.key_types import KeyType
from supervisor.config.mcp_servers import McpServer
from supervisor.config.shared_keys import Inherit, ShellEnvironmentPolicy
from supervisor.config.whole_config import Config
from tests.docs.pages import DOCS
from tools.reference.configuration import with_keys

PAGE = (DOCS / "config.md").read_text(encoding="utf-8")


def models(model: type[BaseModel] = Config) -> Iterator[type[BaseModel]]:
    yield model
    for info in model.model_fields.values():
        place = KeyType.from_annotation(info.annotation)
        below = place["NAME"] if place.is_free else place
        if below is not None and below.table is not None:
            yield from models(below.table)


def test_every_key_of_every_table_has_a_description_and_is_on_the_page() -> None:
    page = with_keys(PAGE)
    for model in models():
        for name, info in model.model_fields.items():
            assert info.description, f"{model.__name__}.{name}"
            assert f"| `{name}` |" in page


def test_every_field_of_ours_that_measures_time_or_size_says_its_unit() -> None:
    for model in models():
        for name, info in model.model_fields.items():
            if KeyType.from_annotation(info.annotation, info.metadata).bare is float:
                assert name.endswith(("_seconds", "minutes", "usd")) or model in (PriceTable, McpServer)


def test_the_prose_of_the_page_agrees_with_the_code() -> None:
    assert str(OLLAMA_PORT) in PAGE
    assert all(f"`{name}`" in PAGE for name in BUILT_IN_PROVIDERS)
    named = ShellEnvironmentPolicy.model_fields["inherit"].description or ""
    assert set(named.partition("(")[2].partition(")")[0].split()) == CORE
    assert [member.value for member in Inherit] == ["all", "core", "none"]
