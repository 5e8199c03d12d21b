from supervisor.config import Change, Config, differences, parse_overrides
from supervisor.config.load import ConfigFile, layer


def configured(*overrides: str) -> Config:
    return layer(ConfigFile(), parse_overrides(overrides)).config


def test_equal_configurations_have_no_differences() -> None:
    assert differences(configured("model=a"), configured("model=a")) == []


def test_each_key_that_differs_is_named_with_both_values() -> None:
    old = configured("model=a", "greenroom.idle_park_seconds=5", "sandbox_workspace_write.writable_roots=['/a']")
    new = configured("approval_policy=never", "greenroom.idle_park_seconds=6.5")
    assert differences(old, new) == [
        Change("model", '"a"', "unset"),
        Change("approval_policy", '"on-request"', '"never"'),
        Change("sandbox_workspace_write.writable_roots", '["/a"]', "[]"),
        Change("greenroom.idle_park_seconds", "5", "6.5"),
    ]


def test_a_provider_that_comes_or_goes_is_told_by_its_keys() -> None:
    one = configured('model_providers."my own".base_url=http://x')
    assert Change('model_providers."my own".base_url', "unset", '"http://x"') in differences(Config(), one)
    assert Change('model_providers."my own".base_url', '"http://x"', "unset") in differences(one, Config())


def test_a_secret_that_changed_is_told_without_being_shown() -> None:
    old = configured("model_providers.x.http_headers.X-Any=first-secret", "shell_environment_policy.set.A=one")
    new = configured("model_providers.x.http_headers.X-Any=second-secret", "shell_environment_policy.set.B=two")
    changes = differences(old, new)
    assert changes == [
        Change("model_providers.x.http_headers.X-Any", "(not shown)", "(not shown)"),
        Change("shell_environment_policy.set.A", "(not shown)", "unset"),
        Change("shell_environment_policy.set.B", "unset", "(not shown)"),
    ]
