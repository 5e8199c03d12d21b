"""An engine whose conversations are carried out by the scripted agent."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from actors.vocabulary.settings import ApprovalPolicy
from tests.support import acp_agent
from tests.support.engine_harness import EngineHarness, Talk

PROGRAM = Path(acp_agent.__file__)
NAME = "scripted"


def agent_table(*options: str, name: str = NAME, table: str = "") -> str:
    """The lines of a config that define the scripted agent, outside of any sandbox."""
    args = ", ".join(f'"{one}"' for one in (str(PROGRAM), *(f"--{option}" for option in options)))
    return f'[agents.{name}]\ncommand = "{sys.executable}"\nargs = [{args}]\nconfine = "none"\n{table}\n'


@contextmanager
def scripted(
    home: Path,
    *options: str,
    greenroom: str = "",
    limits: str = "",
    table: str = "",
    environ: dict[str, str] | None = None,
) -> Iterator[EngineHarness]:
    ours = f"[greenroom]\ninterrupt_grace_ms = 150\n{greenroom}\n[greenroom.limits]\n{limits}\n"
    with EngineHarness(home, ours + agent_table(*options, table=table), environ) as harness:
        yield harness


def talk_with(harness: EngineHarness, agent: str = NAME, **settings: Any) -> Talk:
    """A conversation with it, in which what it asks for is asked."""
    return harness.talk(agent=agent, **{"approval_policy": ApprovalPolicy.ON_REQUEST, **settings})
