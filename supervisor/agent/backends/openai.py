"""Models behind an OpenAI-like endpoint, on either of its two wires. Loop thread."""

from supervisor.agent.backends.model import Notify
from supervisor.agent.model.client import Deliver, ModelClient
from supervisor.agent.model.endpoint import Endpoint
from supervisor.agent.model.retry import Build, respond
from supervisor.agent.model.wire import FORMS


class OpenAiModel:
    """One endpoint; the client is shared by all of them."""

    def __init__(self, client: ModelClient, endpoint: Endpoint) -> None:
        self.form = FORMS[endpoint.wire]
        self._client = client
        self._endpoint = endpoint

    async def respond(self, build: Build, deliver: Deliver, notify: Notify) -> None:
        await respond(self._client, self._endpoint, build, deliver, notify)
