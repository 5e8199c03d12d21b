"""The protocols of a model: its window, its form of a history, its price, and one response. A leaf."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Settings
from supervisor.agents.own.context.window import ContextWindow
from supervisor.agents.own.model.answer_reader import Deliver
from supervisor.agents.own.model.history_pieces import Form
from supervisor.agents.own.model.retry import Build, Pause
from supervisor.agents.spending.account import BilledModel

Notify = Callable[[Pause], Awaitable[None]]


class Model(Protocol):
    @property
    def window(self) -> ContextWindow:
        """The tokens that the model can read at once."""
        ...

    @property
    def form(self) -> Form:
        """The form in which the model reads a history."""
        ...

    @property
    def billing(self) -> BilledModel:
        """The model's name, provider and price."""
        ...

    async def respond(self, build: Build, deliver: Deliver, notify: Notify) -> None:
        """Get one response. `build` is called before every attempt, `notify` before every pause."""
        ...


class ModelSource(Protocol):
    def model_for(self, conversation: ConversationId, settings: Settings) -> Model:
        """Return the model that these settings name. Raises ModelError if there is none."""
        ...

    def forget(self, conversation: ConversationId) -> None:
        """Drop everything that is remembered of a conversation."""
        ...

    def notice(self, conversation: ConversationId, settings: Settings) -> str | None:
        """Return, once, the text about how the model was chosen that a person should read."""
        ...
