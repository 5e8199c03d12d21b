"""Settings under the names that people use, and the difference between two of them, in words. A leaf."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from actors.vocabulary.brief import brief_line
from actors.vocabulary.settings import SettingChange, Settings

OWN_AGENT = "greenroom"  # the name of our own agent, which settings call ""
VALUE_LENGTH = 200  # characters of a value; more does not fit into a line

INSIDE_SANDBOX = ("writable_roots", "network_access", "exclude_tmpdir_env_var", "exclude_slash_tmp", "unix_sockets")


def _sandbox_setting(name: str) -> Callable[[Settings], object]:
    return lambda settings: getattr(settings.sandbox, name, None)


def _setting(field: str) -> Callable[[Settings], object]:
    return lambda settings: getattr(settings, field)


def model_of(settings: Settings) -> str:
    """Return the model as people call it; empty: a third-party agent chooses its own."""
    return settings.agent_model if settings.agent else settings.model


# In the order in which they are shown. Pins are left out: they say where a directory is, not which one is meant.
SETTING_READERS: Mapping[str, Callable[[Settings], object]] = {
    "agent": lambda settings: settings.agent or OWN_AGENT,
    "provider": _setting("provider"),
    "model": model_of,
    "effort": lambda settings: settings.agent_effort or settings.effort,
    "summary": _setting("summary"),
    "approval": _setting("approval_policy"),
    "sandbox": lambda settings: settings.sandbox.mode,
    **{name: _sandbox_setting(name) for name in INSIDE_SANDBOX},
    "cwd": _setting("cwd"),
    "base_instructions": _setting("base_instructions"),
    "developer_instructions": _setting("developer_instructions"),
    "include_plan_tool": _setting("include_plan_tool"),
    "include_apply_patch_tool": _setting("include_apply_patch_tool"),
    "overrides": _setting("overrides"),
}
FIELDS: Mapping[str, str] = {"approval": "approval_policy", **dict.fromkeys(INSIDE_SANDBOX, "sandbox")}
AGENT_FIELDS = frozenset({"model", "agent_model", "agent_effort"})  # fields that mean nothing to another agent
FIELDS_TWICE = ("model", "effort")  # settings with a second field for third-party agents


def changes(before: Settings, after: Settings) -> Iterator[SettingChange]:
    for name, read in SETTING_READERS.items():
        was, now = _words(read(before)), _words(read(after))
        if was != now:
            yield SettingChange(name=name, before=brief_line(was, VALUE_LENGTH), after=brief_line(now, VALUE_LENGTH))


def fields_of(changed: Iterable[SettingChange]) -> frozenset[str]:
    """Return the fields of Settings that these changes are about."""
    named = frozenset(FIELDS.get(change.name, change.name) for change in changed)
    return named | {f"agent_{name}" for name in named.intersection(FIELDS_TWICE)}


def _words(value: object) -> str:
    match value:
        case None | False:
            return ""
        case True:
            return "on"
        case tuple():
            return ":".join(map(str, value))
        case dict():
            return json.dumps(value, sort_keys=True) if value else ""
        case _:
            return str(value)
