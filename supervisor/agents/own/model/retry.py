"""Attempts within two budgets, and the pauses between them. Runs on the loop thread."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from msgspec import Struct

from supervisor.agents.errors import RequestFailed, RetriesExhausted, RetryableModelError
from supervisor.agents.own.model.answer_reader import Deliver
from supervisor.agents.own.model.client import ModelClient
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.request import ModelRequest

FIRST_DELAY_S = 0.2
MAX_DELAY_S = 60.0  # of our own back-off; a config may allow many tries
MAX_ASKED_S = 600.0  # a server that asks for more is down for the day, and a person should hear of it now

Build = Callable[[], Awaitable[ModelRequest]]
Uniform = Callable[[float, float], float]


class Pause(Struct, frozen=True):
    """A pause of `delay_s` before try `attempt` of `of`, because of `reason`."""

    reason: str
    attempt: int
    most_attempts: int
    delay_s: float

    @property
    def text(self) -> str:
        attempt = f"retrying {self.attempt}/{self.most_attempts} in {format_delay(self.delay_s)}"
        return f"stream error: {self.reason}; {attempt}…"


class RetryBudgets:
    """The failures of one response, counted. A stream that began renews the request budget."""

    def __init__(self, endpoint: Endpoint, uniform: Uniform) -> None:
        self._endpoint = endpoint
        self._uniform = uniform
        self._requests = 0
        self._streams = 0

    def next_pause(self, error: RetryableModelError) -> Pause:
        """Return the pause before the next try, or raise the final error."""
        if isinstance(error, RequestFailed):
            self._requests += 1
            attempt, most, final = self._requests, self._endpoint.request_max_retries, error.exhausted
        else:
            self._requests = 0
            self._streams += 1
            attempt, most, final = self._streams, self._endpoint.stream_max_retries, error.message
        if attempt > most:
            raise RetriesExhausted(final) from error
        if (error.retry_after_s or 0) > MAX_ASKED_S:
            raise RetriesExhausted(
                f"{error.message} (the server asks to wait {format_delay(error.retry_after_s or 0)})"
            ) from error
        return Pause(error.message, attempt, most, error.retry_after_s or back_off(attempt, self._uniform))


async def respond(
    client: ModelClient,
    endpoint: Endpoint,
    build: Build,
    deliver: Deliver,
    notify: Callable[[Pause], Awaitable[None]],
    *,
    uniform: Uniform = random.uniform,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Get one response, over as many attempts as needed. docs/models.md has the guarantees of the callables."""
    budgets = RetryBudgets(endpoint, uniform)
    while True:
        request = await build()
        try:
            await client.attempt(endpoint, request, deliver)
        except RetryableModelError as error:
            pause = budgets.next_pause(error)
        else:
            return
        await notify(pause)
        await sleep(pause.delay_s)


def back_off(attempt: int, uniform: Uniform) -> float:
    doubled: float = FIRST_DELAY_S * 2 ** min(attempt - 1, 16)  # far beyond the cap, and never too large for a float
    return min(doubled, MAX_DELAY_S) * uniform(0.9, 1.1)


def format_delay(delay_s: float) -> str:
    milliseconds = round(delay_s * 1000)
    return f"{milliseconds}ms" if milliseconds < 1000 else f"{delay_s:.1f}".removesuffix(".0") + "s"
