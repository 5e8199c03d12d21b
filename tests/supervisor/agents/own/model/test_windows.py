"""Windows by name, by what a refusal says, and by what a server of one's own answers."""

import asyncio
from collections.abc import Iterator

import pytest

from supervisor.agents.own.context.window import ServerWindow
from supervisor.agents.own.model.client import ModelClient
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.window_questions import WindowQuestions, is_hosted, is_near
from supervisor.agents.own.model.window_refusals import WindowRefusal, refusal_in
from supervisor.agents.own.model.windows import TABLE, known_window
from tests.support.model_server import ModelServer


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("gpt-5", 400_000),
        ("gpt-5.2-codex", 400_000),
        ("openai/gpt-5-mini", 400_000),
        ("gpt-4o-2024-11-20", 128_000),
        ("gpt-4.1-nano", 1_047_576),
        ("gpt-4", 8_192),
        ("o3", 200_000),
        ("o4-mini", 200_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("anthropic/claude-opus-4.6", 1_000_000),
        ("gemini-2.5-pro", 1 << 20),
        ("google/gemini-3-flash", 1 << 20),
        ("Qwen/Qwen3-32B", 131_072),
        ("qwen/qwen3-coder", 256 << 10),
        ("meta-llama/Llama-3.1-8B-Instruct", 131_072),
        ("meta-llama-3-8b", 8_192),
        ("deepseek-chat", 131_072),
        ("mistral-large-latest", 128_000),
        ("codestral-latest", 256_000),
        ("mock-model", None),
        ("o365-helper", None),
        ("my-gpt-4", None),
    ],
)
def test_a_hosted_model_is_known_by_its_name_and_no_other(model: str, tokens: int | None) -> None:
    assert known_window(model) == tokens


def test_every_row_can_be_met() -> None:
    """A row behind a wider one would never count."""
    assert len({pattern for pattern, _ in TABLE}) == len(TABLE)


@pytest.mark.parametrize(
    ("words", "window", "counted"),
    [
        (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
            128_000,
            130_001,
        ),
        ("prompt is too long: 210123 tokens > 200000 maximum", 200_000, 210_123),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4_096, None),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
            1_200_000,
        ),
        ("maximum context length is 32,768 tokens", 32_768, None),
        ("your input exceeds the context window of this model", None, None),
        (f"maximum context length is 1{',000' * 400} tokens", None, None),
        (f"maximum context length is {'9' * 400} tokens", None, None),
    ],
)
def test_the_window_that_a_refusal_names_is_read(words: str, window: int | None, counted: int | None) -> None:
    assert refusal_in(words) == WindowRefusal(window, counted)


@pytest.mark.parametrize(
    ("url", "hosted", "near"),
    [
        ("https://api.openai.com/v1", True, False),
        ("https://me.openai.azure.com/openai", True, False),
        ("http://localhost:11434/v1", False, True),
        ("http://127.0.0.1:8080", False, True),
        ("http://192.168.1.7:1234/v1", False, True),
        ("http://gpu-box:8000/v1", False, True),
        ("https://models.example.com/v1", False, False),
        ("https://notopenai.com/v1", False, False),
    ],
)
def test_only_servers_of_ones_own_are_asked(url: str, hosted: bool, near: bool) -> None:  # parameters
    assert (is_hosted(url), is_near(url)) == (hosted, near)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def found(server: ModelServer, model: str = "m", otherwise: int | None = None) -> int | None:
    async def scene() -> int | None:
        async with ModelClient() as client:
            questions = WindowQuestions(client.prepare)
            window = ServerWindow(questions, Endpoint(server.base_url), model, otherwise)
            try:
                return await window.wait_until_known()
            finally:
                await questions.aclose()

    return asyncio.run(asyncio.wait_for(scene(), 10))


@pytest.mark.parametrize(
    "tells",
    [
        {
            "/api/ps": {
                "models": [{"name": "other", "context_length": 1}, {"name": "m:latest", "context_length": 4096}]
            }
        },
        {"/api/ps": {"models": []}, "/api/show": {"parameters": "stop x\nnum_ctx                        4096\n"}},
        {"/props": {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}},
        {"/api/v0/models": {"data": [{"id": "m", "max_context_length": 131072, "loaded_context_length": 4096}]}},
        {"/v1/models": {"data": [{"id": "m", "max_model_len": 4096}]}},
    ],
    ids=["ollama, loaded", "ollama, by its file", "llama.cpp", "LM Studio", "vLLM"],
)
def test_a_server_that_tells_is_believed(server: ModelServer, tells: dict[str, object]) -> None:
    server.tells = tells
    assert found(server, otherwise=1_000_000) == 4096
    assert server.requests == []


@pytest.mark.parametrize(
    "tells",
    [
        {},
        {"/v1/models": {"data": [{"id": "m"}]}, "/props": {"default_generation_settings": {"n_ctx": "many"}}},
        {"/v1/models": [1], "/api/ps": "yes", "/api/v0/models": {"data": {}}},
        {"/api/v0/models": {"data": [{"id": "m", "max_context_length": 131072, "state": "not-loaded"}]}},
        {"/props": {"default_generation_settings": {"n_ctx": 0}}},
        {"/props": {"default_generation_settings": {"n_ctx": 10**400}}},
        {"/v1/models": {"data": [{"id": "m", "max_model_len": -1, "context_length": 10**400}]}},
        {
            "/api/show": {"parameters": f"num_ctx {'9' * 400}\n"},
            "/api/ps": {"models": [{"name": "m", "context_length": 2**63}]},
        },
    ],
)
def test_a_server_that_tells_nothing_of_use_has_a_window_that_nobody_knows(
    server: ModelServer, tells: dict[str, object]
) -> None:
    server.tells = tells
    assert found(server) is None
    assert found(server, otherwise=7_000) == 7_000


def test_nobody_there_is_no_error() -> None:
    with ModelServer() as server:
        pass
    assert found(server) is None


def test_it_is_asked_again_only_when_its_answer_is_old(server: ModelServer) -> None:
    now = [0.0]

    async def scene() -> None:
        async with ModelClient() as client:
            questions = WindowQuestions(client.prepare, lambda: now[0])
            endpoint = Endpoint(server.base_url)
            server.tells = {"/props": {"default_generation_settings": {"n_ctx": 4096}}}
            assert await ServerWindow(questions, endpoint, "m").wait_until_known() == 4096
            assert questions.ask(endpoint, "m") is None
            server.tells = {"/props": {"default_generation_settings": {"n_ctx": 8192}}}
            now[0] = 601.0
            asking = questions.ask(endpoint, "m")
            assert asking is not None
            assert questions.known_tokens(endpoint, "m") == 4096
            await asking
            assert questions.known_tokens(endpoint, "m") == 8192
            await questions.aclose()

    asyncio.run(asyncio.wait_for(scene(), 10))
