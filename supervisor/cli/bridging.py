"""`greenroom mcp`: hands its options to the bridge, as plain values."""

from argparse import Namespace

from supervisor.cli.arguments import pairs


def run(chosen: Namespace) -> int:
    from supervisor.cli import mcp

    given = {
        "cwd": chosen.cwd,
        "model": chosen.model,
        "profile": chosen.profile,
        "sandbox": chosen.sandbox,
        "approval_policy": chosen.approval,
        "config": pairs(chosen.config),
        "embedded": chosen.embedded,
    }
    options: dict[str, object] = {name: value for name, value in given.items() if value}
    return mcp.run(options)
