"""The window of the model at hand: known from the start, or asked of its server in the background. Loop thread."""

import asyncio
from typing import Protocol

from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.window_questions import ASK_S, WindowQuestions


class ContextWindow(Protocol):
    @property
    def tokens(self) -> int | None:
        """The tokens that the model can read at once, as far as is known now."""
        ...

    async def wait_until_known(self) -> int | None:
        """Wait for a first answer that is under way, for a short time."""
        ...

    def learn(self, tokens: int) -> None:
        """Remember the window that a refusal has named."""
        ...


class FixedWindow:
    """A window from the config or the table, or one that is unknown until a refusal names it."""

    def __init__(self, tokens: int | None = None) -> None:
        self.tokens = tokens

    async def wait_until_known(self) -> int | None:
        return self.tokens

    def learn(self, tokens: int) -> None:
        self.tokens = tokens


class ServerWindow:
    """A window that the model's server is asked for; `otherwise`, where it does not say."""

    def __init__(
        self, questions: WindowQuestions, endpoint: Endpoint, model: str, otherwise: int | None = None
    ) -> None:
        self._questions = questions
        self._endpoint = endpoint
        self._model = model
        self._otherwise = otherwise
        questions.ask(endpoint, model)

    @property
    def tokens(self) -> int | None:
        return self._questions.known_tokens(self._endpoint, self._model) or self._otherwise

    async def wait_until_known(self) -> int | None:
        if not self._questions.has_heard(self._endpoint, self._model):
            under_way = self._questions.ask(self._endpoint, self._model)
            if under_way is not None:
                await asyncio.wait({under_way}, timeout=ASK_S)
        return self.tokens

    def learn(self, tokens: int) -> None:
        self._questions.learn(self._endpoint, self._model, tokens)
