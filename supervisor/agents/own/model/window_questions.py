"""Questions to a person's own servers about a model's window: Ollama, llama.cpp, vLLM, LM Studio. Loop thread.

Asked in the background, once in ten minutes, with a short bound; an answer that does not come means unknown. A hosted
service is never asked, and a server outside this network only for the list of its models.
"""

import asyncio
import ipaddress
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

import httpx
from msgspec import Struct
from pydantic_core import from_json

from supervisor.agents.own.model.decoding import Object, a_count, a_list, a_text, an_object
from supervisor.agents.own.model.endpoint import Endpoint, headers_of

ASK_S = 2.0  # for all questions to one server; a server on this machine answers in milliseconds
FRESH_S = 600.0  # after which it is asked again: the model may have been loaded with another window
AGAIN_S = 20.0  # after an answer without a number: Ollama knows it only when a first request has loaded the model
ANSWER_BYTES = 1 << 20  # of one answer; the list of a gateway with a thousand models has half of it
KEPT = 256  # endpoints and models
HOSTED = (
    *("openai.com", "azure.com", "anthropic.com", "googleapis.com", "openrouter.ai", "mistral.ai", "deepseek.com"),
    *("aliyuncs.com", "groq.com", "together.xyz", "together.ai", "x.ai", "fireworks.ai", "cohere.com", "cohere.ai"),
    *("moonshot.cn", "moonshot.ai", "bigmodel.cn", "z.ai", "amazonaws.com", "cerebras.ai", "nvidia.com"),
)


@lru_cache(KEPT)
def is_hosted(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return any(host == domain or host.endswith(f".{domain}") for domain in HOSTED)


@lru_cache(KEPT)
def is_near(base_url: str) -> bool:
    """Tell whether a server is on this machine or in this network: its name has no dot, or its address is private."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan"))


class KnownWindow(Struct, frozen=True):
    tokens: int | None
    at: float


class WindowQuestions:
    """The answers of servers. `ask` begins a question where none is fresh; the caller need not wait for it."""

    def __init__(
        self, http: Callable[[], "asyncio.Task[httpx.AsyncClient]"], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._http = http
        self._now = now
        self._told: dict[tuple[str, str], KnownWindow] = {}
        self._asking: dict[tuple[str, str], asyncio.Task[None]] = {}

    def ask(self, endpoint: Endpoint, model: str) -> "asyncio.Task[None] | None":
        """Begin to ask, unless the answer is fresh. Return the question under way, if there is one."""
        key = (endpoint.base_url, model)
        known = self._told.get(key)
        fresh_s = AGAIN_S if known is None or known.tokens is None else FRESH_S
        if key not in self._asking and (known is None or self._now() - known.at > fresh_s):
            task = asyncio.get_running_loop().create_task(self._find_out(key, endpoint), name="window-question")
            self._asking[key] = task
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        return self._asking.get(key)

    def known_tokens(self, endpoint: Endpoint, model: str) -> int | None:
        known = self._told.get((endpoint.base_url, model))
        return known.tokens if known else None

    def has_heard(self, endpoint: Endpoint, model: str) -> bool:
        return (endpoint.base_url, model) in self._told

    def learn(self, endpoint: Endpoint, model: str, tokens: int) -> None:
        """Remember the window that a refusal has named."""
        self._keep((endpoint.base_url, model), tokens)

    async def _find_out(self, key: tuple[str, str], endpoint: Endpoint) -> None:
        before = self._told.get(key)
        found = None
        with suppress(httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError, ValueError):
            async with asyncio.timeout(ASK_S):
                found = await _first_answer(await asyncio.shield(self._http()), endpoint, key[1])
        self._keep(key, found or (before.tokens if before else None))

    def _keep(self, key: tuple[str, str], tokens: int | None) -> None:
        self._told.pop(key, None)
        self._told[key] = KnownWindow(tokens, self._now())
        while len(self._told) > KEPT:
            del self._told[next(iter(self._told))]

    async def aclose(self) -> None:
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def _first_answer(http: httpx.AsyncClient, endpoint: Endpoint, model: str) -> int | None:
    """Ask one question after the other, until one is answered."""
    questions = _near_answers if is_near(endpoint.base_url) else _list_answers
    async for tokens in questions(http, endpoint, model):
        if tokens is not None and tokens > 0:
            return tokens
    return None


async def _near_answers(http: httpx.AsyncClient, endpoint: Endpoint, model: str) -> AsyncIterator[int | None]:
    parts = urlsplit(endpoint.base_url)
    root = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
    yield of_ollama_ps(await _answer(http, endpoint, f"{root}/api/ps"), model)
    yield of_ollama_show(await _answer(http, endpoint, f"{root}/api/show", {"model": model}))
    yield of_llama_cpp(await _answer(http, endpoint, f"{root}/props"))
    yield of_lm_studio(await _answer(http, endpoint, f"{root}/api/v0/models"), model)
    async for listed in _list_answers(http, endpoint, model):
        yield listed


async def _list_answers(http: httpx.AsyncClient, endpoint: Endpoint, model: str) -> AsyncIterator[int | None]:
    base = endpoint.base_url.rstrip("/")
    yield of_list(await _answer(http, endpoint, f"{base}/models"), model)


async def _answer(http: httpx.AsyncClient, endpoint: Endpoint, url: str, body: Object | None = None) -> Object:
    """Return a JSON object that a server answers, or an empty one. Of an endless page, ANSWER_BYTES are read."""
    headers = {name: value for name, value in headers_of(endpoint, "").items() if name.lower() != "accept"}
    read = bytearray()
    async with http.stream("POST" if body else "GET", url, headers=headers, json=body) as response:
        if not response.is_success:
            return {}
        async for chunk in response.aiter_raw():
            read += chunk
            if len(read) > ANSWER_BYTES:
                return {}
    with suppress(ValueError):
        return an_object(from_json(bytes(read)))
    return {}


def of_ollama_ps(answer: Object, model: str) -> int | None:
    """Read the window with which Ollama has loaded the model; `latest` may be left out of names."""
    for entry in map(an_object, a_list(answer.get("models"))):
        names = {a_text(entry.get("name")), a_text(entry.get("model"))}
        if model in names or f"{model}:latest" in names:
            return a_count(entry.get("context_length"))
    return None


def of_ollama_show(answer: Object) -> int | None:
    """Read the window that the model's file sets. Without one Ollama decides when it loads the model."""
    for line in a_text(answer.get("parameters")).splitlines():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return a_count(int(value))
    return None


def of_llama_cpp(answer: Object) -> int | None:
    return a_count(an_object(answer.get("default_generation_settings")).get("n_ctx"))


def of_lm_studio(answer: Object, model: str) -> int | None:
    """Read the window of a loaded model. Another model's window is decided when it is loaded."""
    for entry in map(an_object, a_list(answer.get("data"))):
        if a_text(entry.get("id")) == model:
            return a_count(entry.get("loaded_context_length"))
    return None


def of_list(answer: Object, model: str) -> int | None:
    """Read the window in a list of models, as vLLM, SGLang and some gateways write it."""
    for entry in map(an_object, a_list(answer.get("data"))):
        if a_text(entry.get("id")) == model:
            return a_count(entry.get("max_model_len")) or a_count(entry.get("context_length"))
    return None
