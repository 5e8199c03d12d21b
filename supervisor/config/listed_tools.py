"""The tools that `tools/list` shows, for a bridge that answers before a daemon has read the config.

Standard library alone: the config as a whole is not judged here. What is not plain is left to the daemon.
"""

# ruff: noqa: PTH123 # pathlib alone takes a third of the time that the bridge may take

from __future__ import annotations

from supervisor.paths import UnsafePath, config_files
from transports.dialects.mcp.introduction import LISTED

TYPE_CHECKING = False  # loading typing costs more than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def listed_tools(settings: Mapping[str, object], environ: Mapping[str, str]) -> Sequence[str] | None:
    """The tools of the connection's own settings, else of the config; None if only the daemon can tell."""
    if "tools" in settings:
        return _names(settings["tools"])
    try:
        for path in config_files(environ):
            data = _content(path)
            if data is not None:
                return _of_file(data)
    except (OSError, UnsafePath):
        return None
    return LISTED  # a file of Codex's has no say in this


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _of_file(data: bytes) -> Sequence[str] | None:
    """Parse only a file that may have the key; it could also be spelt with escapes."""
    if b"tools" not in data and b"\\" not in data:
        return LISTED
    import tomllib

    try:
        found = tomllib.loads(data.decode("utf-8-sig"))
        for name in ("greenroom", "mcp"):
            found = found.get(name, {})
        return _names(found.get("tools", LISTED))
    except (ValueError, AttributeError, RecursionError):
        return None


def _names(found: object) -> Sequence[str] | None:
    return found if isinstance(found, list | tuple) and all(isinstance(name, str) for name in found) else None
