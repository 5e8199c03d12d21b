"""`greenroom mcp`: MCP over stdio, for editors. Standard library only, as every bridge."""

from __future__ import annotations

import os
import sys

from supervisor.cli import bridge_verb
from supervisor.config.single_settings import listed_tools
from supervisor.version import VERSION
from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS
from transports.dialects.mcp.protocol.offline_answers import OfflineAnswers
from transports.dialects.mcp.protocol.replay import McpReplay

TYPE_CHECKING = False  # loading typing costs more than everything else here
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def verb() -> bridge_verb.BridgeVerb:
    return bridge_verb.BridgeVerb("mcp", "mcp", _replay, {"serve": run})  # Codex had `mcp serve` for a time


def _replay(said: bridge_verb.HelloChoices) -> McpReplay:
    settings = said["settings"]
    return McpReplay(OfflineAnswers(VERSION, lambda: listed_tools(settings, os.environ, LISTED_TOOLS)))


def main(arguments: Sequence[str]) -> int:
    return bridge_verb.main(verb(), arguments)


def run(chosen: argparse.Namespace) -> int:
    return bridge_verb.run(verb(), chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
