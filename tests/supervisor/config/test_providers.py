import pytest

from actors.vocabulary.errors import ConfigError
from supervisor.config.built_in_providers import OPENAI_URL
from supervisor.config.load import ConfigFile, LoadedConfig, layer
from supervisor.config.overrides import parse_overrides
from supervisor.config.providers import choose_provider, default_model, defined_providers, provider_named
from supervisor.config.whole_config import Config

MINE = Config.model_validate(
    {
        "model_providers": {
            "mine": {
                "base_url": "http://127.0.0.1:1/v1",
                "env_key": "MY_KEY",
                "env_key_instructions": "Ask Ada.",
                "http_headers": {"X-Team": "blue"},
                "env_http_headers": {"X-User": "MY_USER", "X-Empty": "MY_EMPTY", "X-Gone": "MY_GONE"},
            },
            "bare": {"base_url": "http://127.0.0.1:2/v1"},
            "logged-in": {"requires_openai_auth": True},
        }
    }
)


def test_the_provider_that_the_config_names_is_used_without_a_word() -> None:
    config = MINE.model_copy(update={"model_provider": "mine"})
    choice = choose_provider(config, {"OPENAI_API_KEY": "k"})
    assert (choice.provider.id, choice.provider.base_url, choice.notice) == ("mine", "http://127.0.0.1:1/v1", None)


def test_without_one_openai_is_used_if_there_is_a_key_for_it() -> None:
    choice = choose_provider(Config(), {"OPENAI_API_KEY": "k"}, "/c.toml")
    assert (choice.provider.id, choice.provider.base_url) == ("openai", OPENAI_URL)
    assert choice.notice is not None
    assert "OPENAI_API_KEY is set" in choice.notice
    assert 'model_provider = "oss" in /c.toml' in choice.notice


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": ""}, {"OPENAI_API_KEY": "  "}])
def test_else_the_demo_is_used_and_says_which_line_changes_that(environ: dict[str, str]) -> None:
    choice = choose_provider(Config(), environ, "/c.toml")
    assert (choice.provider.id, choice.provider.base_url) == ("demo", "")
    assert choice.notice is not None
    assert 'model_provider = "openai" in /c.toml' in choice.notice
    assert "\n" not in choice.notice


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": "k"}])
def test_the_line_that_a_notice_names_does_change_it(environ: dict[str, str]) -> None:
    notice = choose_provider(Config(), environ).notice
    assert notice is not None
    line = notice.split("to change that: ")[1].split(" in ")[0]
    assert choose_provider(layer(ConfigFile(), parse_overrides([line])).config, environ).notice is None


def test_a_file_can_be_named_for_that_line_even_when_there_is_none() -> None:
    environ = {"HOME": "/h"}
    assert LoadedConfig(Config()).editable(environ) == "/h/.config/greenroom/config.toml"
    assert LoadedConfig(Config(), ConfigFile("/there.toml")).editable(environ) == "/there.toml"


def test_the_built_in_addresses_come_from_the_environment() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:3/v1", "CODEX_OSS_PORT": "99"}
    assert provider_named("openai", MINE, environ).base_url == "http://127.0.0.1:3/v1"
    assert provider_named("oss", MINE, environ).base_url == "http://localhost:99/v1"
    assert provider_named("oss", MINE, {}).base_url == "http://localhost:11434/v1"
    environ["CODEX_OSS_BASE_URL"] = "http://127.0.0.1:4/v1"
    assert provider_named("oss", MINE, environ).base_url == "http://127.0.0.1:4/v1"
    # A provider of one's own without an address means OpenAI's own, as in Codex, whatever OPENAI_BASE_URL says.
    assert provider_named("logged-in", MINE, environ).base_url == OPENAI_URL


@pytest.mark.parametrize("port", ["x", "0", "65536", "-1", "٣", "9" * 5000])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(ConfigError, match="CODEX_OSS_PORT"):
        provider_named("oss", Config(), {"CODEX_OSS_PORT": port})


@pytest.mark.parametrize(
    ("name", "environ", "address", "wire"),
    [
        ("openai", {}, "https://api.openai.com/v1", "responses"),
        ("anthropic", {}, "https://api.anthropic.com/v1", "messages"),
        ("anthropic", {"ANTHROPIC_BASE_URL": "http://gate:1/"}, "http://gate:1/v1", "messages"),
        ("anthropic", {"ANTHROPIC_BASE_URL": "http://gate:1/v1"}, "http://gate:1/v1", "messages"),
        ("azure", {"AZURE_OPENAI_ENDPOINT": "https://n.x.com/"}, "https://n.x.com/openai/v1", "responses"),
        ("azure", {"AZURE_OPENAI_ENDPOINT": "https://n.x.com/openai/v1/"}, "https://n.x.com/openai/v1", "responses"),
        ("openrouter", {}, "https://openrouter.ai/api/v1", "chat"),
        ("gemini", {}, "https://generativelanguage.googleapis.com/v1beta/openai", "chat"),
        ("ollama", {}, "http://localhost:11434/v1", "chat"),
        ("ollama", {"OLLAMA_HOST": "0.0.0.0"}, "http://localhost:11434/v1", "chat"),
        ("ollama", {"OLLAMA_HOST": "box:99"}, "http://box:99/v1", "chat"),
        ("ollama", {"OLLAMA_HOST": "https://box"}, "https://box/v1", "chat"),
        ("lmstudio", {}, "http://localhost:1234/v1", "chat"),
        ("vllm", {}, "http://localhost:8000/v1", "chat"),
        ("llamacpp", {}, "http://localhost:8080/v1", "chat"),
    ],
)
def test_the_names_that_people_look_for_are_built_in(
    name: str, environ: dict[str, str], address: str, wire: str
) -> None:
    provider = provider_named(name, Config(), environ)
    assert (provider.base_url, provider.definition.wire_api) == (address, wire)


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("azure", "AZURE_OPENAI_API_KEY"),
        ("openrouter", "OPENROUTER_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
    ],
)
def test_a_built_in_provider_without_its_key_says_which_and_how_to_get_one(name: str, variable: str) -> None:
    provider = provider_named(name, Config(), {"AZURE_OPENAI_ENDPOINT": "https://n.x.com"})
    assert provider.api_key({variable: "k"}) == "k"
    with pytest.raises(ConfigError, match=f"Missing environment variable: `{variable}`. .* export it") as caught:
        provider.api_key({})
    assert caught.value.details["key"] == variable


def test_those_on_this_machine_need_no_key() -> None:
    for name in ("ollama", "lmstudio", "vllm", "llamacpp", "oss"):
        assert provider_named(name, Config(), {}).api_key({}) is None


def test_azure_without_an_address_says_where_to_set_it() -> None:
    with pytest.raises(ConfigError, match="AZURE_OPENAI_ENDPOINT"):
        provider_named("azure", Config(), {})


def with_own(name: str, **keys: object) -> Config:
    return Config.model_validate({"model_providers": {name: keys}})


def test_ones_own_provider_of_a_built_in_name_stands_alone_where_it_has_an_address() -> None:
    own = provider_named("anthropic", with_own("anthropic", base_url="http://gate/v1"), {"ANTHROPIC_BASE_URL": "x"})
    assert (own.base_url, own.definition.wire_api) == ("http://gate/v1", "chat")
    assert own.api_key({"ANTHROPIC_API_KEY": "k"}) is None  # it goes to no address that does not ask for it


def test_without_an_address_it_changes_the_keys_that_it_sets() -> None:
    own = provider_named("anthropic", with_own("anthropic", env_key="MINE", stream_max_retries=0), {})
    assert (own.base_url, own.definition.wire_api) == ("https://api.anthropic.com/v1", "messages")
    assert own.api_key({"MINE": "k"}) == "k"
    assert own.definition.stream_max_retries == 0
    assert own.definition.request_max_retries == 4


def test_every_variable_that_holds_a_key_is_known() -> None:
    known = {provider.env_key for provider in defined_providers(with_own("anthropic", env_key="MINE"))}
    assert {"OPENAI_API_KEY", "MINE", "AZURE_OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"} <= known


def test_each_has_a_model_for_those_who_name_none() -> None:
    assert default_model("anthropic").startswith("claude-")
    assert default_model("demo") == "demo"
    assert default_model("mine") == "gpt-5"


def test_an_unknown_provider_is_refused_in_the_words_clients_know() -> None:
    with pytest.raises(ConfigError) as caught:
        provider_named("x", MINE, {})
    assert caught.value.message == "Model provider `x` not found"


def test_the_key_is_taken_from_its_variable() -> None:
    assert provider_named("mine", MINE, {}).api_key({"MY_KEY": " k\n"}) == "k"
    assert provider_named("openai", MINE, {}).api_key({"OPENAI_API_KEY": "k"}) == "k"
    assert provider_named("logged-in", MINE, {}).api_key({"OPENAI_API_KEY": "k"}) == "k"
    for name in ("bare", "oss", "demo"):
        assert provider_named(name, MINE, {}).api_key({"OPENAI_API_KEY": "k"}) is None


@pytest.mark.parametrize("environ", [{}, {"MY_KEY": ""}])
def test_a_missing_key_is_refused_with_what_to_do(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        provider_named("mine", MINE, {}).api_key(environ)
    assert caught.value.message == "Missing environment variable: `MY_KEY`. Ask Ada."
    with pytest.raises(ConfigError) as caught:
        provider_named("logged-in", MINE, {}).api_key(environ)
    assert caught.value.message == "Missing environment variable: `OPENAI_API_KEY`."


def test_headers_from_variables_that_are_unset_or_empty_are_left_out() -> None:
    environ = {"MY_USER": "ada", "MY_EMPTY": ""}
    assert provider_named("mine", MINE, {}).headers(environ) == {"X-Team": "blue", "X-User": "ada"}
    assert provider_named("openai", MINE, {}).headers({"OPENAI_PROJECT": "p"}) == {"OpenAI-Project": "p"}


def test_no_representation_shows_a_header() -> None:
    assert "blue" not in f"{MINE!r} {MINE} {provider_named('mine', MINE, {})!r}"
