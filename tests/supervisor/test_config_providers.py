import pytest

from actors.vocabulary.errors import ConfigError
from supervisor.config.load import ConfigFile, LoadedConfig, layer
from supervisor.config.models import Config
from supervisor.config.overrides import parse_overrides
from supervisor.config.providers import OPENAI_URL, choose_provider, provider_named

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
