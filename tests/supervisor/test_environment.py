from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.config.shared import ShellEnvironmentPolicy
from supervisor.environment import command_environment

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


def test_what_is_set_goes_before_what_was_inherited() -> None:
    environment = command_environment(CLIENT, ShellEnvironmentPolicy(set={"PATH": "/mine", "EXTRA_TOKEN": "t"}))
    assert (environment["PATH"], environment["EXTRA_TOKEN"]) == ("/mine", "t")
    assert CLIENT["PATH"] == "/bin"


variables = st.dictionaries(st.text("aAbKEYTOSCR_*[?", min_size=1, max_size=8), st.text(max_size=3), max_size=6)


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
