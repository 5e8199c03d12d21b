"""Which model a turn speaks to: from the provider its settings name to an endpoint, or to the built-in demo."""

from collections.abc import Callable, Mapping

from actors.errors import ConfigError
from actors.ids import ConversationId
from actors.orders import RunAgent
from supervisor.agent.backends.demo import DemoModel
from supervisor.agent.backends.model import Model
from supervisor.agent.backends.openai import OpenAiModel
from supervisor.agent.model.client import ModelClient
from supervisor.agent.model.endpoint import Endpoint, WireApi
from supervisor.agent.model.errors import Rejected
from supervisor.config import Config, Provider, provider_named

DEMO = "demo"


class Models:
    """Reads the config anew for every turn, so that a reload counts from the next turn on."""

    def __init__(
        self,
        client: ModelClient,
        config: Callable[[], Config],
        environment_of: Callable[[ConversationId], Mapping[str, str]],
    ) -> None:
        self._client = client
        self._config = config
        self._environment_of = environment_of

    def of(self, order: RunAgent) -> Model:
        name = order.settings.provider or DEMO
        if name == DEMO:
            return DemoModel()
        env = self._environment_of(order.conversation)
        try:
            return OpenAiModel(self._client, endpoint_of(provider_named(name, self._config(), env), env))
        except ConfigError as error:
            raise Rejected(error.message) from error


def endpoint_of(provider: Provider, env: Mapping[str, str]) -> Endpoint:
    definition = provider.definition
    return Endpoint(
        base_url=provider.base_url,
        wire=WireApi(definition.wire_api.value),
        key=provider.api_key(env),
        query=definition.query_params,
        headers=provider.headers(env),
        request_max_retries=definition.request_max_retries,
        stream_max_retries=definition.stream_max_retries,
        stream_idle_timeout_s=definition.stream_idle_timeout_ms / 1000,
    )
