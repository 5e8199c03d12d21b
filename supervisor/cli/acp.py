"""`greenroom acp`: ACP over stdio, for editors. Standard library only, as every bridge."""

from __future__ import annotations

import sys

from supervisor.cli import bridge_verb
from supervisor.version import VERSION
from transports.dialects.acp.replay import AcpReplay

TYPE_CHECKING = False  # loading typing costs more than everything else here
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

LOGIN = "login"  # the word that an editor adds after our arguments to have a person log in


def verb() -> bridge_verb.BridgeVerb:
    return bridge_verb.BridgeVerb("acp", "acp", lambda _: AcpReplay(VERSION), {LOGIN: _log_in})


def _log_in(chosen: argparse.Namespace) -> int:
    from supervisor.cli.app import main as everything

    return everything([LOGIN, *([chosen.agent] if chosen.agent else [])])


def main(arguments: Sequence[str]) -> int:
    return bridge_verb.main(verb(), arguments)


def run(chosen: argparse.Namespace) -> int:
    return bridge_verb.run(verb(), chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
