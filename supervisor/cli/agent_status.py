"""The lines of `greenroom status ID` about an agent: its own report of itself, and the settings it brings."""

import os
from typing import TYPE_CHECKING

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit.client import Json
from supervisor.cli.kit.conversation_rows import home
from supervisor.cli.kit.formatting import one_line

if TYPE_CHECKING:
    from transports.supervisor_answers import InheritedThing

INDENT = f"\n{' ' * 12}"
CATEGORIES_WITH_OWN_LINES = ("model", "mode")


def agent_lines(found: Json) -> dict[str, str]:
    """The lines by their titles; an empty text makes no line."""
    settings, now = found["settings"], found.get("agent_now")
    if not settings["agent"]:
        provider = settings["provider"] or "default provider"
        return {"model": visible(f"{settings['model']} ({provider}), effort {settings['effort']}")}
    return {
        "agent": visible(" ".join([settings["agent"], *_program(now)])),
        **(_session_lines(now) if now else {}),
        "model": visible(_model(settings, now)),
        "brings": INDENT.join(
            visible(f"{thing.what} ({home(thing.where)})") for thing in inherited_by_agent(settings)
        ),
    }


def inherited_by_agent(settings: Json) -> "tuple[InheritedThing, ...]":
    """The settings, servers and the like that an agent has by itself, found by this terminal's variables."""
    from pathlib import Path  # slow to import

    from supervisor.config.inherited_things import find_inherited

    return find_inherited(settings["agent"], os.environ, Path(settings["cwd"]))


def variables(settings: Json) -> list[str]:
    """The names of the variables that an agent gets from this terminal and from its table; never a value."""
    from actors.vocabulary.errors import ConfigError
    from supervisor.config.agent_definitions import definition_of
    from supervisor.config.command_environment import Keys, agent_environment
    from supervisor.config.load import load
    from supervisor.logs.setup import silence

    silence()
    try:
        config = load(environ=os.environ).with_overrides(settings.get("overrides") or {}).config
        definition = definition_of(settings["agent"], config, os.environ)
    except ConfigError:
        return []  # `greenroom agents NAME` says what is wrong
    keys = Keys.from_config(config, os.environ)
    given = agent_environment(os.environ, config.shell_environment_policy, keys, definition.variables)
    return sorted({*given, *definition.env})


def _program(now: Json | None) -> list[str]:
    return [f"({now['program']})"] if now and now["program"] else []


def _session_lines(now: Json) -> dict[str, str]:
    rest = (option for option in now["options"] if option["category"] not in CATEGORIES_WITH_OWN_LINES)
    return {
        "its session": visible(f"{now['session'] or '-'}{now['how'] and ', ' + now['how']}"),
        "note": one_line(now["note"]),
        "can": visible(", ".join(now["can"])),
        "mode": visible(now["mode"]),
        "options": visible(", ".join(f"{option['id']}={option['value']}" for option in rest)),
    }


def _model(settings: Json, now: Json | None) -> str:
    """The chosen model, and the session's model where that differs."""
    named, actual = settings["agent_model"], now["model"] if now else ""
    if named and actual and named != actual:
        return f"{named}, {actual} in its session so far"
    return named or actual or "the agent's own choice"
