"""Our own agent, put together from the config: models, tools, histories.

Imported when the first conversation comes alive, see late_agent.py. Belongs to the loop.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from actors.conversation.orders import RunAgent
from actors.vocabulary.ports import Journal
from actors.vocabulary.settings import Decision
from supervisor.agent.backends.model import AgentOptions, ModelBackend
from supervisor.agent.environments import Around, Environments
from supervisor.agent.model.client import ModelClient
from supervisor.agent.processes.processes import Processes
from supervisor.agent.sandbox.sandbox import Sandbox
from supervisor.agent.tools.toolbox import Toolbox
from supervisor.agent.transcripts import TranscriptCache
from supervisor.config.load import LoadedConfig
from supervisor.engine.model_choice import Models

DEFAULTS: dict[str, Literal[Decision.DENIED, Decision.ABORT]] = {"denied": Decision.DENIED, "abort": Decision.ABORT}


class Needs(Struct, frozen=True):
    """The parts of the engine that it needs. `loaded` is the config as it is now; `environ` the daemon's own."""

    loaded: Callable[[], LoadedConfig]
    home: Path
    environ: Mapping[str, str]
    journal: Journal
    processes: Processes
    sandbox: Sandbox
    environments: Environments


class OwnAgent:
    def __init__(self, needs: Needs) -> None:
        self._needs = needs
        bounds = needs.loaded().config.greenroom.limits
        self._client = ModelClient(bounds=bounds)
        self._models = Models(self._client, needs.loaded, needs.environments.of, needs.environ)
        self.transcripts = TranscriptCache(needs.journal, bounds)
        self.backend = self._made()

    def prepare(self) -> None:
        """Begin what the first turn would otherwise wait for."""
        self._models.prepare()

    def reload(self) -> None:
        """Use the config as it is now, from the next turn on."""
        self.backend = self._made()

    async def aclose(self) -> None:
        await self._client.aclose()

    def _made(self) -> ModelBackend:
        needs, config = self._needs, self._needs.loaded().config
        options = AgentOptions(
            home=needs.home,
            guide_bytes=config.project_doc_max_bytes,
            show_raw_reasoning=config.show_raw_agent_reasoning,
            hide_reasoning=config.hide_agent_reasoning,
            store_responses=not config.disable_response_storage,
            approval_deadline_s=config.greenroom.approval_deadline_seconds,
            approval_default=DEFAULTS[config.greenroom.approval_default],
        )
        toolbox = Toolbox(needs.processes, needs.sandbox)
        return ModelBackend(self._models, self.transcripts, toolbox, options, self._around, config.greenroom.limits)

    def _around(self, order: RunAgent) -> Around:
        """Surroundings of commands by the current config, with the conversation's own overrides."""
        config = self._needs.loaded().relayered(order.settings.overrides).config
        return self._needs.environments.for_commands(order.conversation, config)
