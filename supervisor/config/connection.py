"""Settings of one connection, from `greenroom mcp -c greenroom.mcp.KEY=…`; all others are the daemon's. Pure."""

from collections.abc import Mapping
from typing import Any

from actors.vocabulary.errors import ConfigError
from supervisor.config.complain import problems
from supervisor.config.overrides import Tree
from supervisor.config.own import Mcp

OF_A_CONNECTION = (
    *("tools", "twin_notifications", "answer_cancelled", "stream_meta", "progress_seconds"),
    *("on_caller_gone", "caller_gone_seconds"),
)


def connection_settings(overrides: Tree) -> Mapping[str, Any]:
    """The settings of one connection in these overrides. A key that would have no effect is refused."""
    ours = overrides.get("greenroom")
    if ours is None:
        return {}
    wrong = problems({"greenroom": ours})
    if wrong:
        raise ConfigError(f"{'.'.join(map(str, wrong[0].path))}: {wrong[0].text}")
    found = ours.get("mcp", {}) if isinstance(ours, Mapping) else {}
    others = [f"greenroom.{name}" for name in ours if name != "mcp"] if isinstance(ours, Mapping) else []
    others += [f"greenroom.mcp.{name}" for name in found if name not in OF_A_CONNECTION]
    if others:
        raise ConfigError(
            f"{others[0]} belongs to the daemon, not to one connection: write it into the config file, or give it to "
            f"`greenroom up -c`; a connection can set {', '.join(OF_A_CONNECTION)} of greenroom.mcp"
        )
    return dict(found)


def with_connection(mcp: Mcp, said: object) -> Mcp:
    """The settings of the config, with those of this connection over them."""
    if not isinstance(said, Mapping) or not said:
        return mcp
    settings = connection_settings({"greenroom": {"mcp": said}})
    return Mcp.model_validate({**mcp.model_dump(), **settings})
