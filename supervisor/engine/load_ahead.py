"""Loads what every turn needs, so that the first turn of a daemon does not wait for it.

Begins when a client introduces itself that may want a conversation. Lives on the loop; each piece is loaded in a
worker thread, and between two pieces the loop has its turn.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import structlog

from actors.conversation.restore import checkpoint_adapter
from actors.vocabulary import events as ev
from actors.vocabulary.items import TextItem
from actors.vocabulary.settings import DangerFullAccess, ReadOnly, Settings, WorkspaceWrite
from supervisor.engine.late import Late

if TYPE_CHECKING:
    from supervisor.agents.own.own_agent import OwnAgent

log = structlog.get_logger()

OWN = "supervisor.agents.own"
MODULES = (  # in an order that gives each some 20 ms at most
    *("importlib.metadata", "ssl", "urllib.request", "httpx", "httpcore"),
    *(f"{OWN}.model.{name}" for name in ("endpoint", "window_questions", "answer_reader", "wire")),
    *(f"{OWN}.tools.arguments", f"{OWN}.context.compactor", f"{OWN}.backends.model"),
    *("supervisor.work.sandbox.git_view", "supervisor.work.sandbox.sandbox", f"{OWN}.tools.own_tools"),
    f"{OWN}.own_agent",
)
MODELS = (
    *(Settings, DangerFullAccess, WorkspaceWrite, ReadOnly, TextItem),
    *(ev.SessionConfigured, ev.TaskStarted, ev.UserMessage, ev.AgentMessageDelta, ev.AgentMessage),
    *(ev.TokenCount, ev.UncountedAnswer, ev.TaskComplete),
)
PIECES: tuple[Callable[[], object], ...] = (
    ev.durable_adapter.rebuild,
    checkpoint_adapter,
    *(model.model_rebuild for model in MODELS),
    *(partial(import_module, name) for name in MODULES),
)


async def load_ahead(agent: "Late[OwnAgent]") -> None:
    try:
        for piece in PIECES:
            await asyncio.to_thread(piece)
        own = await asyncio.shield(agent.prepare())
        if (building := own.prepare()) is not None:
            await asyncio.shield(building)
    except Exception as error:  # noqa: BLE001  # no descriptor was left, for example; the first turn says what is wrong
        log.warning("agent.loaded_later", reason=str(error))
    else:
        log.info("agent.loaded")
