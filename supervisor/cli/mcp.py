"""`greenroom mcp`: MCP over stdio, for editors. Standard library only, as every bridge."""

from __future__ import annotations

import sys

from supervisor.cli import bridging
from transports.dialects.mcp.replay import McpReplay

TYPE_CHECKING = False  # loading typing costs more than everything else here
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

DIALECT = "mcp"


def verb() -> bridging.BridgeVerb:
    return bridging.BridgeVerb(
        "mcp", DIALECT, lambda _, __: McpReplay(), {"serve": run}
    )  # Codex had `mcp serve` for a time


def main(arguments: Sequence[str]) -> int:
    return bridging.main(verb(), arguments)


def run(chosen: argparse.Namespace) -> int:
    return bridging.run(verb(), chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
