"""Models behind an endpoint, on any of the wires. Loop thread."""

from supervisor.agent.backends.ports import Notify
from supervisor.agent.context.window import ContextWindow, FixedWindow
from supervisor.agent.model.answer import Deliver
from supervisor.agent.model.client import ModelClient
from supervisor.agent.model.endpoint import Endpoint
from supervisor.agent.model.retry import Build, respond
from supervisor.agent.model.wire import form
from supervisor.agent.spending.account import Asked


class OpenAiModel:
    """One endpoint; the client is shared by all of them."""

    def __init__(
        self,
        client: ModelClient,
        endpoint: Endpoint,
        model: str = "",
        window: ContextWindow | None = None,
        asked: Asked | None = None,
    ) -> None:
        self.window = window or FixedWindow()
        self.form = form(endpoint.wire, model)
        self.asked = asked or Asked(model)
        self._client = client
        self._endpoint = endpoint

    async def respond(self, build: Build, deliver: Deliver, notify: Notify) -> None:
        await respond(self._client, self._endpoint, build, deliver, notify)
