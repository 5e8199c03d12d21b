"""`greenroom doctor`: check the installation; each check passes or gives advice.

Works without a daemon, which is when it is needed most. Changes nothing.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import NamedTuple

from supervisor.cli import checks
from supervisor.cli.kit import exits
from supervisor.cli.kit.client import Control
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.terminal import Paint


class Finding(NamedTuple):
    """The result of a check. `advice` is empty if all is well; `broken` tells a fault from a hint."""

    what: str
    told: str
    advice: str = ""
    broken: bool = False


class Installation(NamedTuple):
    """The installation to check. `control` is None if no daemon answers, and `silence` says why.

    `barred`: the daemon was not asked, because the path to its socket can't be trusted.
    """

    environ: dict[str, str]
    control: Control | None
    silence: str
    path_untrusted: bool = False


def run(chosen: Namespace) -> int:
    findings = list(_findings())
    if chosen.json:
        print(json_text([finding._asdict() for finding in findings]))
    else:
        _print(findings)
    return exits.FAILED if any(finding.broken for finding in findings) else exits.OK


def _findings() -> Iterator[Finding]:
    installation = _reach()
    for what, check in checks.CHECKS.items():
        try:
            for found in check(installation):
                yield Finding(what, found) if isinstance(found, str) else Finding(what, *found)
        except Problem as problem:
            yield Finding(what, problem.message, problem.advice or "see the daemon's log", broken=True)
        except Exception as error:  # noqa: BLE001  # a check that fails must not end the others
            yield Finding(what, f"the check failed: {error}", "please report this as a bug", broken=True)
    if installation.control is not None:
        installation.control.close()


def _reach() -> Installation:
    environ = dict(os.environ)
    try:
        return Installation(environ, Control("doctor", timeout_s=3.0), "")
    except Problem as problem:
        return Installation(environ, None, problem.message, problem.code == "not_allowed")


def _print(findings: list[Finding]) -> None:
    paint = Paint(sys.stdout)
    for finding in findings:
        mark = (
            paint("ok  ", "green")
            if not finding.advice
            else paint("BAD " if finding.broken else "hint", "red" if finding.broken else "yellow")
        )
        print(f"{mark} {finding.what:10} {finding.told}")
        if finding.advice:
            print(f"{'':16}{paint('→', 'bold')} {finding.advice}")
