"""What `greenroom` runs first: an editor's bridge at once, everything else by the full command line."""

import sys


def main() -> int:
    if sys.argv[1:2] == ["mcp"] and not {"-h", "--help"} & set(sys.argv[2:]):
        from supervisor.cli.mcp import main as bridge

        return bridge(sys.argv[2:])
    from supervisor.cli.main import main as everything

    return everything()
