"""The settings that one connection may have of its own, from `greenroom mcp -c greenroom.mcp.KEY=…`. Pure.

The same for `greenroom acp` and its table. All other keys are the daemon's.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from actors.vocabulary.errors import ConfigError
from supervisor.config.config_problems import problems
from supervisor.config.greenroom_table import Acp, Mcp
from supervisor.config.overrides import Tree

OF_A_CONNECTION: Mapping[str, tuple[str, ...]] = {
    "mcp": (
        *("tools", "twin_notifications", "answer_cancelled", "stream_meta", "progress_seconds"),
        *("on_caller_gone", "caller_gone_seconds"),
    ),
    "acp": ("if_busy", "load_bytes"),
}
Door = TypeVar("Door", Mcp, Acp)


def connection_settings(overrides: Tree, door: str = "mcp") -> Mapping[str, Any]:
    """The settings of one connection in these overrides. A key that would have no effect is refused."""
    ours = overrides.get("greenroom")
    if ours is None:
        return {}
    wrong = problems({"greenroom": ours})
    if wrong:
        raise ConfigError(f"{'.'.join(map(str, wrong[0].path))}: {wrong[0].text}")
    found = ours.get(door, {}) if isinstance(ours, Mapping) else {}
    others = [f"greenroom.{name}" for name in ours if name != door] if isinstance(ours, Mapping) else []
    others += [f"greenroom.{door}.{name}" for name in found if name not in OF_A_CONNECTION[door]]
    if others:
        raise ConfigError(
            f"{others[0]} belongs to the daemon, not to one connection: write it into the config file, or give it to "
            f"`greenroom up -c`; a connection can set {', '.join(OF_A_CONNECTION[door])} of greenroom.{door}"
        )
    return dict(found)


def with_connection(table: Door, own: object, door: str = "mcp") -> Door:
    """The settings of the config, with those of this connection over them."""
    if not isinstance(own, Mapping) or not own:
        return table
    settings = connection_settings({"greenroom": {door: own}}, door)
    return type(table).model_validate({**table.model_dump(), **settings})
