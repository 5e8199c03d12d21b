"""The choice of the model, the notice about it, and the message when the model can't be asked."""

from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from tests.support.engine_harness import EngineHarness, harness_at, provider
from tests.support.model_server import ModelServer


def notices(harness: EngineHarness, conversation_provider: str = "") -> list[str]:
    """Return the messages of two turns beside the answer."""
    conversation = harness.talk(provider=conversation_provider)
    conversation.ask("say one")
    conversation.ask("say two")
    return [one.message for one in conversation.all(ev.BackgroundEvent)]


def test_without_provider_and_key_the_demo_answers_and_says_so_once(tmp_path: Path) -> None:
    with EngineHarness(tmp_path) as harness:
        (notice,) = notices(harness)
    assert notice == (
        "using the built-in demo model, because no provider is named and OPENAI_API_KEY is not set; "
        f'to change that: model_provider = "openai" in {tmp_path}/config/config.toml'
    )


def test_without_provider_but_with_a_key_openai_is_asked_and_that_is_said_once(
    tmp_path: Path, server: ModelServer
) -> None:
    environ = {"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": server.base_url}
    with EngineHarness(tmp_path, environ=environ) as harness:
        (notice,) = notices(harness)
    assert notice.startswith("using OpenAI, because OPENAI_API_KEY is set; to change that: model_provider = ")
    assert [request.path for request in server.requests] == ["/v1/responses"] * 2
    assert server.requests[0].headers["authorization"] == "Bearer sk-test-0123456789"


def test_a_provider_that_the_config_names_needs_no_notice(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, top='model_provider = "mock"') as harness:
        assert notices(harness) == notices(harness, "mock") == notices(harness, "demo") == []
    assert len(server.requests) == 4


def test_a_provider_that_the_conversations_own_overrides_name_needs_no_notice(tmp_path: Path) -> None:
    with EngineHarness(tmp_path) as harness:
        conversation = harness.talk(provider="demo", overrides={"model_provider": "demo"})
        conversation.ask("say one")
        assert conversation.all(ev.BackgroundEvent) == []


def test_the_key_is_the_clients_and_the_daemons_where_the_client_has_none(
    tmp_path: Path, server: ModelServer
) -> None:
    lines = provider(server.base_url, env_key='"MY_KEY"').replace('"my_key"', '"MY_KEY"')
    with EngineHarness(tmp_path, lines, {"MY_KEY": "of-the-daemon"}) as harness:
        mine, other = harness.talk(), harness.talk()
        harness.engine.environments.remember(mine.conversation, {"MY_KEY": "of-the-client"})
        mine.ask("say one")
        other.ask("say one")
    assert [request.headers["authorization"] for request in server.requests] == [
        "Bearer of-the-client",
        "Bearer of-the-daemon",
    ]


def test_a_key_that_is_missing_is_an_error_that_names_it_and_the_next_turn_works(
    tmp_path: Path, server: ModelServer
) -> None:
    with EngineHarness(
        tmp_path, provider(server.base_url) + 'env_key = "MY_KEY"\nenv_key_instructions = "Ask Ann."\n'
    ) as harness:
        conversation = harness.talk()
        failed = conversation.result(conversation.start("say one"))
        assert (failed.ending, failed.message) == (Ending.ERROR, "Missing environment variable: `MY_KEY`. Ask Ann.")
        assert conversation.types()[-2:] == ["error", "task_complete"]
        harness.engine.environments.remember(conversation.conversation, {"MY_KEY": "key-0123456789"})
        assert conversation.ask("say two").message == "two"


def test_a_provider_that_a_conversation_brought_along_is_asked(tmp_path: Path, server: ModelServer) -> None:
    brought = {"model_providers": {"own": {"name": "own", "base_url": server.base_url, "wire_api": "chat"}}}
    with EngineHarness(tmp_path, "") as harness:
        assert harness.talk(provider="own", overrides=brought).ask("say one").message == "one"
    assert len(server.requests) == 1


def test_a_provider_that_nobody_knows_is_an_error_and_not_another_one(
    harness: EngineHarness, server: ModelServer
) -> None:
    conversation = harness.talk(provider="nobody")
    failed = conversation.result(conversation.start("say one"))
    assert (failed.ending, failed.message) == (Ending.ERROR, "Model provider `nobody` not found")
    assert not server.requests


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("status 401 wrong key", "unexpected status 401 Unauthorized: wrong key"),
        ("status 500 times=all", "exceeded retry limit, last status: 500 Internal Server Error: status 500"),
        ("status 429 type=usage_limit_reached", "You've hit your usage limit."),
        ("cut times=all", "stream disconnected before completion: "),
    ],
)
def test_a_model_that_fails_ends_the_turn_and_the_next_one_works(
    harness: EngineHarness, server: ModelServer, said: str, told: str
) -> None:
    conversation = harness.talk()
    failed = conversation.result(conversation.start(said))
    assert failed.ending is Ending.ERROR
    assert failed.message is not None
    assert failed.message.startswith(told)
    assert conversation.types()[-2:] == ["error", "task_complete"]
    assert conversation.ask("say on").message == "on"
    assert len([line for line in server.requests[-1].body["messages"] if line["role"] == "user"]) == 3
