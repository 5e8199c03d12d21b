"""`greenroom doctor`: what people trip over, looked at one by one; each is ok, or says what to do.

Works without a daemon, which is when it is needed most. Reads, and changes nothing.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import NamedTuple

from supervisor.cli import examination, exits
from supervisor.cli.client import Control
from supervisor.cli.problems import Problem
from supervisor.cli.terminal import Paint
from supervisor.cli.written import json_text


class Finding(NamedTuple):
    """`advice` is empty where all is well; `broken` tells a fault from a hint."""

    what: str
    told: str
    advice: str = ""
    broken: bool = False


class Patient(NamedTuple):
    """What there is to examine. `control` is None where no daemon answers; `silence` says why.

    `barred`: nobody was asked, because the way to the socket is not to be trusted.
    """

    environ: dict[str, str]
    control: Control | None
    silence: str
    barred: bool = False


def run(chosen: Namespace) -> int:
    findings = list(_findings())
    if chosen.json:
        print(json_text([finding._asdict() for finding in findings]))
    else:
        _print(findings)
    return exits.FAILED if any(finding.broken for finding in findings) else exits.OK


def _findings() -> Iterator[Finding]:
    patient = _reach()
    for what, check in examination.CHECKS.items():
        try:
            for found in check(patient):
                yield Finding(what, found) if isinstance(found, str) else Finding(what, *found)
        except Problem as problem:
            yield Finding(what, problem.message, problem.advice or "see the daemon's log", broken=True)
        except Exception as error:  # noqa: BLE001  # a doctor that dies of a finding helps nobody
            yield Finding(what, f"the check failed: {error}", "please report this as a bug", broken=True)
    if patient.control is not None:
        patient.control.close()


def _reach() -> Patient:
    environ = dict(os.environ)
    try:
        return Patient(environ, Control("doctor", timeout_s=3.0), "")
    except Problem as problem:
        return Patient(environ, None, problem.message, problem.code == "not_allowed")


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
