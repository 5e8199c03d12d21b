from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from supervisor.config.config_changes import AT_THE_NEXT_START, differences, is_live
from supervisor.config.load import ConfigFile, layer
from supervisor.config.overrides import parse_overrides
from supervisor.config.whole_config import Config
from transports.supervisor_answers import KeyChange


def configured(*overrides: str) -> Config:
    return layer(ConfigFile(), parse_overrides(overrides)).config


def test_equal_configurations_have_no_differences() -> None:
    assert differences(configured("model=a"), configured("model=a")) == []


def test_each_key_that_differs_is_named_with_both_values() -> None:
    old = configured("model=a", "greenroom.idle_park_seconds=5", "sandbox_workspace_write.writable_roots=['/a']")
    new = configured("approval_policy=never", "greenroom.idle_park_seconds=6.5")
    assert differences(old, new) == [
        KeyChange("model", '"a"', "unset"),
        KeyChange("approval_policy", '"on-request"', '"never"'),
        KeyChange("sandbox_workspace_write.writable_roots", '["/a"]', "[]"),
        KeyChange("greenroom.idle_park_seconds", "5", "6.5", live=False),
    ]


def test_a_provider_that_comes_or_goes_is_told_by_its_keys() -> None:
    one = configured('model_providers."my own".base_url=http://x')
    assert KeyChange('model_providers."my own".base_url', "unset", '"http://x"') in differences(Config(), one)
    assert KeyChange('model_providers."my own".base_url', '"http://x"', "unset") in differences(one, Config())


def test_a_secret_that_changed_is_told_without_being_shown() -> None:
    old = configured("model_providers.x.http_headers.X-Any=first-secret", "shell_environment_policy.set.A=one")
    new = configured("model_providers.x.http_headers.X-Any=second-secret", "shell_environment_policy.set.B=two")
    changes = differences(old, new)
    assert changes == [
        KeyChange("model_providers.x.http_headers.X-Any", "(not shown)", "(not shown)"),
        KeyChange("shell_environment_policy.set.A", "(not shown)", "unset"),
        KeyChange("shell_environment_policy.set.B", "unset", "(not shown)"),
    ]


def keys(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from keys(field.annotation, (*above, name))
        else:
            yield (*above, name)


# For each of these keys it was checked that the program reads it again after a reload.
LIVE = {
    *(
        "model",
        "model_provider",
        "model_providers",
        "model_max_output_tokens",
        "model_context_window",
        "model_auto_compact_token_limit",
        "approval_policy",
        "sandbox_mode",
        "profile",
        "profiles",
        "mcp_servers",
        "agent",
        "agents",
    ),
    *(f"sandbox_workspace_write.{one}" for one in ("writable_roots", "network_access")),
    *(f"sandbox_workspace_write.exclude_{one}" for one in ("tmpdir_env_var", "slash_tmp")),
    *(f"shell_environment_policy.{one}" for one in ("inherit", "ignore_default_excludes", "exclude", "set")),
    "shell_environment_policy.include_only",
    *("model_reasoning_effort", "model_reasoning_summary"),
    *("disable_response_storage", "show_raw_agent_reasoning"),
    *("hide_agent_reasoning", "notify", "project_doc_max_bytes", "experimental_instructions_file"),
    *(
        "greenroom.search",
        "greenroom.prices",
        "greenroom.budget.repetitions",
        "greenroom.skills",
        "greenroom.disabled_tools",
        "tools.web_search",
        "tools.view_image",
        "greenroom.compact_at_percent",
        "greenroom.windows",
        "greenroom.drain_seconds",
        "greenroom.approval_deadline_seconds",
        "greenroom.approval_default",
    ),
    *(
        f"greenroom.budget.{scope}.{unit}"
        for scope in ("turn", "conversation", "day", "home")
        for unit in ("requests", "tool_calls", "minutes", "tokens", "usd")
    ),
    *(f"greenroom.limits.{one}" for one in ("requests_in_flight", "subscriptions", "command_timeout_ms")),
    *(f"greenroom.limits.{one}" for one in ("command_timeout_most_ms", "jobs", "job_output_bytes")),
    *(f"greenroom.limits.{one}" for one in ("command_output_bytes", "model_output_bytes", "model_output_lines")),
    *(f"greenroom.limits.{one}" for one in ("command_bytes", "request_bytes", "picture_bytes", "settings_bytes")),
    *(
        f"greenroom.limits.{one}"
        for one in ("read_lines", "read_bytes", "list_entries", "search_seconds", "skills_bytes", "agent_seed_bytes")
    ),
    *(f"greenroom.limits.{one}" for one in ("agents", "agent_idle_seconds", "agent_turn_bytes", "import_bytes")),
    *(f"greenroom.limits.patch_{one}" for one in ("bytes", "files", "lines", "compared_lines", "event_bytes")),
    *("include_plan_tool", "include_apply_patch_tool", "greenroom.sandbox.unix_sockets"),
    *(f"greenroom.retention.max_{one}" for one in ("age_days", "events", "conversations")),
    *(f"greenroom.mcp.{one}" for one in ("tools", "twin_notifications", "answer_cancelled", "stream_meta")),
    *(f"greenroom.mcp.{one}" for one in ("progress_seconds", "max_sandbox", "allow_provider_overrides")),
    *(f"greenroom.mcp.{one}" for one in ("on_caller_gone", "caller_gone_seconds")),
    *(f"greenroom.acp.{one}" for one in ("if_busy", "load_bytes")),
}


def test_of_each_key_it_is_known_whether_a_running_daemon_takes_it_up() -> None:
    every = {".".join(path) for path in keys(Config)}
    later = {".".join(map(str, path)) for path in AT_THE_NEXT_START}
    assert later <= every
    assert every - later == LIVE & every
    assert not later & LIVE


@pytest.mark.parametrize(("path", "live"), [(("greenroom", "limits", "connections"), False), (("model",), True)])
def test_a_key_that_was_set_at_the_start_says_so(path: tuple[str, ...], live: bool) -> None:
    assert is_live(path) is live
