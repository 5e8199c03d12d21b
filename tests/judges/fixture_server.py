"""`greenroom mcp`: the real bridge, to a daemon that has the fixture tools besides. In a home of its own only."""

import sys

from supervisor.cli import bridge_verb
from supervisor.daemon import launch
from transports.dialects.mcp.protocol.replay import McpReplay

if __name__ == "__main__":
    launch.PROGRAM = ("-P", "-m", "tests.judges.fixture_daemon")
    without_a_table = bridge_verb.BridgeVerb(
        "mcp", "mcp", lambda _: McpReplay(), {}
    )  # it would have our own tools alone
    sys.exit(bridge_verb.main(without_a_table, sys.argv[1:]))
