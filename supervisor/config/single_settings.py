"""Single settings of our config file, for a bridge that answers before a daemon has read the file.

Standard library alone: the config as a whole is not checked here. Anything unclear is left to the daemon.
"""

# ruff: noqa: PTH123 # pathlib alone takes a third of the time that the bridge may take

from __future__ import annotations

from supervisor.paths import UnsafePath, config_files

TYPE_CHECKING = False  # loading typing costs more than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Unclear(Exception):
    """The setting can't be read here; only the daemon can tell."""


def listed_tools(own: Mapping[str, object], environ: Mapping[str, str], usual: Sequence[str]) -> Sequence[str] | None:
    """The tools of the connection's own settings, else of the config, else the usual; None: ask the daemon."""
    try:
        found = own["tools"] if "tools" in own else _tools(environ)
    except Unclear:
        return None
    if found is None:
        return usual
    return found if isinstance(found, list | tuple) and all(isinstance(name, str) for name in found) else None


def _tools(environ: Mapping[str, str]) -> object:
    """`greenroom.mcp.tools` in our own file; None if it is not set. Codex's file does not count."""
    try:
        for path in config_files(environ):
            data = _content(path)
            if data is not None:
                return _of_file(data, ("greenroom", "mcp", "tools"))
    except (OSError, UnsafePath) as error:
        raise Unclear from error
    return None


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _of_file(data: bytes, path: Sequence[str]) -> object:
    """The value in a file, which is parsed only if it may have the key. A key may be spelt with escapes, too."""
    if path[-1].encode() not in data and b"\\" not in data:
        return None
    import tomllib

    try:
        found: object = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unclear from error
    for name in path:
        if not isinstance(found, dict):
            raise Unclear
        found = found.get(name, {})
    return None if found == {} else found
