"""The model provider that a conversation uses, with the address, key and headers of its requests.

Reads the environment that is passed in, never the process's own. Pure; safe from any thread.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from actors.vocabulary.errors import ConfigError
from supervisor.config.built_in_providers import BUILT_IN, DEFAULT_MODEL, DEMO, OPENAI_URL
from supervisor.config.config_problems import printable
from supervisor.config.shared_keys import ModelProvider
from supervisor.config.stored_keys import StoredKeys
from supervisor.config.whole_config import Config


class Provider(Struct, frozen=True):
    """A provider with its address. Only `demo` has no address: it needs no network."""

    id: str
    definition: ModelProvider
    base_url: str
    stored_keys: StoredKeys = StoredKeys()

    def api_key(self, environ: Mapping[str, str]) -> str | None:
        """The key, or None if none is needed. A missing key is an error that says how to get one."""
        variable = self.definition.env_key
        if variable is None and self.definition.requires_openai_auth:
            variable = "OPENAI_API_KEY"
        if variable is None:
            return None
        key = environ.get(variable, "").strip() or self.stored_keys.keys.get(variable, "")
        if not key:
            instructions = self.definition.env_key_instructions
            text = f"Missing environment variable: `{variable}`."  # in Codex's words
            raise ConfigError(f"{text} {instructions}" if instructions else text, key=variable)
        return key

    def headers(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The headers that the config asks for; the caller adds the authorization."""
        found = dict(self.definition.http_headers)
        for header, variable in self.definition.env_http_headers.items():
            if value := environ.get(variable, "").strip():
                found[header] = value
        return found

    def __repr__(self) -> str:
        return f"Provider({self.id!r}, {self.base_url!r})"


class ProviderChoice(Struct, frozen=True):
    """The chosen provider. `notice`: a line for a person, if the choice was ours."""

    provider: Provider
    notice: str | None = None


def choose_provider(config: Config, environ: Mapping[str, str], file: str | None = None) -> ProviderChoice:
    """The provider that the config names; else that of `greenroom login`; else openai if it has a key; else demo.

    `file`: the file to edit, for the notice.
    """
    chosen = config.model_provider or config.stored_keys.provider
    if chosen:
        return ProviderChoice(provider_named(chosen, config, environ))
    where = file or "config.toml"
    if environ.get("OPENAI_API_KEY", "").strip():
        # The notice does not suggest "demo": the file may be Codex's, which doesn't know it.
        notice = f'using OpenAI, because OPENAI_API_KEY is set; to change that: model_provider = "oss" in {where}'
        return ProviderChoice(provider_named("openai", config, environ), notice)
    notice = (
        "using the built-in demo model, because no provider is named and OPENAI_API_KEY is not set; "
        f'to change that: model_provider = "openai" in {where}'
    )
    return ProviderChoice(provider_named(DEMO, config, environ), notice)


HOW_TO_SET = (
    "run `greenroom login` in a terminal; or, as many clients hand only HOME, PATH and the like to their servers, "
    'name it where this server is configured (`"env": {…}`, `env_vars = […]`), or start the daemon from a shell that '
    "has it (`greenroom up`)"
)


def insist_on_a_model(config: Config, environ: Mapping[str, str], file: str) -> None:
    """Refuse a missing key, and the demo model unless a person chose it: its answers would pass for work."""
    try:
        provider = choose_provider(config, environ, file).provider
        provider.api_key(environ)
    except ConfigError as error:
        raise ConfigError(f"{error.message.rstrip('.')}; {HOW_TO_SET}", **error.details) from None
    if provider.id == DEMO and not (config.model_provider or config.stored_keys.provider):
        raise ConfigError(
            "there is no model: no provider is named and OPENAI_API_KEY is not set. To use one, "
            f"{HOW_TO_SET}. To use another, write model_provider into {file}. "
            'For the built-in demo model write model_provider = "demo"',
            key="model_provider",
        )


def provider_named(name: str, config: Config, environ: Mapping[str, str]) -> Provider:
    built, own = BUILT_IN.get(name), config.model_providers.get(name)
    if built is None and own is None:
        raise ConfigError(f"Model provider `{printable(name)}` not found", key="model_provider")
    definition = definition_of(name, config)
    address = definition.base_url or (built.address(environ) if built else OPENAI_URL)
    return Provider(name, definition, address, config.stored_keys)


def definition_of(name: str, config: Config) -> ModelProvider:
    """A provider's definition. The file's wins over a built-in definition of the same name.

    A definition without an address changes only the keys that it sets. With an address it stands alone: a built-in
    provider's key is never sent to an address that the file names without naming the key.
    """
    built, own = BUILT_IN.get(name), config.model_providers.get(name)
    if built is None or (own is not None and own.base_url is not None):
        return own or ModelProvider()
    if own is None:
        return built.definition
    return built.definition.model_copy(update={key: getattr(own, key) for key in own.model_fields_set})


def providers(config: Config) -> Iterable[str]:
    """The names of all providers that a conversation may use, the built-in ones too."""
    return dict.fromkeys([*BUILT_IN, *config.model_providers])


def defined_providers(config: Config) -> Iterator[ModelProvider]:
    return (definition_of(name, config) for name in providers(config))


def default_model(provider: str) -> str:
    return BUILT_IN[provider].model if provider in BUILT_IN else DEFAULT_MODEL
