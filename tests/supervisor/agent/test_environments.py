"""Whose environment a conversation's commands run with."""

from actors.ids import ConversationId
from supervisor.agent.environments import KEPT, Environments
from supervisor.config.shared import ShellEnvironmentPolicy

ONE = ConversationId("one")


def test_the_newest_client_wins_and_its_secrets_stay_out_of_commands() -> None:
    environments = Environments({"PATH": "/daemon"}, ShellEnvironmentPolicy())
    environments.remember(ONE, {"PATH": "/old"})
    environments.remember(ONE, {"PATH": "/new", "API_KEY": "k"})
    assert environments.of(ONE)["API_KEY"] == "k"
    assert dict(environments.for_commands(ONE)) == {"PATH": "/new"}


def test_a_conversation_without_a_client_has_the_daemons_own() -> None:
    environments = Environments({"PATH": "/daemon"}, ShellEnvironmentPolicy())
    environments.remember(ONE, {"PATH": "/client"})
    environments.forget(ONE)
    assert environments.for_commands(ONE)["PATH"] == "/daemon"


def test_environments_of_conversations_that_never_were_do_not_pile_up() -> None:
    environments = Environments({"PATH": "/daemon"}, ShellEnvironmentPolicy())
    for number in range(KEPT + 1):
        environments.remember(ConversationId(str(number)), {"PATH": str(number)})
    assert environments.for_commands(ConversationId("0"))["PATH"] == "/daemon"
    assert environments.for_commands(ConversationId(str(KEPT)))["PATH"] == str(KEPT)
