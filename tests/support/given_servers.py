"""MCP servers as clients give them to conversations of an engine in this process."""

import sys
from pathlib import Path

from tests.support import scripted_mcp_server
from tests.support.engine_harness import EngineHarness, Talk
from transports.supervisor_requests import GivenServer

SCRIPTED = str(Path(scripted_mcp_server.__file__))
SECRET = "s3cret-of-a-server"


def program(name: str = "toys", *modes: str, **env: str) -> GivenServer:
    """Return the scripted server as a client gives it."""
    return GivenServer(name, command=(sys.executable, SCRIPTED, *modes), env=env)


def give(harness: EngineHarness, talk: Talk, *servers: GivenServer) -> None:
    harness.engine.loop.loop.call_soon_threadsafe(harness.engine.client_servers.give, talk.conversation, servers)


def files_with(folder: Path, text: str) -> list[Path]:
    """Return the files below a folder that hold a text."""
    return [one for one in folder.rglob("*") if one.is_file() and text.encode() in one.read_bytes()]
