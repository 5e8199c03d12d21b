"""Models of an endpoint, on any of the wires. Loop thread."""

from supervisor.agents.own.backends.ports import Notify
from supervisor.agents.own.context.window import ContextWindow, FixedWindow
from supervisor.agents.own.model.answer_reader import Deliver
from supervisor.agents.own.model.client import ModelClient
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.retry import Build, respond
from supervisor.agents.own.model.wire import form
from supervisor.agents.spending.account import BilledModel


class OpenAiModel:
    """A model of one endpoint; all of them share one HTTP client."""

    def __init__(
        self,
        client: ModelClient,
        endpoint: Endpoint,
        model: str = "",
        window: ContextWindow | None = None,
        asked: BilledModel | None = None,
    ) -> None:
        self.window = window or FixedWindow()
        self.form = form(endpoint.wire, model)
        self.billing = asked or BilledModel(model)
        self._client = client
        self._endpoint = endpoint

    async def respond(self, build: Build, deliver: Deliver, notify: Notify) -> None:
        await respond(self._client, self._endpoint, build, deliver, notify)
