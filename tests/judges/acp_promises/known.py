"""The agents that are tried, each alone and behind Greenroom, and homes in which any of them finds the model."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.judges.acp_promises.candidate import Candidate
from tests.judges.agents.programs import PROGRAMS, AgentProgram

ROOT = Path(__file__).resolve().parents[3]
GREENROOM = (sys.executable, "-P", "-m", "supervisor.cli.app", "acp")
Prepare = Callable[[Path, str], None]
OWN = "greenroom"  # our own agent
MODES_ALONE = {"codex": "read-only"}  # in the one that it begins in, a model of its own is asked instead of a person
OWN_CONFIG = """approval_policy = "untrusted"
model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
base_url = "{address}/v1"
wire_api = "chat"
request_max_retries = 0
stream_max_retries = 0
"""


def _alone(program: AgentProgram) -> Candidate:
    argv = tuple(str(word) for word in program.argv)
    asks = "outside" if program.name.startswith("codex") else "run"  # its own sandbox lets the rest through unasked
    return Candidate(program.name, argv, program.env, program.prepare, asks, MODES_ALONE.get(program.name, ""))


def _behind(program: AgentProgram) -> Candidate:
    def prepare(home: Path, address: str) -> None:
        program.prepare(home, address)
        table = {
            "command": str(program.argv[0]),
            "args": [str(word) for word in program.argv[1:]],
            "env": program.variables(home, address),
            "writable": [str(home)] if program.name == "codex-zed" else [],
        }
        lines = "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())
        chosen = f'agent = "{program.name}"\nsandbox_mode = "{program.sandbox}"\n'
        _config(home, f"{chosen}[agents.{program.name}]\n{lines}")

    return _greenroom(program.name, prepare, program.asks)


def _greenroom(name: str, prepare: Prepare, asks: str = "run") -> Candidate:
    env = {"GREENROOM_HOME": "{home}/greenroom", "PYTHONPATH": str(ROOT)}
    return Candidate(name, GREENROOM, env, prepare, asks, service="-m supervisor --")


def _own(home: Path, address: str) -> None:
    _config(home, OWN_CONFIG.format(address=address))


def _config(home: Path, text: str) -> None:
    (home / "greenroom").mkdir(mode=0o700)
    (home / "greenroom" / "config.toml").write_text(text, encoding="utf-8")


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {json.dumps(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)


def any_agent(argv: Sequence[str], asks: str, mode: str, service: str) -> Candidate:
    """An agent of which only the command line is known: it finds the settings of all that are known."""
    env = {name: value for program in PROGRAMS for name, value in program.env.items()}

    def prepare(home: Path, address: str) -> None:
        for program in PROGRAMS:
            program.prepare(home, address)

    return Candidate(argv[0], tuple(argv), env, prepare, asks, mode, service)


KNOWN = {program.name: _alone(program) for program in PROGRAMS}
BEHIND = {**{program.name: _behind(program) for program in PROGRAMS}, OWN: _greenroom(OWN, _own)}
