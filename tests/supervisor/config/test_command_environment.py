from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.config.command_environment import command_environment
from supervisor.config.config_problems import HIDDEN_VALUE
from supervisor.config.shared_keys import ShellEnvironmentPolicy

CLIENT = {
    "PATH": "/bin",
    "HOME": "/h",
    "EDITOR": "vi",
    "OPENAI_API_KEY": "k",
    "github_token": "t",
    "MySecretThing": "s",
    "AWS_REGION": "eu",
    "AWS_PROFILE": "p",
}


def names(**policy: Any) -> set[str]:
    return set(command_environment(CLIENT, ShellEnvironmentPolicy(**policy)))


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ({}, {"PATH", "HOME", "EDITOR", "AWS_REGION", "AWS_PROFILE"}),
        ({"inherit": "core"}, {"PATH", "HOME"}),
        ({"inherit": "none"}, set()),
        ({"ignore_default_excludes": True}, set(CLIENT)),
        ({"exclude": ["aws_*", "edit?r"]}, {"PATH", "HOME"}),
        ({"include_only": ["P*", "aws_region", "OPENAI_*"]}, {"PATH", "AWS_REGION"}),
        ({"inherit": "none", "set": {"A_KEY": "1"}}, {"A_KEY"}),
        ({"set": {"A": "1", "B": "2"}, "include_only": ["A"]}, {"A"}),
        ({"exclude": ["[PH]*"]}, {"PATH", "HOME", "EDITOR", "AWS_REGION", "AWS_PROFILE"}),
    ],
)
def test_each_step_of_the_policy_takes_its_part(policy: dict[str, Any], kept: set[str]) -> None:
    assert names(**policy) == kept


def test_a_set_variable_goes_before_an_inherited_one() -> None:
    environment = command_environment(CLIENT, ShellEnvironmentPolicy(set={"PATH": "/mine", "EXTRA_TOKEN": "t"}))
    assert (environment["PATH"], environment["EXTRA_TOKEN"]) == ("/mine", "t")
    assert CLIENT["PATH"] == "/bin"


values = st.text(max_size=3).filter(lambda value: value != HIDDEN_VALUE)  # that is a value which was not stored
variables = st.dictionaries(st.text("aAbKEYTOSCR_*[?", min_size=1, max_size=8), values, max_size=6)


@given(variables, variables, st.lists(st.text("aAbK*?[]!", max_size=4)))
def test_no_inherited_secret_passes_the_default_policy(
    environ: dict[str, str], chosen: dict[str, str], patterns: list[str]
) -> None:
    policy = ShellEnvironmentPolicy(set=chosen, exclude=tuple(patterns))
    kept = command_environment(environ, policy)
    for name, value in kept.items():
        assert name in chosen or not any(word in name.upper() for word in ("KEY", "SECRET", "TOKEN"))
        assert value == chosen.get(name, environ.get(name))
    assert chosen.keys() <= kept.keys()


@pytest.mark.parametrize(
    "name",
    [
        *("PGPASSWORD", "MYSQL_PWD", "GITHUB_PAT", "NPM_AUTH", "REDISCLI_AUTH", "npm_config__auth", "SMTP_PASS"),
        *("DB_PASSWD", "GPG_PASSPHRASE", "GOOGLE_APPLICATION_CREDENTIALS", "SESSION_COOKIE", "TLS_PRIVATE"),
        *("SOME_JWT", "PASS", "PAT", "HTTP_AUTHORIZATION"),
    ],
)
def test_a_name_by_which_secrets_are_called_is_dropped_unless_the_defaults_are_ignored(name: str) -> None:
    assert command_environment({name: "x"}, ShellEnvironmentPolicy()) == {}
    assert command_environment({name: "x"}, ShellEnvironmentPolicy(ignore_default_excludes=True)) == {name: "x"}


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "SESSION_MANAGER"),
        *("XDG_SESSION_ID", "COMPASS_HOME", "CLASSPATH", "AUTHOR", "GIT_AUTHOR_NAME", "SSH_ASKPASS", "PATCH_LEVEL"),
    ],
)
def test_a_name_that_only_looks_like_one_is_kept(name: str) -> None:
    assert command_environment({name: "x"}, ShellEnvironmentPolicy()) == {name: "x"}
