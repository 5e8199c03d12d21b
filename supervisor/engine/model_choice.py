"""The choice of a turn's model: from the provider in its settings to an endpoint, or to the built-in demo."""

from collections.abc import Callable, Mapping

from actors.conversation.orders import RunAgent
from actors.vocabulary.errors import ConfigError
from actors.vocabulary.ids import ConversationId
from supervisor.agent.backends.demo import DemoModel
from supervisor.agent.backends.model import Model
from supervisor.agent.backends.openai import OpenAiModel
from supervisor.agent.model.client import ModelClient
from supervisor.agent.model.endpoint import Endpoint
from supervisor.agent.model.errors import Rejected
from supervisor.config.load import LoadedConfig
from supervisor.config.providers import Provider, choose_provider, provider_named

DEMO = "demo"


class Models:
    """Reads the config anew for every turn, so that a reload counts from the next turn on.

    Keys are looked up in the client's environment; `environ` is the daemon's own, which says where its files are.
    """

    def __init__(
        self,
        client: ModelClient,
        loaded: Callable[[], LoadedConfig],
        environment_of: Callable[[ConversationId], Mapping[str, str]],
        environ: Mapping[str, str],
    ) -> None:
        self._client = client
        self._loaded = loaded
        self._environment_of = environment_of
        self._environ = environ
        self._noticed = False

    def of(self, order: RunAgent) -> Model:
        env = self._environment_of(order.conversation)
        name = order.settings.provider
        try:
            config = self._loaded().relayered(order.settings.overrides).config
            provider = provider_named(name, config, env) if name else choose_provider(config, env).provider
            if provider.id == DEMO:
                return DemoModel()
            return OpenAiModel(self._client, endpoint_of(provider, env))
        except ConfigError as error:
            raise Rejected(error.message) from error

    def prepare(self) -> None:
        """Load on the loop, ahead of the first turn, what that would wait for. The demo model needs nothing."""
        try:
            foreseen = choose_provider(self._loaded().config, self._environ).provider
        except ConfigError:
            return  # reported when a turn asks for it
        if foreseen.id != DEMO:
            self._client.prepare()

    def notice(self, order: RunAgent) -> str | None:
        """A message to the person about the choice, once; None if the person made the choice."""
        if self._noticed:
            return None
        loaded = self._loaded().relayered(order.settings.overrides)
        env = self._environment_of(order.conversation)
        choice = choose_provider(loaded.config, env, loaded.editable(self._environ))
        if order.settings.provider not in {"", choice.provider.id}:
            return None
        self._noticed = choice.notice is not None
        return choice.notice


def endpoint_of(provider: Provider, env: Mapping[str, str]) -> Endpoint:
    definition = provider.definition
    return Endpoint(
        base_url=provider.base_url,
        wire=definition.wire_api,
        key=provider.api_key(env),
        query=definition.query_params,
        headers=provider.headers(env),
        request_max_retries=definition.request_max_retries,
        stream_max_retries=definition.stream_max_retries,
        stream_idle_timeout_s=definition.stream_idle_timeout_ms / 1000,
        include_usage=definition.include_usage,
    )
