"""The choice of a turn's model: from the provider in its settings to an endpoint, or to the built-in demo.

Belongs to the loop.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from actors.vocabulary.errors import ConfigError
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Settings
from supervisor.agents.errors import Rejected
from supervisor.agents.own.backends.demo import DemoModel
from supervisor.agents.own.backends.openai import OpenAiModel
from supervisor.agents.own.backends.ports import Model
from supervisor.agents.own.context.window import ContextWindow, FixedWindow, ServerWindow
from supervisor.agents.own.model.client import ModelClient
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.window_questions import WindowQuestions, is_hosted, is_near
from supervisor.agents.own.model.windows import known_window
from supervisor.agents.spending.account import BilledModel
from supervisor.agents.spending.prices import price_of
from supervisor.config.load import LoadedConfig
from supervisor.config.providers import Provider, choose_provider, provider_named
from supervisor.config.whole_config import Config

if TYPE_CHECKING:
    import httpx

DEMO = "demo"
MOST_CHOICES = 256  # choices of conversations at work, each with a key and some lines of config


class ChosenEndpoint(Struct, frozen=True):
    """The endpoint of a conversation, None for the demo, and all that led to it. Holds secrets, so it has no repr."""

    loaded_config: LoadedConfig
    env: Mapping[str, str]
    settings: Settings
    config: Config
    endpoint: Endpoint | None
    billing: BilledModel

    def __repr__(self) -> str:
        return "ChosenEndpoint()"

    def follows_from(self, loaded: LoadedConfig, env: Mapping[str, str], settings: Settings) -> bool:
        return self.loaded_config is loaded and self.env is env and self.settings is settings


class Models:
    """The models of conversations, looked up in the config at a turn's beginning and when its settings change.

    Keys come from the client's environment; `environ` is the daemon's own, with the paths of its files.
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
        self._questions = WindowQuestions(client.prepare)
        self._known: dict[ConversationId, ChosenEndpoint] = {}
        self._noticed = False

    def model_for(self, conversation: ConversationId, settings: Settings) -> Model:
        try:
            choice = self._chosen_for(conversation, settings)
        except ConfigError as error:
            raise Rejected(error.message) from error
        if choice.endpoint is None:
            return DemoModel()
        window = self._window(choice.config, choice.endpoint, settings.model)
        return OpenAiModel(self._client, choice.endpoint, settings.model, window, choice.billing)

    def _chosen_for(self, conversation: ConversationId, settings: Settings) -> ChosenEndpoint:
        """The choice of the last turn, unless the config, the environment or the settings have changed."""
        loaded, env = self._loaded(), self._environment_of(conversation)
        known = self._known.get(conversation)
        if known is None or not known.follows_from(loaded, env, settings):
            if len(self._known) >= MOST_CHOICES:
                self._known.clear()
            known = self._known[conversation] = _choose_endpoint(loaded, env, settings)
        return known

    def forget(self, conversation: ConversationId) -> None:
        self._known.pop(conversation, None)

    def _window(self, config: Config, endpoint: Endpoint, model: str) -> ContextWindow:
        """Find the window: in the config, in the table of hosted models, or by asking the model's server."""
        configured = config.model_context_window or config.greenroom.windows.get(model)
        if configured is not None:
            return FixedWindow(configured)
        if is_hosted(endpoint.base_url):
            return FixedWindow(known_window(model))
        near = is_near(
            endpoint.base_url
        )  # there a model's name proves nothing: its window depends on how it was loaded
        return ServerWindow(self._questions, endpoint, model, None if near else known_window(model))

    async def aclose(self) -> None:
        await self._questions.aclose()

    def prepare(self) -> "asyncio.Task[httpx.AsyncClient] | None":
        """Begin to build the client, on the loop, ahead of the first turn. The demo model needs none."""
        try:
            foreseen = choose_provider(self._loaded().config, self._environ).provider
        except ConfigError:
            return None  # reported when a turn asks for it
        return self._client.prepare() if foreseen.id != DEMO else None

    def notice(self, conversation: ConversationId, settings: Settings) -> str | None:
        """A message to the person about our choice of the model, once; None if the person made the choice."""
        if self._noticed:
            return None
        loaded = self._loaded().with_overrides(settings.overrides)
        env = self._environment_of(conversation)
        choice = choose_provider(loaded.config, env, loaded.editable(self._environ))
        if settings.provider not in {"", choice.provider.id}:
            return None
        self._noticed = choice.notice is not None
        return choice.notice


def _choose_endpoint(loaded: LoadedConfig, env: Mapping[str, str], settings: Settings) -> ChosenEndpoint:
    config, name = loaded.with_overrides(settings.overrides).config, settings.provider
    provider = provider_named(name, config, env) if name else choose_provider(config, env).provider
    if provider.id == DEMO:
        return ChosenEndpoint(loaded, env, settings, config, None, BilledModel(settings.model))
    longest, searches = config.model_max_output_tokens, config.tools.web_search
    endpoint = endpoint_of(provider, env, longest, web_search=searches)
    price = price_of(config.greenroom.prices, provider.id, provider.base_url, settings.model)
    return ChosenEndpoint(loaded, env, settings, config, endpoint, BilledModel(settings.model, provider.id, price))


def endpoint_of(
    provider: Provider, env: Mapping[str, str], longest_answer: int | None = None, *, web_search: bool = False
) -> Endpoint:
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
        key_header=definition.key_header,
        longest_answer=longest_answer,
        web_search=web_search,
    )
