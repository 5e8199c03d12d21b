"""The environment and umask of a conversation's commands, and the variables that never reach them."""

import weakref
from typing import Any

import pytest

from actors.vocabulary.ids import ConversationId
from supervisor.agents.environments import KEPT, Environments
from supervisor.config.whole_config import Config

ONE = ConversationId("one")
PLAIN = Config()
PROVIDERS: dict[str, Any] = {
    "mine": {
        "base_url": "http://here",
        "env_key": "MY_LLM",
        "http_headers": {"X-Written": "written-in-the-file"},
        "env_http_headers": {"X-Gate": "GATEWAY"},
    },
    "other": {"base_url": "http://there", "env_key": "OTHER", "query_params": {"code": "asked-with-this"}},
}
NAMED = Config.model_validate({"model_providers": PROVIDERS})


def commands(environments: Environments, config: Config = PLAIN) -> dict[str, str]:
    return dict(environments.for_commands(ONE, config).env)


def test_the_newest_client_wins_and_its_secrets_stay_out_of_commands() -> None:
    environments = Environments({"PATH": "/daemon"})
    environments.remember(ONE, {"PATH": "/old"}, 0o077)
    environments.remember(ONE, {"PATH": "/new", "API_KEY": "k"}, 0o002)
    assert environments.variables_of(ONE)["API_KEY"] == "k"
    assert commands(environments) == {"PATH": "/new"}
    assert environments.for_commands(ONE, PLAIN).umask == 0o002


def test_the_environment_of_commands_is_worked_out_again_for_another_config_only() -> None:
    environments = Environments({})
    environments.remember(ONE, {"PATH": "/client", "MY_LLM": "k"}, 0o077)
    first = environments.for_commands(ONE, PLAIN).env
    assert environments.for_commands(ONE, PLAIN).env is first
    assert commands(environments, NAMED) == {"PATH": "/client"}
    assert commands(environments) == {"PATH": "/client", "MY_LLM": "k"}


def test_nothing_is_kept_of_an_environment_that_no_conversation_has_any_more() -> None:
    class Variables(dict[str, str]):
        """As a client's, with references to it that can be counted."""

    environments, env = Environments({}), Variables(PATH="/client")
    environments.remember(ONE, env)
    commands(environments)
    environments.variables_of(ONE)
    environments.forget(ONE)
    gone = weakref.ref(env)
    del env
    assert gone() is None
    assert not environments._for_commands
    assert not environments._whole


def test_the_whole_environment_is_the_same_object_until_another_client_comes() -> None:
    environments = Environments({"PATH": "/daemon", "HOME": "/home"})
    environments.remember(ONE, {"PATH": "/client"})
    first = environments.variables_of(ONE)
    assert environments.variables_of(ONE) is first
    assert first == {"PATH": "/client", "HOME": "/home"}
    environments.remember(ONE, {"PATH": "/other"})
    assert environments.variables_of(ONE)["PATH"] == "/other"


def test_a_conversation_without_a_client_has_the_daemons_own_and_the_usual_umask() -> None:
    environments = Environments({"PATH": "/daemon"})
    environments.remember(ONE, {"PATH": "/client"}, 0o077)
    environments.forget(ONE)
    assert commands(environments) == {"PATH": "/daemon"}
    assert environments.for_commands(ONE, PLAIN).umask == 0o022


def test_a_client_that_does_not_say_its_umask_has_the_usual_one() -> None:
    environments = Environments({})
    environments.remember(ONE, {"PATH": "/client"})
    assert environments.for_commands(ONE, PLAIN).umask == 0o022


def test_environments_of_conversations_that_never_were_do_not_pile_up() -> None:
    environments = Environments({"PATH": "/daemon"})
    for number in range(KEPT + 1):
        environments.remember(ConversationId(str(number)), {"PATH": str(number)})
    assert environments.for_commands(ConversationId("0"), PLAIN).env["PATH"] == "/daemon"
    assert environments.for_commands(ConversationId(str(KEPT)), PLAIN).env["PATH"] == str(KEPT)


@pytest.mark.parametrize("policy", [{}, {"ignore_default_excludes": True}, {"include_only": ["*"]}])
def test_a_variable_that_the_config_names_as_a_key_is_dropped_under_every_policy(policy: dict[str, Any]) -> None:
    config = Config.model_validate({"model_providers": PROVIDERS, "shell_environment_policy": policy})
    environments = Environments({})
    keys = {"MY_LLM": "a", "GATEWAY": "b", "OTHER": "c", "OPENAI_API_KEY": "d", "OPENAI_ORGANIZATION": "e"}
    environments.remember(ONE, {"PLAIN": "yes", **keys})
    assert commands(environments, config) == {"PLAIN": "yes"}
    assert environments.for_notices(ONE, config).env == {"PLAIN": "yes"}


def test_a_variable_with_the_value_of_a_key_is_dropped_by_whatever_name() -> None:
    key = "a-key-that-is-long-enough"
    environments = Environments({"MY_LLM": key})  # the daemon's only; the client has a copy
    copies = {
        "COPY": key,
        "PADDED": f" {key}\n",
        "HEADER": f"Bearer {key}",
        "WRITTEN": "written-in-the-file",
        "ASKED": "asked-with-this",
    }
    environments.remember(ONE, {"PLAIN": "yes", **copies})
    assert commands(environments, NAMED) == {"PLAIN": "yes"}


def test_a_short_key_takes_no_other_variable_with_it() -> None:
    environments = Environments({})
    environments.remember(ONE, {"MY_LLM": "1", "GATEWAY": "", "CI": "1", "EMPTY": ""})
    assert commands(environments, NAMED) == {"CI": "1", "EMPTY": ""}


def test_a_variable_set_by_the_policy_is_kept_like_any_word_of_the_person() -> None:
    config = Config.model_validate(
        {"model_providers": PROVIDERS, "shell_environment_policy": {"set": {"MY_LLM": "for-commands"}}}
    )
    environments = Environments({})
    environments.remember(ONE, {"MY_LLM": "for-the-model"})
    assert commands(environments, config) == {"MY_LLM": "for-commands"}


def test_a_value_that_an_override_set_and_nobody_stored_is_not_set_to_the_sign_for_that() -> None:
    config = Config.model_validate({"shell_environment_policy": {"set": {"A": "[…]", "B": "b"}}})
    environments = Environments({"A": "before"})
    assert commands(environments, config) == {"A": "before", "B": "b"}
