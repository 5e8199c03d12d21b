"""New values for settings: `greenroom set`, and the same settings as options of `send` and `fork`."""

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.visible_text import visible
from greenroom.methods import NewValues
from supervisor.cli.kit import ids
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.formatting import NOTHING, setting_change
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.problems import Problem
from supervisor.cli.verbs.options import APPROVALS, EFFORTS, SANDBOXES

# Each setting: its key, its meaning, and its values where they are few.
SETTINGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "model": ("the model", ()),
    "provider": ("the model provider", ()),
    "profile": ("a profile of the config, whose values are taken", ()),
    "effort": ("how hard a reasoning model thinks", EFFORTS),
    "approval": ("when to ask for an approval", APPROVALS),
    "sandbox": ("what commands may read and write", SANDBOXES),
    "writable_roots": ("further directories that may be written, with colons between them", ()),
    "agent": ("the agent that carries out turns", ()),
    "name": ("the name of the conversation", ()),
}
API_KEYS = {"approval": "approval_policy"}
CONFIG_KEYS = {"approval_policy": "approval", "sandbox_mode": "sandbox", "reasoning_effort": "effort"}
OPTIONS = tuple(key for key in SETTINGS if key != "name")
OWN_AGENT = "greenroom"


def run(chosen: Namespace) -> int:
    values = _values(chosen.settings)
    params: Json = {"name": ids.check_name(values["name"]) if values["name"] else None} if "name" in values else {}
    given = ((key, value) for key, value in values.items() if key != "name")
    with Control("set", environment=True) as control:
        done = ids.about(control, chosen.conversation, control.change, **api_settings(given), **params)
    if chosen.json:
        print(json_text(vars(done)))
        return 0
    lines = [setting_change(change) for change in done.changed]
    lines += [f"name: {visible(done.name) if done.name else NOTHING}"] if params else []
    print("\n".join(lines) or "nothing changed: it is so already")
    if lines and done.turn:
        print("the running turn goes on with it")
    return 0


def _values(words: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for key, value in map(_pair, words):
        if key in values:
            raise Problem(f"{key} is named twice", "leave one of them out", "usage")
        values[key] = value
    return values


def _pair(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals:
        raise Problem(f"{word!r} is not a setting", "write KEY=VALUE, or KEY= for what the config says", "usage")
    if key not in SETTINGS:
        raise Problem(f"there is no setting {key!r}", _instead_of(key), "usage")
    choices = SETTINGS[key][1]
    if value and choices and value not in choices:
        raise Problem(f"{key} can't be {value!r}", f"it is one of {', '.join(choices)}", "usage")
    return key, value


def _instead_of(key: str) -> str:
    """Suggest the setting that has this name in the config, or list all settings."""
    short = key.lower().removeprefix("model_")
    meant = CONFIG_KEYS.get(short, short)
    return f"did you mean {meant}?" if meant in SETTINGS else f"the settings are {', '.join(SETTINGS)}"


def settings_of_options(chosen: Namespace) -> NewValues:
    """The settings that the options of `send` or `fork` name."""
    said = ((key, getattr(chosen, key)) for key in OPTIONS)
    return api_settings((key, value) for key, value in said if value is not None)


def api_settings(values: Iterable[tuple[str, str]]) -> NewValues:
    return cast("NewValues", {API_KEYS.get(key, key): _value(key, value) for key, value in values})


def _value(key: str, value: str) -> str | Sequence[str] | None:
    """The value; if it is empty None, for the value of the config. A colon alone means no directories."""
    if key == "writable_roots" and value:
        return [os.path.expanduser(name) for name in value.split(os.pathsep) if name]  # noqa: PTH111  # pathlib is slow to import
    return value or None


def agents() -> Iterator[tuple[str, str]]:
    """The agents that can be named: our own, those of the config, the known ones."""
    from supervisor.work.reach.known_agents import KNOWN_AGENTS

    known = {name: agent.title for name, agent in KNOWN_AGENTS.items()}
    named = {OWN_AGENT: "Greenroom's own", **dict.fromkeys(_configured_agents(), "of the config")}
    yield from {**named, **known}.items()


def _configured_agents() -> list[str]:
    """The names of the config's tables, without the checks of a daemon's start; none if it can't be read."""
    import tomllib

    from supervisor.paths import config_files

    for path in config_files():
        try:
            with open(path, "rb") as file:  # noqa: PTH123  # pathlib is slow to import
                tables = tomllib.load(file).get("agents")
        except FileNotFoundError:
            continue
        except (OSError, ValueError, GreenroomError):
            return []
        return [name for name in tables if name.isprintable()] if isinstance(tables, dict) else []
    return []


def candidates(last: str) -> Iterator[tuple[str, str]]:
    """Complete a key, or the value after it."""
    key, equals, _ = last.partition("=")
    if not equals:
        yield from ((f"{name}=", meaning) for name, (meaning, _) in SETTINGS.items())
    elif key == "agent":
        yield from ((f"agent={name}", meaning) for name, meaning in agents())
    elif key in SETTINGS:
        yield from ((f"{key}={choice}", "") for choice in SETTINGS[key][1])
